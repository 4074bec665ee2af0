"""One run from its first fact to its last: the plan is read, the program runs, the end is journalled.

However a run ends, exactly one closing fact says so. Only the leaving of the engine ends it without one.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast

from loop_ls.contract.endings import CAUSES, Cause
from loop_ls.contract.facts.kinds import Cancelled, Completed, Failed, Resumed
from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.capabilities.guard import permitting
from loop_ls.engine.capabilities.values import NOTHING, Capabilities
from loop_ls.engine.capabilities.values import Program as StartedProgram
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.loop_driver import Outcome, error_of
from loop_ls.engine.core.plan import ENHANCE, ModelAccess, Plan, Program, read_plan
from loop_ls.engine.core.ports import EXHAUSTED, EndsRun, Exhausted, Failure, ModelFailure, Stopped
from loop_ls.engine.core.replay_source import NothingRecorded, Source
from loop_ls.engine.events import Event, status_of
from loop_ls.engine.events.event import moment
from loop_ls.engine.journal import END, Journal, JournalRefused
from loop_ls.engine.money.accounts import Accounts
from loop_ls.engine.money.caps import CapReached, Caps, in_time
from loop_ls.engine.money.gate import GatedModels
from loop_ls.engine.money.ledger import Cost, Ledger
from loop_ls.engine.money.loop_account import loop_ledger
from loop_ls.engine.protection.guard import MARK, Guard, guarding
from loop_ls.engine.protection.kept import Kept
from loop_ls.engine.protection.patterns import named_by
from loop_ls.engine.runners.resolve import is_agent, is_fenced
from loop_ls.engine.runs.event_bus import EventBus
from loop_ls.engine.runs.isolation.isolation import Isolation, says_isolate
from loop_ls.engine.runs.journal_recorder import JournalRecorder
from loop_ls.engine.runs.notifications import Notifications
from loop_ls.engine.runs.project_spending import ProjectSpending
from loop_ls.engine.runs.registry import LiveRun
from loop_ls.engine.runs.secret_mask import SecretMask
from loop_ls.text.json_value import as_object, text_field

logger = logging.getLogger(__name__)

End = Completed | Failed | Cancelled
#: Refusals that do not end a run: it goes on with another worker.
ELSEWHERE = frozenset({"not_owner", "newer_format", "closed"})
#: How often a closing fact that the journal refused is offered again.
WRITE_AGAIN = 5.0
#: Facts that are read at once.
PAGE = 1000


async def bring_to_end(
    run: LiveRun,
    journal: Journal,
    feed: EventBus,
    programs: Mapping[str, Program],
    models: Callable[[Plan], ModelAccess],
    mask_of: Callable[[Plan], SecretMask],
    spending: ProjectSpending,
    notifications: Notifications,
    data: Path,
) -> None:
    """`data` is the engine's data folder."""
    state = run.state
    ledger = Accounts(Ledger(spent=Cost(state.cost_usd or 0.0, state.input_tokens + state.output_tokens)))
    recorder = JournalRecorder(run.run_id, journal, run.control, run.answered, feed.show, ledger, run.claim)
    journal.accounts[run.run_id] = ledger.told
    due = asyncio.create_task(_resumed_when_due(run, journal))
    try:
        end = await _end_of(run, journal, recorder, programs, models, ledger, mask_of, spending, notifications, data)
        await asyncio.to_thread(Kept(data, run.run_id).over)
        saved = [] if run.isolation is None else await run.isolation.end(end.kind)
        await recorder.end([*saved, end.fact()])
    except JournalRefused as refused:
        if refused.code in ELSEWHERE:
            run.mine = False
        else:
            await _lost(run, journal, feed, refused)
    finally:
        due.cancel()
        spending.gone(run.run_id)
        notifications.forget(run.run_id)
        journal.accounts.pop(run.run_id, None)
        journal.masks.pop(run.run_id, None)


async def _resumed_when_due(run: LiveRun, journal: Journal) -> None:
    """A run that was parked when its engine went away goes on at the same time as if that had stayed."""
    if run.state.status == "paused" and (until := moment(run.state.resumes_at)) is not None:
        await run.control.due(until, journal.clock)
        if run.control.paused:
            with suppress(JournalRefused):
                await journal.append(run.run_id, facts=[Resumed().fact()], ongoing=True)
            run.control.resume()


