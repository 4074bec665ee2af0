"""An iterate loop: call a workflow once for each item, one after the other or several at a time.
There is no condition; what counts is how many items succeed.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import count
from pathlib import PurePosixPath
from typing import cast

from loop_ls.contract.facts.kinds import Iteration, IterationFailed, IterationStarted, Retrying, Warned
from loop_ls.engine.bodies.called import call_workflow
from loop_ls.engine.bodies.context import Finished, Frame
from loop_ls.engine.bodies.items import Items, label, parse_items
from loop_ls.engine.bodies.limits import limits_of
from loop_ls.engine.context.call_arguments import build_item_arguments
from loop_ls.engine.context.interpolation import check_known, interpolate
from loop_ls.engine.context.loop_variables import AfterIterate, DuringItem, joined
from loop_ls.engine.context.scope import Scope
from loop_ls.engine.context.workspace_files import FILE
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Limits, Outputs, TryResult, error_of, tried
from loop_ls.engine.core.ports import Earlier, Failure, Skipped
from loop_ls.engine.core.task_group import pooled
from loop_ls.engine.core.time_limit import OVER_TIME, within
from loop_ls.formats.workflow.loop_keys import LOOP
from loop_ls.formats.workflow.model import Argument, Loop
from loop_ls.text.json_value import JsonObject, from_fields

DEFAULT_WORKERS = 3


async def run_iterate(frame: Frame, loop: Loop, scope: Scope, place: Place) -> Finished:
    """Run all items. Raises `Failure` where the loop fails the workflow."""
    limits = limits_of(frame, loop)
    items = await _items(frame, loop, scope, place)
    kept = items[: limits.max_iterations]
    if len(kept) < len(items):
        left = len(items) - len(kept)
        message = f"`{loop.name}` has {len(items)} items and `max_iterations: {len(kept)}`; {left} {_are(left)} skipped"
        await frame.recorder.record(place.part("cut"), [Warned(code="items_left_out", message=message).fact(place)])
    only = _only(frame, loop, len(kept))
    skipped = frame.recorder.skipped(loop.name, place) if only is None else Skipped()
    if skipped.over and skipped.through is not None:
        return _left(loop, skipped.through, len(kept))
    if skipped.last is not None and skipped.last <= len(kept):
        only = skipped.last - 1
    run = _Run(frame, loop, scope, place, limits, kept, skipped, only=only)
    if limits.total is None:
        await run.all()
    else:
        await _in_time(run, limits.total)
    if frame.checks is not None:
        for index in sorted(run.outputs):
            turn = place.turn(loop.name, index + 1)
            await frame.checks.after_iteration(turn, (loop.name,), index + 1, run.outputs[index])
    finished = run.finished()
    if run.failures and finished.reason == "completed":
        failed, total = len(run.failures), len(run.failures) + len(run.outputs)
        message = f"{failed} of {total} items of `{loop.name}` failed and {_are(failed)} missing in its output"
        await frame.recorder.record(
            place.part("failed_items"), [Warned(code="items_failed", message=message).fact(place)]
        )
    return finished


def _left(loop: Loop, outputs: Earlier, total: int) -> Finished:
    """What a loop that has ended well left behind."""
    left = AfterIterate(Outputs(earlier=outputs), total)
    accumulated = {loop.accumulate: joined(tuple(outputs))} if loop.accumulate else {}
    return Finished(loop.name, outputs.last(1), accumulated=accumulated, loop=left, iterations=total)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _only(frame: Frame, loop: Loop, count: int) -> int | None:
    """The index of the one item that the start asked for. Raises `Failure` where there is no such item."""
    wanted = frame.context.item
    if wanted is None or frame.place.depth or wanted[0] != loop.name:
        return None
    if wanted[1] > count:
        raise Failure("bad_argument", f"`{loop.name}` has {count} items; item {wanted[1]} does not exist")
    return wanted[1] - 1


async def _items(frame: Frame, loop: Loop, scope: Scope, place: Place) -> list[Argument]:
    """Read once: a replay sees the items that the run began with. Raises `Failure` whatever `on_failure` says."""
    rendered = interpolate(loop.items or "", scope)
    check_known(LOOP.keys["items"], loop.name, rendered.unknown)
    files, folder = frame.context.files, str(PurePosixPath(frame.place.file).parent)

    async def read() -> JsonObject:
        text = rendered.text.strip()
        if text.startswith(FILE):
            text = await asyncio.to_thread(files.read, text, folder, "items file")
        return parse_items(text)._asdict()

    items = from_fields(Items, await frame.recorder.call(place.part("items"), read))
    if items.doubt:
        warned = Warned(code="items_in_doubt", message=items.doubt)
        await frame.recorder.record(place.part("doubt"), [warned.fact(place)])
    return items.values


async def _in_time(run: _Run, total: float) -> None:
    recorder, key = run.frame.recorder, run.place.part("began")
    began = cast("float | None", recorder.recall(key))
    if began is None:
        began = recorder.active()
        await recorder.record(key, answer=began)
    try:
        await within(recorder, began + total, run.all())
    except Failure as failure:
        if failure.code != OVER_TIME:
            raise
        message = f"`{run.loop.name}` ran longer than its `total_timeout` of {total:g} s"
        raise Failure("timeout", message, reason="timeout") from None


@dataclass(slots=True)
class _Run:
    """The loop while it runs: what came out for each item so far."""

    frame: Frame
    loop: Loop
    scope: Scope
    place: Place
    limits: Limits
    items: list[Argument]
    skipped: Skipped
    outputs: dict[int, str] = field(default_factory=dict)
    failures: dict[int, Failure] = field(default_factory=dict)
    only: int | None = None

    async def all(self) -> None:
        if self.only is not None:
            await self.item(self.only)
            return
        workers = (self.loop.max_workers or DEFAULT_WORKERS) if self.loop.parallel else 1
        await pooled(len(self.items), workers, self.item)

    async def item(self, index: int) -> bool:
        """Run one item with its tries; False: nothing new may begin."""
        await self.frame.recorder.gate()
        values = self.values(index)
        tries = 1 + (self.limits.max_retries if self.limits.on_failure == "retry" else 0)
        for attempt in count(1):
            turn = self.place.turn(self.loop.name, index + 1, attempt)
            found = await self.one_try(index, turn, attempt, values)
            if isinstance(found, str):
                self.outputs[index] = found
                return True
            if attempt == tries:
                self.failures[index] = found
                return self.limits.on_failure != "halt"
            await self.wait_for_next_try(turn, attempt, found)
        raise AssertionError("counting does not end")

    def values(self, index: int) -> DuringItem:
        """`loop.*` for an item; with several at a time the numbers of successes are those of the start."""
        if self.loop.parallel:
            return DuringItem(index, len(self.items), self.items[index])
        succeeded, failed = len(self.outputs), len(self.failures)

        def so_far() -> tuple[int, int]:
            if self.skipped.through is None:
                return succeeded, failed
            skipped = len(tuple(self.skipped.through))
            return skipped, index - skipped

        return DuringItem(index, len(self.items), self.items[index], so_far)

    async def one_try(self, index: int, turn: Place, attempt: int, values: DuringItem) -> str | Failure:
        recorder, key, shown = self.frame.recorder, turn.part("result"), {"item": label(self.items[index], index)}
        known = cast("TryResult | None", recorder.recall(key))
        if known is None:
            number, all_ = index + 1, len(self.items)
            kind, body = IterationStarted(iteration=number, max_iterations=all_, attempt=attempt).fact(turn)
            await recorder.record(turn.part("started"), [(kind, body | shown)])
            limit, what = self.limits.per_iteration, f"item {number} of `{self.loop.name}`"
            known = await tried(self.called(turn, values), recorder, limit, what)
            fact: Iteration | IterationFailed
            if "output" in known:
                fact = Iteration(iteration=number, max_iterations=all_, output=known["output"])
            else:
                fact = IterationFailed(iteration=number, attempt=attempt, error=error_of(Failure(**known["failure"])))
            kind, body = fact.fact(turn)
            await recorder.record(key, [(kind, body | shown)], answer=known)
        return known["output"] if "output" in known else Failure(**known["failure"])

    async def called(self, turn: Place, values: DuringItem) -> str:
        arguments = build_item_arguments(self.loop.arguments, values.item, self.scope.with_loop(values))
        check_known(LOOP.keys["with"], self.loop.name, arguments.unknown)
        output = await call_workflow(self.frame, self.loop.workflow, arguments, values, turn)
        if output is None:
            raise Failure("no_result", f"`{self.loop.workflow}` returned no result: none of its steps ran")
        return output

    async def wait_for_next_try(self, turn: Place, attempt: int, failure: Failure) -> None:
        recorder, delay = self.frame.recorder, self.limits.retry_delay
        retrying = Retrying(attempt=attempt + 1, because=error_of(failure), delay=delay)
        await recorder.record(turn.part("retrying"), [retrying.fact(turn)])
        if delay > 0:
            await recorder.sleep(turn.part("delay"), delay)
        await recorder.gate()

    def finished(self) -> Finished:
        """What the loop leaves behind, successful items in their order. Raises `Failure` where it failed."""
        outputs = [self.outputs[index] for index in sorted(self.outputs)]
        total, failed = (len(self.items) if self.only is None else 1), len(self.failures)
        if failed and self.limits.on_failure == "halt":
            index = min(self.failures)
            failure = self.failures[index]
            message = f"`{self.loop.name}`, {label(self.items[index], index)}: {failure.message}"
            raise Failure(failure.code, message, failure.hint, "error", failure.place)
        if total and len(outputs) / total < self.loop.min_success_rate:
            rate = f"{len(outputs)} of {total} items of `{self.loop.name}` succeeded"
            wanted = f"{rate}; `min_success_rate` is {self.loop.min_success_rate:g}"
            raise Failure("success_rate_not_met", wanted, reason="success_rate_not_met")
        if total and not outputs:  # whatever `on_failure` says: a bill without any result is no success
            failure = self.failures[max(self.failures)]
            message = f"none of {total} items of `{self.loop.name}` succeeded, the last one: {failure.message}"
            raise Failure(failure.code, message, failure.hint, "error", failure.place)
        output = outputs[-1] if outputs else ""
        return Finished(
            self.loop.name,
            output,
            accumulated={self.loop.accumulate: joined(outputs)} if self.loop.accumulate else {},
            loop=AfterIterate(Outputs(tuple(outputs)), len(outputs) + failed),
            reason="completed" if total else "no_items",
            iterations=len(outputs) + failed,
            because=self.told(),
        )

    def told(self) -> str | None:
        """Which part of the loop this was, where it was not all of it."""
        if self.only is None:
            return None
        named = label(self.items[self.only], self.only)
        return f"Only item {self.only + 1} of {len(self.items)} of `{self.loop.name}` was run: {named}."
