"""Code lenses of enhance loops, on the first line of a workflow: the switch, the counter, what may be chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loop_ls.features.answers import Action, ActionKind, Command, Lens, ShownRun
from loop_ls.features.lenses.decisions import decisions
from loop_ls.features.lenses.open_run import with_look
from loop_ls.features.runs.enhance_rounds import Rounds, ended_in_rounds, progress_in_words
from loop_ls.features.runs.outcome_texts import ENDED
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position, Span

_FIRST = Span(Position(0, 0), Position(0, 0))


def rounds_lenses(workspace: Workspace, document: Document, run: ShownRun | None) -> Iterator[Lens]:
    """`run` is the newest run of the whole workflow in rounds, if there is one."""
    if run is not None and run.rounds is not None and run.status not in ENDED:
        yield from with_look(_going(document, run, run.rounds), _FIRST, run)
        return
    key = workspace.key(document)
    switch = [_switch(document, on=key in workspace.settings.enhanced)] if key is not None else []
    if run is None or run.rounds is None:
        yield from switch
        return
    ended = (Lens(_FIRST, ended_in_rounds(run.rounds)), _timeline(document, "Timeline"))
    yield from with_look((*switch, *ended), _FIRST, run)


def preview(document: Document, runs: Sequence[ShownRun]) -> tuple[Action, ...]:
    """As an action: what the loop would change that waits for somebody to look at it."""
    if not any(run.rounds is not None and run.rounds.phase == "awaiting_user" for run in runs):
        return ()
    command = _timeline(document, "").command
    return (Action("Show what the enhance loop would change", ActionKind.PREVIEW, command=command),)


def _switch(document: Document, on: bool) -> Lens:
    command = Command("loopLs.enhance.enable", {"uri": document.uri, "enabled": not on})
    return Lens(_FIRST, f"Enhance: {'on' if on else 'off'}", command)


def _going(document: Document, run: ShownRun, rounds: Rounds) -> Iterator[Lens]:
    """Controls first: they stay where they are while the text beside them grows."""
    for title, command in decisions(run):
        yield Lens(_FIRST, title, command)
    match rounds.phase:
        case "awaiting_user":
            if not rounds.rejected:
                yield _choice(document, "▶ Continue to next round", "continue")
            yield _timeline(document, "Show changes")
            yield _choice(document, "Run without changes", "skipEdits")
        case "conflict":
            if not rounds.rejected:
                yield _choice(document, "▶ Try again", "continue")
            yield _choice(document, "Run without changes", "skipEdits")
        case _ if run.status in ("interrupted", "paused"):
            yield Lens(_FIRST, "▶ Resume", Command("loopLs.resume", {"runId": run.run_id}))
        case _:
            pass
    if run.status != "stopping":
        yield _choice(document, "⏹ Stop", "stop")
    said = {"stopping": "stopping… · ", "paused": "" if rounds.phase == "awaiting_user" else "paused · "}
    yield Lens(_FIRST, f"{said.get(run.status, '')}{progress_in_words(rounds)}")


def _choice(document: Document, title: str, verb: str) -> Lens:
    return Lens(_FIRST, title, Command(f"loopLs.enhance.{verb}", {"uri": document.uri}))


def _timeline(document: Document, title: str) -> Lens:
    return Lens(_FIRST, title, Command("loopLs.enhance.timeline", {"uri": document.uri, "show": True}))