async def _end_of(
    run: LiveRun,
    journal: Journal,
    recorder: JournalRecorder,
    programs: Mapping[str, Program],
    models: Callable[[Plan], ModelAccess],
    ledger: Accounts,
    mask_of: Callable[[Plan], SecretMask],
    spending: ProjectSpending,
    notifications: Notifications,
    data: Path,
) -> End:
    try:
        started = (await journal.facts(run.run_id, 0, 1)).events
        plan = await journal.read(read_plan, run.run_id, started[0].body, journal.text)
        recorder.mask = await journal.read(mask_of, plan)
        journal.masks[run.run_id] = recorder.mask.value
        notifications.watch(run, plan, lambda: _capabilities(plan))
        providers = as_object(plan.settings.get("providers"))
        recorder.source = Source.of(plan.source, journal.recall, run.answered)
        limits = plan.settings.get("limits")
        ledger.own.limit(Caps.of(run.state.caps, limits))
        ledger.loop = loop_ledger(plan, await _facts_of_loop(plan, journal))
        if not plan.mock:
            ledger.shared = tuple(await spending.ledgers(run, limits))
        with permitting(lambda: _capabilities(plan)):
            there = await _there(run, plan, recorder, journal, data)
        gated = GatedModels(models(there), ledger, providers, plan.mock)
        guard = _guard_of(run, there, recorder, data)
        with permitting(lambda: _capabilities(there)), guarding(guard):
            work = programs[plan.format].run(there, recorder, gated)
            outcome = await in_time(recorder, ledger.own.caps.seconds, work)
    except CapReached as reached:
        return _at_its_cap(run, reached)
    except NothingRecorded as missing:
        told = Failure("nothing_recorded", missing.told, "Run it to call the models.", place=missing.place)
        return _failed(run, told)
    except EndsRun as ended:
        return _failed(run, ended.failure, EXHAUSTED if isinstance(ended, Exhausted) else None)
    except Stopped:
        return _cancelled(run)
    except asyncio.CancelledError:
        if run.control.leaving:
            raise
        return _cancelled(run) if run.control.stopping else _failed(run, _fault("the run was cancelled internally"))
    except (Failure, ModelFailure) as failure:
        return _failed(run, failure)
    except JournalRefused:
        raise
    except Exception as error:
        logger.exception("run %s: internal error", run.run_id)
        return _failed(run, _fault(f"{type(error).__name__}: {error}"))
    return _ended(run, outcome)


async def _facts_of_loop(plan: Plan, journal: Journal) -> list[Fact]:
    """What an enhance loop has spent before it goes on here; of other runs their state says it."""
    found: list[Fact] = []
    after: int | None = 0 if plan.format == ENHANCE else None
    while after is not None:
        page = await journal.facts(plan.run_id, after, PAGE)
        found += [(event.kind, event.body) for event in page.events if event.kind == "call"]
        after = page.events[-1].seq if page.more and page.events else None
    return found


async def _there(run: LiveRun, plan: Plan, recorder: JournalRecorder, journal: Journal, data: Path) -> Plan:
    """The plan as it is carried out: in the workspace, or in a worktree that is made for it. Raises `Failure`."""
    if plan.plays or not plan.root or not says_isolate(plan) or not _capabilities(plan).isolated:
        return plan
    run.isolation = isolation = Isolation(plan, data, await _earlier(plan, journal))
    there = await isolation.begin(recorder)
    recorder.saved = partial(isolation.iterated, recorder)
    return there


async def _earlier(plan: Plan, journal: Journal) -> tuple[str, str] | None:
    """Where the run began from which this one is forked, and what it had committed up to where this one goes on. One
    that came in by a file has no commits here, whatever it says."""
    source = as_object(plan.source)
    if source.get("kind") != "fork":
        return None
    ends = f"{text_field(source, 'place')}/{source['iteration']}" if source.get("iteration") else source.get("at")
    base = commit = ""
    after: int | None = 0
    while after is not None:
        page = await journal.facts(text_field(source, "runId"), after, PAGE)
        for event in page.events:
            if event.kind == "run_started" and event.body.get("imported"):
                return None
            if event.kind == "iteration_started" and event.body.get("place") == ends:
                return (base, commit) if base else None
            if event.kind == "worktree_made":
                base = commit = text_field(event.body, "base")
            elif event.kind in ("worktree_committed", "worktree_decided"):
                commit = text_field(event.body, "commit") or commit
        after = page.events[-1].seq if page.more and page.events else None
    return (base, commit) if base else None


