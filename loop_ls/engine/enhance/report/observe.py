"""What a round was like, read from its facts: which steps failed and how, what came out, who answered.

Pure: facts and the text that was run go in. A step that failed and passed on a later try has not failed;
one that failed and was passed over has.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from loop_ls.contract.facts import enhance
from loop_ls.contract.facts.enhance import Totals
from loop_ls.engine.bodies.items import parse_items
from loop_ls.engine.core.location import Place
from loop_ls.engine.enhance.invariants.baseline import Baseline
from loop_ls.engine.enhance.invariants.gates import into
from loop_ls.engine.enhance.invariants.shape import comes_from, shape_of
from loop_ls.engine.enhance.invariants.verifiers import looked_at
from loop_ls.engine.enhance.plan.plan_context import primaries
from loop_ls.engine.enhance.report.failures import KINDS, FailedStep, Feedback, Observed, checked
from loop_ls.engine.enhance.report.kinds_of_errors import kind_of
from loop_ls.engine.enhance.report.traces import Trace, traces
from loop_ls.engine.events import Event
from loop_ls.engine.events.event import utc
from loop_ls.formats.workflow.condition import parse_condition
from loop_ls.formats.workflow.verdict_prompt import verdict_in
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.text.encoding import to_units
from loop_ls.text.json_value import JsonObject, int_field

#: Ends of a loop that are none of its limits.
_MET = frozenset({"condition_met", "completed"})
#: Ends of an element that was run.
_RAN = frozenset({"completed", "failed"})
_NO_TRACE = Trace()


def observe(
    number: int,
    place: str,
    events: Iterable[Event],
    document: Document,
    output: str,
    feedback: Sequence[Feedback] = (),
    truncated: bool = False,
    baseline: Baseline | None = None,
    ran: Iterable[str] = (),
    workspace: Workspace | None = None,
    items: Mapping[str, int] | None = None,
    failed_items: Mapping[str, tuple[str, ...]] | None = None,
) -> Observed:
    """Round `number`, whose facts lie below `place` (`report/1`). `truncated`: the budget ended it. `ran` is what
    `Observed.ran` was in round 1, `items` its `Observed.items`, `failed_items` those of its items that failed, and
    `workspace` is where called workflows are found as they were run."""
    baseline = baseline or Baseline.alone(document)
    every = tuple(events)
    found = traces(place, every, document)
    run = _Run(
        number=number,
        place=place,
        events=every,
        document=document,
        first=primaries(document),
        found=found,
        feedback=feedback,
        truncated=truncated,
        baseline=baseline,
        expected=frozenset(ran),
        workspace=workspace or baseline.workspace,
        items=items or {},
        failed_items=failed_items or {},
    )
    failures = [one for element in document.elements for one in _failures(run, element)]
    return Observed(
        round=number,
        failures=tuple(failures),
        totals=_totals(document, found, failures),
        output=output,
        successful=not truncated and _successful(document, found, failures),
        truncated_by_budget=truncated,
        ran=tuple(_ran(run)),
        feedback=tuple(feedback),
        items=dict(_lists(run)),
        listed=(listed := dict(_listed(run))),
        failed_items=dict(_failed_items(run, listed, failures)),
    )


def feedback_since_plan(events: Iterable[Event]) -> tuple[Feedback, ...]:
    """What people have said since the last plan was asked for, in trials and pauses: no plan has heard that."""
    found = list[Feedback]()
    for event in events:
        if event.kind == "planner_started" and event.body.get("attempt") == 1:
            found = []
        elif event.kind == "feedback":
            said = enhance.Feedback.model_validate(event.body)
            found.append(Feedback(said.text, utc(event.at), said.step, said.negative))
    return tuple(found)


def feedback_in(events: Iterable[Event], number: int) -> tuple[Feedback, ...]:
    """What people said while round `number` ran, or since the report on the round before: no plan has heard that. It
    rejects nothing in this round, which nobody had seen."""
    current, reported, found = 0, 0, list[Feedback]()
    for event in events:
        if event.kind == "round_started":
            current = int_field(event.body, "round") or 0
        elif event.kind == "report_ready":
            reported = current
        elif event.kind == "feedback" and number == (current + 1 if reported == current else current):
            said = enhance.Feedback.model_validate(event.body)
            negative = said.negative and number == current
            found.append(Feedback(said.text, utc(event.at), said.step, negative))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of one workflow: that of the round, or a called one inside of it."""

    number: int
    place: str
    events: Sequence[Event]
    document: Document
    first: Mapping[str, tuple[str | None, str | None]]
    found: Mapping[str, Trace]
    feedback: Sequence[Feedback]
    truncated: bool
    baseline: Baseline
    expected: frozenset[str]
    workspace: Workspace
    items: Mapping[str, int]
    failed_items: Mapping[str, tuple[str, ...]]


