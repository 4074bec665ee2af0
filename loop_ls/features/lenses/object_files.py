"""Code lenses of role loops and assistants: Run above the name, progress and controls while one runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loop_ls.contract.amounts import count, money
from loop_ls.contract.endings import line
from loop_ls.features.answers import Command, Lens, ShownRun
from loop_ls.features.docs.assistant import ceiling, loop_in_words
from loop_ls.features.docs.assistant import most_iterations as most_of_assistant
from loop_ls.features.docs.role_loop import most_iterations
from loop_ls.features.lenses.lenses import after, going
from loop_ls.features.lenses.open_run import with_look
from loop_ls.features.runs.outcome_texts import ENDED, sign, spent
from loop_ls.features.text.humanize import excerpt
from loop_ls.formats.settings.model import Settings
from loop_ls.index.document import Document
from loop_ls.text.position import Span


def role_loop_lenses(
    document: Document, runs: Sequence[ShownRun] = (), settings: Settings | None = None
) -> tuple[Lens, ...]:
    return tuple(_of_definition(document, _own(document, runs), settings or Settings()))


def assistant_lenses(document: Document, runs: Sequence[ShownRun], settings: Settings) -> tuple[Lens, ...]:
    return tuple(_of_assistants(document, _own(document, runs), settings))


def _own(document: Document, runs: Sequence[ShownRun]) -> list[ShownRun]:
    return [run for run in runs if run.uri in ("", document.uri)]


def _of_definition(document: Document, runs: Sequence[ShownRun], settings: Settings) -> Iterator[Lens]:
    loop = document.whole.role_loop
    part = loop.parts.get("name")
    if part is None or not loop.name or not loop.stages:
        return
    span = document.absolute(part.piece, part.entry.key.span)
    run = next((run for run in reversed(runs) if run.kind == "definition"), None)
    target = {"kind": "definition", "name": loop.name}
    most = most_iterations(loop, settings)
    stages = count(len(loop.stages), "stage")
    told = f"{stages} · ≤ {count(most, 'iteration')}" if most is not None else stages
    yield from _of_loop(document, span, target, run, told)


def _of_assistants(document: Document, runs: Sequence[ShownRun], settings: Settings) -> Iterator[Lens]:
    for one in document.whole.assistants:
        name = one.get("name")
        own = [run for run in runs if run.kind == "assistant" and run.name in (one.key, one.name)]
        goes_on = bool(own) and own[-1].status not in ENDED  # it can be stopped, whatever the file says now
        if name is None or not (one.enabled or goes_on):
            continue
        span = document.absolute(name.piece, name.entry.key.span)
        total = ceiling(one, settings)
        told = loop_in_words(one, most_of_assistant(one, settings)) + (
            f" · ≤ {money(total)}" if total is not None else ""
        )
        target = {"kind": "assistant", "name": one.key}
        yield from _of_loop(document, span, target, own[-1] if own else None, told)


def _of_loop(document: Document, span: Span, target: dict[str, str], run: ShownRun | None, told: str) -> Iterator[Lens]:
    """Controls and progress while it runs, the result and Run again after, what it may cost before."""
    if run is not None and run.status not in ENDED:
        yield from going(span, run, progress_of_whole(run))
        return
    title = "▶ Run loop" if run is None else "▶ Run loop again"
    start = Lens(span, title, Command("loopLs.run", {"uri": document.uri, "target": target}))
    if run is None:
        yield from (start, Lens(span, told))
    else:
        ended = Lens(span, f"{sign(run.status, run.reason)} {ended_of_whole(run)} · {spent(run)}{after(run)}")
        yield from with_look((start, ended), span, run)


def ended_of_whole(run: ShownRun) -> str:
    return line(run.status, run.reason, run.iteration, detail=excerpt(run.error, 120) if run.error else "")


def progress_of_whole(run: ShownRun) -> str:
    """`iteration 3/10`; of an assistant, the iterations that are done: nothing before the first."""
    if run.kind == "assistant":
        progress = f"iteration {badge_of(run)}" if run.done else "running"
        return f"{progress} · {run.label}" if run.label else progress
    of = f"/{run.max_iterations}" if run.max_iterations else ""
    return f"iteration {run.iteration or 1}{of}"


def badge_of(run: ShownRun) -> str:
    """`3/10`: how many iterations are done, of how many."""
    return f"{run.done}/{run.max_iterations}" if run.max_iterations else str(run.done)
