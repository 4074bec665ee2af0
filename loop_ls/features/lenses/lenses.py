"""Code lenses: Run above a workflow and its loops, progress and Stop while one runs, its result after.

`lenses(workspace, document, runs)` reads the runs as plain values (latest last); it starts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loop_ls.contract.amounts import count
from loop_ls.contract.endings import VERDICTS
from loop_ls.features.answers import Command, Lens, LoopView, ShownRun
from loop_ls.features.estimate.estimate import run_calls
from loop_ls.features.language_support import support_of
from loop_ls.features.lenses.decisions import decisions
from loop_ls.features.lenses.enhance import rounds_lenses
from loop_ls.features.lenses.open_run import with_look
from loop_ls.features.runs.outcome_texts import ENDED, ended_in_words, run_in_words, sign, spent
from loop_ls.index.calls import CallTable, most_iterations
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Span


def lenses(workspace: Workspace, document: Document, runs: Sequence[ShownRun] = ()) -> tuple[Lens, ...]:
    found = support_of(document).lenses(workspace, document, runs)
    return found if document.uri.startswith("file:") else tuple(_not_saved(found))


def _not_saved(found: Sequence[Lens]) -> Iterator[Lens]:
    """Those of a text that is no file on this machine: it has no project whose limits a run would keep to, so nothing
    is started from it, and its first place says what to do."""
    told = False
    for lens in found:
        if lens.command is None or "uri" not in lens.command.argument:
            yield lens
        elif lens.command.name == "loopLs.run" and not told:
            told = True
            yield Lens(lens.span, "Save this file to run it")


def workflow_lenses(workspace: Workspace, document: Document, runs: Sequence[ShownRun]) -> tuple[Lens, ...]:
    own = [run for run in runs if run.uri in ("", document.uri)]
    whole = next((run for run in reversed(own) if run.kind == "workflow"), None)
    in_rounds = whole if whole is not None and whole.rounds is not None else None
    calls = CallTable(workspace, document)
    found = [*rounds_lenses(workspace, document, in_rounds), *_of_workflow(workspace, document, whole, calls)]
    for position, element in enumerate(document.elements):
        if element.loop is not None and element.name:
            found += _of_loop(workspace, document, position, own, calls)
        if whole is not None and _gave_outputs(whole) and element is not document.elements[0] and element.name:
            found.append(_from_here(document, element, whole))
    return tuple(found)


# -- the workflow ---------------------------------------------------------------------------------


def _of_workflow(workspace: Workspace, document: Document, run: ShownRun | None, once: CallTable) -> Iterator[Lens]:
    top = document.head.get("name") or document.head.get("$schema")
    if top is None or not document.elements:
        return
    span = document.absolute(top.piece, top.entry.key.span)
    if run is not None and run.status not in ENDED:
        if run.rounds is None:  # rounds have their line at the top
            yield from going(span, run, progress_of_run(run))
        return
    title = "▶ Run workflow" if run is None else "▶ Run workflow again"
    start = Lens(span, title, _start(document, {"kind": "workflow"}))
    if run is not None:
        ended = Lens(span, f"{sign(run.status, run.reason)} {run_in_words(run)} · {spent(run)}{after(run)}")
        yield from [start] if run.rounds is not None else with_look((start, ended), span, run)
        return
    yield start
    if callers := len(workspace.callers(document)):
        yield Lens(span, count(callers, "reference"))
    calls = run_calls(workspace, document, once).most
    if calls is not None:
        yield Lens(span, f"≤ {count(calls, 'call')}")


def progress_of_run(run: ShownRun) -> str:
    current = next((loop for loop in run.loops.values() if loop.status not in ENDED), None)
    return f"{current.name}: {progress_of_loop(current)}" if current is not None else "running"


def _from_here(document: Document, element: Element, run: ShownRun) -> Lens:
    """Runs this element and what comes after it, on what the others gave in the run that has ended."""
    span = document.absolute(element.piece, Span(element.span.start, element.label_span.end))
    start = _start(document, {"kind": "workflow"})
    part = {"startFrom": element.name, "outputsOf": run.run_id}
    return Lens(span, "▷ Run from here", Command(start.name, {**start.argument, **part}))


def _gave_outputs(run: ShownRun) -> bool:
    """Whether another run may go on from what its steps gave: rounds have several outputs, a mock run has none."""
    return run.status in ENDED and run.rounds is None and not run.mock


# -- loops ----------------------------------------------------------------------------------------


def _of_loop(
    workspace: Workspace, document: Document, position: int, runs: Sequence[ShownRun], once: CallTable
) -> Iterator[Lens]:
    element = document.elements[position]
    span = document.absolute(element.piece, Span(element.span.start, element.label_span.end))
    found = next(((run, run.loops[element.name]) for run in reversed(runs) if element.name in run.loops), None)
    if found is not None and found[1].status not in ENDED and found[0].status not in ENDED:
        run, loop = found
        if run.kind == "workflow":
            yield Lens(span, f"{progress_of_loop(loop)} · {spent(run)}")
        else:
            yield from going(span, run, progress_of_loop(loop))
        return
    started = _started(element, runs)
    if started is not None:
        yield from going(span, started, "starting")
        return
    kind = "loop" if element.kind == "loop" else "step"
    title = "▶ Run loop" if found is None else "▶ Run loop again"
    start = Lens(span, title, _start(document, {"kind": kind, "name": element.name}))
    if found is not None:
        run, loop = found
        own = run.kind != "workflow"
        tail = f" · {spent(run)}" if own else ""
        ended = Lens(span, f"{sign(loop.status, loop.reason)} {ended_in_words(loop)}{tail}{after(run)}")
        yield from with_look((start, ended), span, run) if own else (start, ended)
        return
    yield start
    if (text := _costs(workspace, element, once.of(position).most, once.with_dependencies(position).most)) is not None:
        yield Lens(span, text)


def _started(element: Element, runs: Sequence[ShownRun]) -> ShownRun | None:
    """A run of just this loop that has not come to it yet."""
    for run in reversed(runs):
        if run.kind in ("loop", "step") and run.name == element.name:
            return run if run.status not in ENDED else None
    return None


def _costs(workspace: Workspace, element: Element, calls: int | None, whole: int | None) -> str | None:
    """`whole`: with what the loop depends on."""
    limit = most_iterations(workspace, element)
    if limit is None:
        return None
    noun = "item" if element.loop_mode == "iterate" else "iteration"
    if calls is None:
        return f"≤ {count(limit, noun)}"
    more = f", {whole:,} with dependencies" if whole is not None and whole > calls else ""
    return f"≤ {count(limit, noun)} · ≤ {count(calls, 'call')}{more}"


# -- runs that are going on -----------------------------------------------------------------------


def going(span: Span, run: ShownRun, progress: str) -> Iterator[Lens]:
    """Controls first: they stay where they are while the text beside them grows."""
    yield from with_look(_going(span, run, progress), span, run)


def _going(span: Span, run: ShownRun, progress: str) -> Iterator[Lens]:
    yield from _decisions(span, run)
    match run.status:
        case "paused":
            yield Lens(span, "▶ Resume", _control("resume", run))
        case "interrupted" | "stopping":
            pass
        case _:
            yield Lens(span, "⏸ Pause", _control("pause", run))
    if run.status != "stopping":
        yield Lens(span, "⏹ Stop", _control("stop", run))
    yield Lens(span, f"{with_state(run, progress)} · {spent(run)}{after(run)}")


def with_state(run: ShownRun, progress: str) -> str:
    """`paused · iteration 3/5`: what a run does, where it does not simply go on."""
    if run.waiting:
        return f"waiting for approval · {progress}"
    said = {"paused": f"{run.until or 'paused'} · ", "stopping": "stopping… · ", "interrupted": "interrupted · "}.get(
        run.status, ""
    )
    return said + progress


def _decisions(span: Span, run: ShownRun) -> Iterator[Lens]:
    return (Lens(span, title, command) for title, command in decisions(run))


def progress_of_loop(loop: LoopView) -> str:
    """`iteration 3/5 · 2 NO`."""
    of = f"/{loop.max_iterations}" if loop.max_iterations else ""
    text = f"iteration {loop.iteration or 1}{of}"
    for verdict in ("no", "impossible", "unclear", "failed"):
        number = sum(one.verdict == verdict for one in loop.verdicts)
        if number:
            text += f" · {number} {VERDICTS[verdict]}"
    return text


def after(run: ShownRun) -> str:
    """What a person has to know of a run that a crash interrupted."""
    if run.paid_twice:
        return " · recovered after a restart; one call may have been billed twice"
    return " · recovered after a restart" if run.recovered else ""


def _start(document: Document, target: dict[str, str]) -> Command:
    return Command("loopLs.run", {"uri": document.uri, "target": target})


def _control(verb: str, run: ShownRun) -> Command:
    return Command(f"loopLs.{verb}", {"runId": run.run_id})
