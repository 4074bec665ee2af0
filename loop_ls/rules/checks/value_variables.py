"""What the value of a check reads: `{{input}}` and the parameters of a run, filled in before anything is compared."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.checks.parts import WrittenCheck
from loop_ls.formats.common.json_types import kind_of
from loop_ls.syntax.nodes import Mapping, Node, Scalar, Sequence, resolved
from loop_ls.syntax.placeholders import Island, islands


def variables_in_value(check: WrittenCheck) -> Iterator[Island]:
    """Each variable where it stands. The words of a command stay as they are written."""
    value = None if check.bare_type == "command" else check.node("value")
    for node in texts_in(value):
        yield from (one for one in islands(check.piece.lines, node) if one.name is not None)


def texts_in(top: Node | None) -> Iterator[Scalar]:
    """Every text in a value."""
    waiting: list[Node | None] = [top]
    while waiting:
        found = resolved(waiting.pop())
        match found:
            case Mapping():
                waiting += [entry.value for entry in found.entries]
            case Sequence():
                waiting += found.items
            case Scalar() if kind_of(found) == "text":
                yield found
            case _:
                continue