def _guard_of(run: LiveRun, plan: Plan, recorder: JournalRecorder, data: Path) -> Guard | None:
    """Who looks after the protected files of the workspace; None for a run that only plays."""
    if plan.plays or not plan.root:
        return None

    def exact() -> list[str]:
        # what prepared the run has imported it
        from loop_ls.engine.capabilities.derive import checking_programs, skills_of_stages

        started = [one for one in _capabilities(plan).all if isinstance(one, StartedProgram)]
        files = [path for one in started for path in named_by(one.words, one.folder, plan.root)]
        files = [path for path in files if Path(plan.root, path).is_file()]
        checks = (path for one in checking_programs(plan) for path in named_by(one.words, one.folder, plan.root))
        beside = [] if run.isolation is None else run.isolation.of_repository()
        return [*plan.texts, *files, *checks, *skills_of_stages(plan), *beside]

    providers = as_object(plan.settings.get("providers"))

    def works(provider: str, purpose: str) -> bool:
        return is_agent(provider, providers) and (purpose == "step" or not is_fenced(provider, providers, plan.root))

    guard = Guard(Path(plan.root), data, run.run_id, plan.settings, exact, works, recorder.performs, run.answered)

    async def settled(key: str) -> None:
        if MARK not in key:
            await guard.settle(recorder)

    recorder.settled = settled
    return guard


def _capabilities(plan: Plan) -> Capabilities:
    """A plan that cannot be read permits nothing."""
    try:
        from loop_ls.engine.capabilities.derive import capabilities_of  # what prepared the run has imported it

        return capabilities_of(plan, os.environ)
    except (Refused, Failure) as fault:
        logger.warning("The permissions of run %s cannot be read, so it has none: %s", plan.run_id, fault)
        return NOTHING


def _ended(run: LiveRun, outcome: Outcome) -> End:
    match status_of(outcome.reason):
        case "completed":
            return Completed(
                reason=outcome.reason,
                because=outcome.because,
                total_iterations=outcome.iterations,
                final_output=outcome.output,
                last_output=outcome.output if outcome.last is None else outcome.last,
                **outcome.details,
            )
        case "cancelled":
            return _cancelled(run)
        case _:
            failure = outcome.failure or Failure(outcome.reason, f"The run ended with `{outcome.reason}`.")
            return _failed(run, failure, outcome.reason, outcome.iterations)


def _at_its_cap(run: LiveRun, reached: CapReached) -> Completed:
    """A limit is no failure: the run keeps what it has."""
    output = run.state.last_output or ""
    return Completed(
        reason=reached.reason,
        because=reached.told,
        total_iterations=run.state.iteration,
        final_output=output,
        last_output=output,
    )


def _cancelled(run: LiveRun) -> Cancelled:
    state = run.state
    cause = cast(Cause, state.reason) if state.reason in CAUSES else "user"
    return Cancelled(cause=cause, total_iterations=state.iteration, last_output=state.last_output)


def _failed(
    run: LiveRun, failure: Failure | ModelFailure, reason: str | None = None, iterations: int | None = None
) -> Failed:
    named = failure.reason if isinstance(failure, Failure) else "error"
    return Failed(
        error=error_of(failure),
        reason=reason or named,
        cause=(failure.place or None) if isinstance(failure, Failure) else None,
        iteration=run.state.iteration or None,
        total_iterations=run.state.iteration if iterations is None else iterations,
        last_output=run.state.last_output,
    )


async def _lost(run: LiveRun, journal: Journal, feed: EventBus, refused: JournalRefused) -> None:
    """The journal cannot take the run's facts: it ends here and now, and is told so without a number.
    The closing fact is written as soon as it can be; an engine that starts before goes on with the run."""
    failed = _failed(run, Failure(refused.code, refused.message, refused.hint))
    kind, body = failed.fact()
    run.state = run.state._replace(status="failed", reason="error", ended_at=journal.clock(), error=failed.error)
    feed.publish([Event(run.run_id, 0, journal.clock(), kind, body)])
    while True:
        await asyncio.sleep(WRITE_AGAIN)
        with suppress(JournalRefused):
            await journal.append(run.run_id, END, [(kind, body)], {"value": True})
            return


def _fault(told: str) -> Failure:
    return Failure("internal", f"Internal error of the engine: {told}.", "Please report it, with the engine's log.")