def _listed(run: _Run) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What each loop goes over that has its items from the JSON list of one other element."""
    for name, _ in _lists(run):
        element = run.document.element(name)
        if element is not None and (items := _texts_of_items(run, element)):
            yield name, items


def _texts_of_items(run: _Run, element: Element) -> tuple[str, ...]:
    """The items of a loop that one other element makes."""
    makers = _makers(run.document, element)
    made = run.found[next(iter(makers))].output.strip() if len(makers) == 1 else ""
    return tuple(json.dumps(one, sort_keys=True) for one in parse_items(made).values) if made else ()


def _failed_items(
    run: _Run, listed: Mapping[str, tuple[str, ...]], failures: Iterable[FailedStep]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Those that failed; all of them where nobody knows which ones made a loop fail."""
    failing = {one.step.partition("/")[0] for one in failures if KINDS[one.kind].weight == "hard"}
    for name, items in listed.items():
        lost = run.found[name].lost
        if name in failing:
            yield name, tuple(one for number, one in enumerate(items, 1) if number in lost or not lost)


def _lists(run: _Run) -> Iterator[tuple[str, int]]:
    """How many items each loop goes over that has them from a JSON list of another element: of lines of text nobody
    knows which of them are meant."""
    for element in run.document.elements:
        count = run.found[element.name].items
        if element.loop_mode == "iterate" and count is not None:
            made = [run.found[one].output.strip() for one in _makers(run.document, element)]
            if any(made) and all(one.startswith("[") for one in made):
                yield element.name, count


def _makers(document: Document, element: Element) -> frozenset[str]:
    """The elements that the items of a loop come from."""
    uses = (use for use in element.uses if use.slot.kind == "items")
    found = (one for use in uses for one in comes_from(document, element, use))
    return frozenset(one for one in found if document.element(one) is not None)


def _items_gone(run: _Run, element: Element) -> list[str]:
    """The items that failed in round 1 and that a loop does not go over any more: easier ones prove nothing."""
    before = run.failed_items.get(element.name, ())
    now = _texts_of_items(run, element) if before else ()
    return [one for one in before if one not in now]


def _are_asked_otherwise(run: _Run, element: Element) -> bool:
    """Whether a plan has changed what makes the items of a loop, however far before."""
    document, first = run.document, run.baseline.first
    direct = _makers(document, element)
    for name in direct.union(*(into(document, one) for one in direct)):
        now, before = document.element(name), first.element(name)
        if now is None or before is None or shape_of(document, now).question != shape_of(first, before).question:
            return True
    return False


def _ran(run: _Run) -> Iterator[str]:
    """What ran, and has to run in later rounds: all elements of the workflow, a loop over items if it had some, and
    of called workflows such loops and the checks, as `element/check`."""
    for element in run.document.elements:
        trace = run.found[element.name]
        if trace.ended not in _RAN:
            continue
        if element.loop_mode != "iterate" or trace.turns or trace.lost:
            yield element.name
        for inner in _called(run, element, trace):
            watched = {one.name for one in inner.document.elements if one.loop_mode == "iterate"}
            watched |= inner.baseline.verifiers.checked.keys()
            yield from (f"{element.name}/{one}" for one in _ran(inner) if "/" in one or one in watched)


def _failures(run: _Run, element: Element) -> list[FailedStep]:
    trace, document = run.found[element.name], run.document
    said = tuple(one.text for one in run.feedback if _meant(run, one) == element.name)
    failed = FailedStep(
        round=run.number,
        step=element.name,
        kind="step_error",
        target=element.kind,
        range=_range(document, element),
        attempts=trace.attempts,
        output=trace.output,
        feedback=said,
        duration=trace.duration,
        usd=trace.usd,
        iterations=trace.iterations,
        fallback=_fallback(trace, run.first.get(element.name)),
    )
    match trace.ended:
        case "skipped":
            kind = "intentional_skip" if _intended(element, run.baseline, run.expected) else "skipped_by_plan"
            skipped = replace(failed, kind=kind, skip_reason=f"its `if` was false: {trace.condition}")
            return [skipped]
        case "none":
            return [_not_run(failed, element, run.found, document, run.truncated)]
        case "failed":
            return [_ended_badly(failed, element, trace)]
        case "completed":
            return _completed(run, failed, element, trace)
        case never:
            assert_never(never)


def _intended(element: Element, baseline: Baseline, expected: frozenset[str]) -> bool:
    """Whether a skip is one that round 1 would have had: by the same `if`, of an element that it skipped, too."""
    before, condition = baseline.shape(element.name), element.block.text("if")
    return (
        element.name not in expected
        and baseline.first.element(element.name) is not None
        and before is not None
        and condition is not None
        and before.condition == parse_condition(condition)
    )


