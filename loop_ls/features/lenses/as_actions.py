"""What lenses do, as code actions: for editors that draw no lenses, so that every one can run and answer loops.

Offered are the commands of the nearest line with lenses at or above the cursor; what a run asks of a person is
offered everywhere in its file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loop_ls.features.answers import Action, ActionKind, Command, Lens
from loop_ls.text.position import Position

#: Commands that answer a question: nobody should have to look for the line that it stands on.
_ANSWERS = ("loopLs.approve", "loopLs.enhance.continue", "loopLs.enhance.skipEdits")


def lens_actions(lenses: Sequence[Lens], cursor: Position) -> Iterator[Action]:
    able = [(lens, lens.command) for lens in lenses if lens.command is not None]
    if not able:
        return
    lines = sorted({lens.span.start.line for lens, _ in able})
    near = max((line for line in lines if line <= cursor.line), default=lines[0])
    for lens, command in able:
        if lens.span.start.line == near or command.name in _ANSWERS:
            yield Action(f"{lens.title}{_named(command)}", ActionKind.RUN, command=command)


def _named(command: Command) -> str:
    """A lens stands above what it is about; in a menu that has to be said."""
    target = command.argument.get("target")
    name = target.get("name") if isinstance(target, dict) else None
    return f" `{name}`" if name else ""