def _not_run(
    failed: FailedStep, element: Element, found: Mapping[str, Trace], document: Document, truncated: bool
) -> FailedStep:
    graph = document.graph
    needed = graph.dependencies(document.position(element))
    roots = [
        document.elements[one].name for one in sorted(needed) if found[document.elements[one].name].ended == "failed"
    ]
    if not roots:
        roots = [one.name for one in document.elements if found[one.name].ended == "failed"]
    if truncated and not roots:
        return replace(failed, kind="budget_stop", skip_reason="its next call did not fit in `budgetCapUsd`")
    return replace(failed, kind="upstream_failed", upstream=tuple(roots), skip_reason="a previous step failed")


def _ended_badly(failed: FailedStep, element: Element, trace: Trace) -> FailedStep:
    error = dict(trace.error or {"code": "internal", "message": "it ended without a result"})
    if trace.refused_by is not None and trace.refused_by[2] == error.get("code"):
        error |= {"provider": trace.refused_by[0], "model": trace.refused_by[1]}
    inner = trace.inner
    name = f"{element.name}/{inner}" if inner else element.name
    kind = kind_of(error, trace.reason)
    verifier = failed.verifier
    if kind == "verifier_fail":
        block = element.block.block("consensus")
        verifier = checked("fail", (block and block.text("require")) or "", str(error.get("message", "")))
    return replace(failed, kind=kind, step=name, error=error, verifier=verifier)


def _completed(run: _Run, failed: FailedStep, element: Element, trace: Trace) -> list[FailedStep]:
    if trace.reason == "no_items" and element.name in run.expected:
        return [replace(failed, kind="skipped_by_plan", skip_reason="it had items in round 1, and has none now")]
    had, has = run.items.get(element.name, 0), trace.items or 0
    if element.loop_mode == "iterate" and has < had and _are_asked_otherwise(run, element):
        return [
            replace(failed, kind="skipped_by_plan", skip_reason=f"it had {had} items in round 1, and has {has} now")
        ]
    if (gone := _items_gone(run, element)) and not run.baseline.reviewed and _are_asked_otherwise(run, element):
        told = f"{', '.join(f'`{one}`' for one in gone)} failed in round 1, and the items are others now"
        return [replace(failed, kind="skipped_by_plan", skip_reason=told)]
    if any(one.negative and _meant(run, one) == element.name for one in run.feedback):
        return [replace(failed, kind="user_rejected")]
    if element.loop is not None and element.loop_mode == "refine":
        until = element.loop.text("until") or ""
        if trace.verdict == "error":
            return [replace(failed, kind="verifier_error", verifier=checked("error", until, trace.answer))]
        if until and trace.reason is not None and trace.reason not in _MET:
            return [replace(failed, kind="until_not_met", verifier=checked("fail", until, trace.answer))]
    found = _items(run, failed, element, trace) or _judged(run, failed, element) or _inside(run, failed, element, trace)
    if found:
        return found
    if failed.fallback:
        return [replace(failed, kind="fallback_output")]
    return []


def _meant(run: _Run, said: Feedback) -> str | None:
    """Whom feedback is about. A rejection that names nothing that ran is one of the result: it is never lost."""
    if not said.negative:
        return said.step
    named = (said.step or "").partition("/")[0]
    if run.found.get(named, _NO_TRACE).ended in _RAN:
        return named
    last = _last_completed(run.document, run.found)
    return None if last is None else last.name


def _items(run: _Run, failed: FailedStep, element: Element, trace: Trace) -> list[FailedStep]:
    """Items that failed, and that the loop went on without: a failure as that of a step with `continue` is. Whoever
    wrote a `min_success_rate` has said how many are enough; one that a plan wrote says nothing."""
    before = run.baseline.shape(element.name)
    if element.loop_mode != "iterate" or not trace.lost or (before is not None and before.rate > 0):
        return []
    number = min(trace.lost)
    error = dict(trace.lost[number])
    total = len(trace.lost) + len(trace.turns)
    error["message"] = f"{len(trace.lost)} of {total} items failed; item {number}: {error.get('message', '')}"
    return [replace(failed, kind=kind_of(error), error=error)]


def _judged(run: _Run, failed: FailedStep, element: Element) -> list[FailedStep]:
    """What the verifiers of an element say of it."""
    verifiers = run.baseline.verifiers
    for name, subject in verifiers.checked.items():
        check = run.found.get(name)
        if check is None or check.ended != "completed" or _subject_of(run, name, subject) != element.name:
            continue
        said = verdict_in(check.output)
        if said == "fail":
            return [replace(failed, kind="verifier_fail", verifier=checked("fail", name, check.output))]
        if said is None:
            found = checked("error", name, check.output)
            return [replace(failed, kind="verifier_error", verifier=found, guessed=name in verifiers.guessed)]
    return []


def _subject_of(run: _Run, verifier: str, subject: str) -> str:
    """What a verifier checked in this run: where its subject was skipped the last one that it reads and that ran, and
    where nothing of that ran the verifier itself. What it says is never lost."""
    read = looked_at(run.document, verifier)
    return next((one for one in (subject, *read) if run.found.get(one, _NO_TRACE).ended in _RAN), verifier)


def _inside(run: _Run, failed: FailedStep, element: Element, trace: Trace) -> list[FailedStep]:
    """What failed in the workflow that an element called, where the call ended well all the same: a check in there
    said no, a loop in there gave up, another model than the first answered. Of a loop that refines only the last
    iteration counts. A check that is skipped in one item and looks at another has run."""
    runs = _called(run, element, trace)
    ran = {name for inner in runs for name in _ran(inner)}
    found: dict[tuple[str, str], FailedStep] = {}
    for inner in runs:
        for one in (each for own in inner.document.elements for each in _failures(inner, own)):
            missed = one.step in inner.expected and one.step not in ran
            counts = one.weight != "soft" or one.kind == "fallback_output"
            if counts and (one.kind != "skipped_by_plan" or missed):
                named = replace(one, step=f"{element.name}/{one.step}", target=failed.target, range=failed.range)
                found.setdefault((named.step, named.kind), named)
    return list(found.values())


def _called(run: _Run, element: Element, trace: Trace) -> list[_Run]:
    """The runs of a called workflow that gave what an element gave."""
    callee = run.workspace.callee(run.document, element.reference)
    if callee is None:
        return []
    start = f"{element.name}/"
    expected = frozenset(one.removeprefix(start) for one in run.expected if one.startswith(start))
    return [
        replace(
            run,
            place=place,
            events=events,
            document=callee,
            first=primaries(callee),
            found=traces(place, events, callee),
            feedback=(),
            baseline=run.baseline.of_called(callee),
            expected=expected,
            items={},
            failed_items={},
        )
        for place, events in _calls(run, element, trace)
    ]


def _calls(run: _Run, element: Element, trace: Trace) -> Iterable[tuple[str, Sequence[Event]]]:
    """The places of the calls that gave what an element gave, with the facts below each."""
    own = Place(run.place).element(element.name)
    key = own.key if trace.attempts == 1 else own.part(str(trace.attempts))
    below: dict[str, list[Event]] = {}
    for event in run.events:
        place = str(event.body.get("place", ""))
        if place.startswith(key + "/"):
            turn = key if element.loop is None else "/".join((key, place[len(key) + 1 :].partition("/")[0]))
            below.setdefault(turn, []).append(event)
    turns: Iterable[str] = (key,) if element.loop is None else trace.turns.values()
    if element.loop_mode == "refine":
        turns = list(turns)[-1:]
    return [(turn, below[turn]) for turn in turns if turn in below]


def _fallback(trace: Trace, primary: tuple[str | None, str | None] | None) -> JsonObject | None:
    """Who answered instead of whom, where that was not the first."""
    if trace.answered_by is None or primary is None or None in primary or trace.answered_by == primary:
        return None
    return {"used": True, "from": "/".join(map(str, primary)), "to": "/".join(trace.answered_by)}


def _totals(document: Document, found: dict[str, Trace], failures: Sequence[FailedStep]) -> Totals:
    ended = [found[element.name].ended for element in document.elements]
    return Totals(
        steps=len(ended),
        completed=ended.count("completed"),
        failed=ended.count("failed"),
        skipped=ended.count("skipped"),
        fallback=sum(one.kind == "fallback_output" for one in failures),
        not_run=ended.count("none"),
    )


def _last_completed(document: Document, found: Mapping[str, Trace]) -> Element | None:
    """Who gave the output."""
    steps = document.steps or document.elements
    return next((one for one in reversed(steps) if found[one.name].ended == "completed"), None)


def _successful(document: Document, found: Mapping[str, Trace], failures: Sequence[FailedStep]) -> bool:
    """Whether the final output is there and no step that it depends on failed hard."""
    steps = document.steps or document.elements
    last = _last_completed(document, found)
    if last is None or any(found[one.name].ended in ("failed", "none") for one in steps[steps.index(last) + 1 :]):
        return False
    position = document.position(last)
    needed = {document.elements[one].name for one in document.graph.dependencies(position)} | {last.name}
    weights = {"hard", "transient", "permanent"}
    return not any(KINDS[one.kind].weight in weights and one.step.partition("/")[0] in needed for one in failures)


def _range(document: Document, element: Element) -> JsonObject:
    """An LSP range in UTF-16 units, as notifications carry it."""
    span = document.absolute(element.piece, element.label_span)
    lines = document.text.lines

    def at(line: int, column: int) -> dict[str, int]:
        return {"line": line, "character": to_units(lines[line], column, "utf-16")}

    return {"start": at(*span.start), "end": at(*span.end)}
