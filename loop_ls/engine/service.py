"""The engine's operations, as every surface calls them: plain JSON objects in and out, no HTTP.

A refusal is an answer `{ok: False, code, message, hint}`, never an exception. Runs go on in the
background; how they are prepared and what they do is passed in.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from loop_ls.contract.answers import (
    Acknowledged,
    Agreed,
    Answered,
    Approved,
    ChangesDone,
    Chosen,
    Configuration,
    Controlled,
    Done,
    EngineState,
    EnhanceStatus,
    EnhanceTimeline,
    EventPage,
    Exported,
    Facts,
    Forgotten,
    Graph,
    Imported,
    Inbox,
    Missed,
    MissedPart,
    NewRun,
    Noted,
    OneArtifact,
    PromptList,
    Refusal,
    RunArtifacts,
    RunChanges,
    RunList,
    StateAnswer,
    Verdicts,
)
from loop_ls.contract.facts.kinds import Interrupted, Recovered, RunStarted, WorktreeDecided
from loop_ls.contract.facts.payload import Fact
from loop_ls.contract.questions import told_by
from loop_ls.contract.run_view.fold import RunView
from loop_ls.engine.capabilities.repository_filters import filters_of
from loop_ls.engine.capabilities.values import sentence
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.idempotency import KEPT, conflict, digest_of, key_of, run_of
from loop_ls.engine.core.plan import ModelAccess, Plan, Program, filters_in, plan_of
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.core.preparer import Agreeing, Preparer
from loop_ls.engine.core.run_gate import Control
from loop_ls.engine.core.start_request import StartRequest, read_request
from loop_ls.engine.enhance.speaker import Editors, Speaker, require_editor
from loop_ls.engine.events import Event, RunState
from loop_ls.engine.events.state import WORKING
from loop_ls.engine.journal import Journal, JournalRefused, SqliteStorage, Storage
from loop_ls.engine.projections.iteration_facts import facts_of_iteration
from loop_ls.engine.projections.kept_views import KeptViews
from loop_ls.engine.projections.prompts import prompts
from loop_ls.engine.projections.run_graph import drawn
from loop_ls.engine.projections.stage_records import StageRecords
from loop_ls.engine.projections.truncation import LIMIT, limited, short
from loop_ls.engine.recovery.cluster_member import ClusterMember, Workers
from loop_ls.engine.recovery.crash_recovery import CrashRecovery
from loop_ls.engine.recovery.heartbeat import Heartbeat
from loop_ls.engine.retention.run_retention import RetentionPolicy, RunRetention
from loop_ls.engine.runs.answering import answered
from loop_ls.engine.runs.approvals import nothing_asked, read_decision, resolve, resolve_all
from loop_ls.engine.runs.control_commands import obey
from loop_ls.engine.runs.earlier_outputs import earlier_outputs
from loop_ls.engine.runs.event_bus import EventBus
from loop_ls.engine.runs.executor import bring_to_end
from loop_ls.engine.runs.fork import Cut, cut_at, cut_of, forked, named_by, place_of, refuse_inside, replay_argument
from loop_ls.engine.runs.inbox import CONTEXT, MOST_MISSED, TOLD, inbox, missed
from loop_ls.engine.runs.isolation.put_in_place import interrupted
from loop_ls.engine.runs.isolation.restoring import restoring
from loop_ls.engine.runs.notes import add_note
from loop_ls.engine.runs.notifications import Notifications
from loop_ls.engine.runs.project_spending import ProjectSpending
from loop_ls.engine.runs.registry import REPAIRED, LiveRun, Runs
from loop_ls.engine.runs.same_folder import begun_here, may_write, writing_in
from loop_ls.engine.runs.secret_mask import RunSecrets, SecretMask
from loop_ls.engine.runs.unrecorded_spending import UnrecordedSpending
from loop_ls.engine.runs.update import ceiling_of, read_changes
from loop_ls.engine.starting.asker import as_asked_by, refused_to, require_no_writing_for, require_own_root
from loop_ls.engine.transfer.imported_run import agreed, readable_record, root_here
from loop_ls.engine.transfer.run_export import ImportedRecord, exported, same_run
from loop_ls.index.disk.projects import settings_folder
from loop_ls.text.json_value import Json, JsonObject, as_object, text_field

if TYPE_CHECKING:
    from loop_ls.contract.requests import Scope
    from loop_ls.engine.money.ledger import Ledger
    from loop_ls.engine.roles.records.records import Records
    from loop_ls.engine.runs.judge_trial import Output

logger = logging.getLogger(__name__)

Enhanced = Acknowledged | Chosen | Done | EnhanceStatus | EnhanceTimeline
#: Formats whose runs spend nothing after a restart until a person says so.
WAITS_FOR_PEOPLE = frozenset({"enhance"})


#: Among so many of the newest runs of a file one is looked for whose outputs another start may take.
NEWEST = 50
#: Seconds between two looks at the calls in progress of an engine that leaves: a task goes on after its call.
DRAIN_LOOK = 0.05


class Engine:
    """One per data folder (the caller holds its lock). `open` inside the running loop, `close` before
    it ends. `models` gives access to the providers of one run."""

    def __init__(
        self,
        folder: Path,
        programs: Mapping[str, Program],
        models: Callable[[Plan], ModelAccess],
        preparer: Preparer,
        storage: Callable[[], Storage] | None = None,
        clock: Callable[[], float] = time.time,
        home: Path | None = None,
        keep: RetentionPolicy | None = None,
        workers: Callable[[Storage], Workers] | None = None,
        mask_of: Callable[[Plan], SecretMask] | None = None,
    ) -> None:
        self.folder, self._clock, self.home = folder, clock, home
        self._programs, self._models, self._preparer = programs, models, preparer
        self._storage = storage or (lambda: SqliteStorage(folder / "journal.db"))
        self._keep = keep or RetentionPolicy()
        self._workers = workers
        self._mask_of = mask_of or RunSecrets(os.environ).of
        self.outdated: Callable[[str], None] = logger.error  # a newer version took the journal over: why
        self.begun: list[Callable[[RunState], None]] = []  # who hears of runs that go to work here, before their calls
        self.forgotten: list[Callable[[str], None]] = []  # who keeps something beside runs that are deleted
        self.views = KeptViews(self.events)
        self.member: ClusterMember | None = None
        self._is_open = self._draining = False
        self.notifications = Notifications()
        self.editors = Editors()
        self._deciding = asyncio.Lock()
        self._starting_once = asyncio.Lock()  # starts with a key come one after the other
        self._crash_recovery = CrashRecovery(self._begin)
        self.started_at = clock()
        self.heartbeat = Heartbeat(self._can_work)
        self.records: Records | None = None  # what role loops write beside the journal
        self.closing: list[Callable[[], None]] = []  # who lets go when the engine leaves

    # -- life --------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Open the journal and take up unfinished runs. Raises `JournalRefused`."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        storage = await asyncio.to_thread(self._storage) if self._workers else self._storage()  # a network may be slow
        self.journal = Journal(storage, self._clock)
        self.journal.forgotten += self.forgotten
        try:
            await self._take_up()
            await self._finish_restoring()
        except BaseException:
            await self.journal.close()
            raise
        self._is_open = True
        self._retention.begin()
        self.heartbeat.open()

    async def _can_work(self) -> None:
        await self.journal.read(self.journal.storage.position)

    async def _take_up(self) -> None:
        position = await self.journal.read(self.journal.storage.position)
        self.feed = EventBus(self.journal.since, position, self._clock)
        self._runs = Runs(self.journal)
        self._runs.standing = self._stands
        self._spending = ProjectSpending(self.journal, self._runs, self._clock, UnrecordedSpending(self.folder))
        self._retention = RunRetention(self.journal, self._runs, self._keep, self._clock, self._spending.without)
        self.journal.listeners += [self.feed.publish, self.notifications.hear]
        self.journal.forgotten += [self.feed.gone, self.views.forget]
        if self._workers is not None:
            self.journal.told = position
            workers = self._workers(self.journal.storage)
            self._spending.accounts = workers.accounts
            self.member = ClusterMember(self.journal, self._runs, workers, self._begin, self._back, self.outdated)
            await self.member.open()
            await self._undo_interrupted()
            return
        for run_id, in_flight in (await self._runs.load()).items():
            run = self._runs.live[run_id]
            unsure = run.state.reason == REPAIRED or (self.journal.storage.rebooted and run.state.status in WORKING)
            self.journal.append(run_id, facts=await self._back(run, in_flight, unsure))
            self._crash_recovery.add(run, bool(in_flight))
        await self._undo_interrupted()  # before a run goes on and writes again
        self._crash_recovery.open()

    def _stands(self, run_id: str, why: JournalRefused | None) -> None:
        """Told without a number: the journal has no room for it."""
        body: JsonObject = {} if why is None else {"foundIn": "running", "reason": why.code, "message": why.message}
        kind = "resumed" if why is None else "interrupted"
        self.feed.publish([Event(run_id, 0, self._clock(), kind, body)])

    async def _back(self, run: LiveRun, in_flight: list[str], unsure: bool = False) -> list[Fact]:
        """What is said of a run that goes on after a crash, of this engine or of another one."""
        facts = [Recovered(in_flight=in_flight, may_have_paid_twice=bool(in_flight) or unsure).fact()]
        if run.state.format in WAITS_FOR_PEOPLE and run.state.status != "stopping":
            run.control.pause()
            facts.append(Interrupted(found_in=(await self.views.of(run.run_id)).rounds.phase).fact())
        return facts

    @property
    def live(self) -> list[RunState]:
        """The states of all runs that have not ended, read from memory."""
        return [run.state for run in self._runs]

    async def close(self) -> None:
        """Leave: runs stop where they are and go on when the engine is opened again."""
        if not self._is_open:
            return
        self._is_open = False
        if self.member is not None:
            self.member.leave()
        tasks = [run.task for run in self._runs if run.task is not None]
        for run in self._runs:
            run.control.leaving = True
        await self._crash_recovery.close()
        await self.heartbeat.close()
        await self._retention.close()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5)
        await self.notifications.close()
        self.feed.close()
        for let_go in self.closing:
            let_go()
        await self.journal.close()
        if self.member is not None:
            await self.member.close()

    async def drain(self, seconds: float, now: asyncio.Event) -> None:
        """Begin no further call, and let those in progress come to their end: for so long, or until `now`. `close` it
        afterwards."""
        self._draining = True
        if self.member is not None:
            self.member.leave()
        for run in self._runs:
            run.control.hold()
        cut = asyncio.create_task(now.wait())
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while (calls := self._in_flight()) and not now.is_set():
                    await asyncio.wait({cut, *calls}, timeout=DRAIN_LOOK, return_when=asyncio.FIRST_COMPLETED)
        cut.cancel()

    def _in_flight(self) -> set[asyncio.Task[object]]:
        return {call for run in self._runs for call in run.control.calls}

    def _begin(self, run: LiveRun) -> None:
        if self._draining:
            run.control.hold()
        for hear in self.begun:
            hear(run.state)
        run.task = asyncio.create_task(
            bring_to_end(
                run,
                self.journal,
                self.feed,
                self._programs,
                self._models,
                self._mask_of,
                self._spending,
                self.notifications,
                self.folder,
            ),
            name=f"run {run.run_id}",
        )

    # -- operations --------------------------------------------------------------------------------

    async def start(self, argument: JsonObject, user: str | None = None) -> NewRun | Agreed | Refusal:
        """Argument of `loopLs.run` with `root` and `path` or `uri` -> `{ok, runId}`. `user`: whose run it
        is; None is the owner of the data folder. With `idempotencyKey` the same request makes one run, however often
        it comes: then `repeated` is true."""
        try:
            key = key_of(argument)
        except Refused as refused:
            return refused.answer()
        if key is None:
            return await self._start(argument, user)
        async with self._starting_once:
            try:
                return await self._start_once(argument, user, key)
            except (Refused, JournalRefused) as refused:
                return refused.answer()

    async def _start_once(self, argument: JsonObject, user: str | None, key: str) -> NewRun | Agreed | Refusal:
        """Raises `Refused` for another request with this key."""
        digest, number = digest_of(argument), 0
        while run_id := run_of(user, key, number):
            known = run_id in self._runs.live or run_id in await self.journal.read(
                self.journal.storage.matching, run_id, 3
            )
            if not known:
                break
            state = await self._runs.state(run_id)
            if self._clock() - (state.started_at or 0.0) < KEPT:
                if (await self._first_fact(run_id)).get("requestDigest") != digest:
                    raise conflict(run_id)
                return {"ok": True, "runId": run_id, "repeated": True}
            number += 1
        return await self._start(argument, user, run_id, digest)

    async def _start(
        self, argument: JsonObject, user: str | None, run_id: str | None = None, digest: str | None = None
    ) -> NewRun | Agreed | Refusal:
        try:
            self.heartbeat.require_ready()
            request = as_asked_by(read_request(argument, self.home), user, self.home)
            request = await self.journal.read(self._without_typed_keys, request)
            request = await self._with_earlier(request, user)
            others = await writing_in(request.root.as_posix(), self._runs, self.journal)
            request = replace(request, beside=others, filters=await asyncio.to_thread(filters_of, request.root))
            prepared = await self._preparer.prepare(request, self._models)
            if request.agree_only:
                plan = plan_of(prepared.started, prepared.texts)
                from loop_ls.engine.capabilities.derive import capabilities_of  # what prepared it has imported it

                return {"ok": True, "capabilities": [*map(sentence, capabilities_of(plan, os.environ).shown)]}
            started = prepared.started.model_copy(update={"user": user, "request_digest": digest})
            run_id = await self._admit(started, prepared.texts, run_id)
        except (Refused, JournalRefused) as refused:
            return refused_to(refused, user, argument).answer()
        return cast("NewRun", {"ok": True, "runId": run_id, **prepared.more})

    async def _with_earlier(self, request: StartRequest, user: str | None) -> StartRequest:
        """With the outputs of the run that a start of a part names, else of the newest one of its file that has ended,
        and with the inputs of that run where none are given. Raises `Refused`."""
        run_id = await self._earlier(request, user)
        if not run_id:
            return request
        request = replace(request, earlier=await earlier_outputs(self.journal, run_id))
        if request.input is not None or request.parameters:
            return request
        first = await self._first_fact(run_id)
        parameters = {name: str(value) for name, value in as_object(first.get("parameters")).items()}
        return replace(request, input=text_field(first, "input") or None, parameters=parameters)

    async def _earlier(self, request: StartRequest, user: str | None) -> str:
        if request.outputs_of is not None:
            run_id = await self._runs.find(request.outputs_of)
            state = await self._runs.state(run_id)
            if state.uri != request.uri or (user is not None and state.user != user):
                raise Refused("not_found", f"This file has no run `{request.outputs_of}`.")
            return run_id
        if request.start_from is None:
            return ""
        newest = await self._runs.newest(None, request.uri, NEWEST)
        asked = (one for one in newest if not one.imported and (not one.source or one.source.get("kind") != "replay"))
        ended = (one for one in asked if one.format not in WAITS_FOR_PEOPLE and one.ended_at is not None)
        fitting = (one for one in ended if one.mock == request.mock and (user is None or one.user == user))
        return next((one.run_id for one in fitting), "")

    def _without_typed_keys(self, request: StartRequest) -> StartRequest:
        """The request without keys that somebody pasted into it, before anything is made of it: what a loop resolves,
        and the project that it works for, are kept and shown as the run is."""
        mask = self._typed_mask()
        return replace(
            request,
            input=mask.of_text(request.input),
            goal=mask.of_text(request.goal),
            message=mask.of_text(request.message),
            parameters=mask.of_texts(request.parameters),
            pinned=mask.of_texts(request.pinned),
        )

    def _typed_mask(self) -> SecretMask:
        """Of what people type: it takes out keys, which no run has to declare."""
        return self._mask_of(Plan("", "", "", "", "")).of_typed

    def _without_keys(self, started: RunStarted, texts: Mapping[str, str]) -> RunStarted:
        """The start without keys that stand in what a run is told and nobody typed (the input of a test case): the
        first fact is never rewritten, and everything that shows a run shows it."""
        typed = {name: getattr(started, name) for name in ("input", "goal", "message", "parameters")}
        part, source = started.plan.get("part"), as_object(started.source)
        prompt = source.get("prompt")  # what a fork asks instead
        if not any(typed.values()) and not part and not prompt:
            return started
        mask = self._mask_of(plan_of(started, texts)).of_typed
        masked = {name: mask.free(value) for name, value in typed.items()}
        if prompt and (free := mask.free(prompt)) != prompt:
            masked["source"] = {**source, "prompt": free}
        if part and (free := mask.free(part)) != part:
            masked["plan"] = {**started.plan, "part": free}
        return started if masked == typed else started.model_copy(update=masked)

    async def _admit(self, started: RunStarted, texts: Mapping[str, str], run_id: str | None = None) -> str:
        """Journal the first fact of a new run, and let it run."""
        started = await self.journal.read(self._without_keys, started, texts)
        started = await asyncio.to_thread(_placed, started, texts)
        run_id = run_id or secrets.token_hex(6)
        one = self._runs.alone(started)
        control, alone = Control(), self._workers is None
        run = LiveRun(run_id, one._replace(run_id=run_id, writes=started.writes), control, mine=alone)
        self._runs.live[run_id] = run
        done = self.journal.append(run_id, ":start", [started.fact()], {"value": True}, texts, queued=not run.mine)
        done.add_done_callback(lambda told: self._started(run, told))
        await asyncio.shield(done)  # whoever asked may be gone by now: what is written runs
        return run_id

    async def fork(
        self, run_id: str, iteration: Json = None, user: str | None = None, **given: Json
    ) -> NewRun | Refusal:
        """A new run that takes what was finished before `iteration` (of `loop`, else of the outermost one), or before
        what is `at` a place, which may be asked with another `prompt`, and pays for the rest; without either it takes
        all that was finished -> `{ok, runId}`."""
        named: JsonObject = {}
        try:
            found = await self._runs.find(run_id)
            cut = await self._cut(found, iteration, given)
            body = await self._first_fact(found)
            named = named_by(body)
            named["root"] = root_here(str(named["root"] or ""), bool(body.get("imported")), self.home)
            require_own_root(str(body.get("root", "")), user, self.home)
            require_no_writing_for(user, bool(as_object(body.get("plan")).get("headless")))
            with readable_record():
                started = forked(body, found, cut, given).model_copy(update={"user": user})
                texts = await self._texts(body)
                source = body.get("source")
                others = await writing_in(str(named["root"]), self._runs, self.journal)
                filters = await asyncio.to_thread(filters_of, str(named["root"]))
                started = started.model_copy(update={"plan": begun_here(started.plan, others, filters)})
                strange = body.get("imported") or (isinstance(source, Mapping) and source.get("kind") == "replay")
                if strange or isinstance(self._preparer, Agreeing):  # what was agreed to may be taken back by now
                    consent = str(given["consent"]) if user is None and given.get("consent") else None
                    started = await agreed(started, texts, consent, self._preparer, self.home, self._models)
            return {"ok": True, "runId": await self._admit(started, texts)}
        except (Refused, JournalRefused) as refused:
            return refused_to(refused, user, {**named, **given}).answer()

    async def _cut(self, run_id: str, iteration: Json, given: Mapping[str, Json]) -> Cut | None:
        """Where a fork begins; None: behind all that was finished. Raises `Refused`."""
        at, prompt = given.get("at"), given.get("prompt")
        if prompt is not None and at is None:
            raise Refused("bad_argument", "`prompt` needs `at`: the place where it is asked.")
        if at is not None:
            if iteration is not None or given.get("loop") is not None:
                raise Refused("bad_argument", "Set either `at` or `iteration`, not both.")
            place = place_of(at)
            refuse_inside(await self._runs.state(run_id), run_id, place)
            answer = await self.prompts(run_id, place)
            return cut_at(run_id, place, prompt, answer["prompts"] if answer["ok"] else ())
        if iteration is not None:
            return cut_of(await self._whole_view(run_id), run_id, iteration, given.get("loop"))
        if run_id in self._runs.live:
            raise Refused("bad_argument", f"Run {run_id} is still running: set `iteration` to choose what to reuse.")
        return None

    async def _whole_view(self, run_id: str) -> RunView:
        """Raises `JournalRefused` where a part of the record is damaged, which a view leaves out."""
        view = await self.views.of(run_id)
        await self.journal.facts(run_id, view.seq, 1)
        return view

    async def replay(
        self, run_id: str, argument: JsonObject | None = None, user: str | None = None
    ) -> NewRun | Refusal:
        """A new run that takes the recorded answers against the files as they are now, and asks nobody:
        it ends where an answer is missing -> `{ok, runId}`."""
        try:
            found = await self._runs.find(run_id)
            wanted = replay_argument(await self._first_fact(found), argument or {})
            request = as_asked_by(read_request(wanted, self.home), user, self.home)
            prepared = await self._preparer.prepare(request, self._models)
            source = {"mock": False, "source": {"runId": found, "kind": "replay"}, "user": user}
            new = await self._admit(prepared.started.model_copy(update=source), prepared.texts)
            return {"ok": True, "runId": new}
        except (Refused, JournalRefused) as refused:
            return refused.answer()

    async def test_until(self, argument: JsonObject, user: str | None = None) -> Verdicts | Refusal:
        """Ask the judge of `loop` in a file about `output`, or about all outputs that run `runId` has
        recorded, `times` times each -> `{ok, verdicts, agreement, judge, costUsd, tokens}`."""
        from loop_ls.engine.runs.judge_trial import JudgesConditions, given_output, tried

        try:
            loop, run_id = argument.get("loop"), argument.get("runId")
            if not isinstance(loop, str) or not loop:
                raise Refused("bad_argument", "Missing `loop`: the loop whose `until` to test.")
            output = given_output(argument)
            if (output is None) == (run_id is None):
                raise Refused("bad_argument", "Set either `output` or `runId`.")
            outputs = [output] if output is not None else await self._recorded(run_id, loop)
            request = as_asked_by(read_request(argument, self.home), user, self.home)
            if not isinstance(self._preparer, JudgesConditions):
                raise Refused("bad_argument", "This engine does not judge conditions.")
            judging = await self._preparer.judging(request, loop, self._models)
            mask = await self.journal.read(self._mask_of, judging.plan)
            shared, paid = await self._trial_accounts(judging.plan)
            return mask.value(await tried(judging, outputs, argument.get("times", 1), shared, paid))
        except (Refused, JournalRefused) as refused:
            return refused_to(refused, user, argument).answer()
        except Failure as failure:
            return Refused("provider_unavailable", failure.message, failure.hint).answer()

    async def _trial_accounts(self, plan: Plan) -> tuple[Sequence[Ledger], Callable[[JsonObject], None]]:
        """What a trial draws on, and who hears of its calls. In a mock run nobody is paid."""
        if plan.mock:
            return (), lambda call: None
        project = await asyncio.to_thread(settings_folder, plan.root, plan.path)
        shared = await self._spending.of_trial(project, plan.settings.get("limits"))
        return shared, partial(self._spending.tried, project)

    async def _recorded(self, run_id: Json, loop: str) -> list[Output]:
        from loop_ls.engine.runs.judge_trial import recorded_outputs

        found = await self._runs.find(run_id)
        events: list[JsonObject] = []
        after: int | None = 0
        while after is not None:
            page = await self.events(found, after, LIMIT)
            if not page["ok"]:
                break
            events += page["events"]
            after = page["next"]
        outputs = recorded_outputs(events, loop)
        if not outputs:
            raise Refused("not_found", f"Run {found} has no outputs of a loop `{loop}`.")
        return outputs

    async def export(self, run_id: str) -> Exported | Refusal:
        """All of a run as one JSON object -> `{ok, run}`. Keys are masked."""
        try:
            found = await self._runs.find(run_id)
            return {"ok": True, "run": await self.journal.read(exported, self.journal, found)}
        except (Refused, JournalRefused) as refused:
            return refused.answer()

    async def take_in(self, document: Json) -> Imported | Refusal:
        """Put an exported run into the record -> `{ok, runId, known}`; it is shown, and never goes on.
        One that is here already is not taken twice."""
        try:
            given = str(document.get("runId", "")) if isinstance(document, Mapping) else ""
            usable = given.isascii() and given.isalnum() and len(given) <= 40 and given.lower() != "all"
            carried = await self.journal.read(ImportedRecord, document, given if usable else secrets.token_hex(6))
            alike = await self.journal.read(self.journal.storage.matching, carried.run_id, 3)
            if carried.run_id in alike and same_run(await self._runs.state(carried.run_id), carried.state):
                return {"ok": True, "runId": carried.run_id, "known": True}
            if alike:  # another of this name, or one whose id begins so: who shortens that would get this one
                carried = ImportedRecord(document, secrets.token_hex(6))
            await self.journal.adopt(carried.run_id, carried.facts, carried.answers, carried.texts)
            self.journal.keep_snapshot(carried.run_id, await self._folded(carried.run_id))
        except (Refused, JournalRefused) as refused:
            return refused.answer()
        return {"ok": True, "runId": carried.run_id, "known": False}

    async def _folded(self, run_id: str) -> JsonObject:
        state = await self._runs.state(run_id)
        return state._asdict()

    async def _first_fact(self, run_id: str) -> JsonObject:
        page = await self.journal.facts(run_id, 0, 1)
        return dict(page.events[0].body)

    async def _texts(self, body: JsonObject) -> dict[str, str]:
        files = body.get("files")
        names = [str(name) for name in files.values()] if isinstance(files, Mapping) else []
        texts = await self.journal.read(lambda: {name: self.journal.storage.text(name) for name in names})
        if not all(texts.values()):
            raise Refused("not_found", "The record of this run is incomplete, so it cannot be forked.")
        return texts

    def _started(self, run: LiveRun, told: asyncio.Future[list[Event]]) -> None:
        if told.cancelled() or told.exception() is not None:
            self._runs.live.pop(run.run_id, None)
        elif self.member is None:
            self._begin(run)

    async def control(self, verb: str, run_id: str, **details: Json) -> Controlled | Refusal:
        """`pause`, `resume`, `stop` of one run or `all` -> `{ok, runs: [{runId, status}]}`."""
        try:
            return await obey(verb, run_id, self._runs, self.journal, str(details.get("cause", "user")))
        except (Refused, JournalRefused) as refused:
            return refused.answer()

    async def approve(
        self,
        run_id: str,
        loop_id: str | None = None,
        approved: Json = None,
        decision: Json = None,
        feedback: Json = None,
    ) -> Approved | Refusal:
        """Answer what a run asks a person -> `{ok, resolved}`. `loop_id` may be left out where a run
        asks one thing; the first answer counts, a second gets `wrong_status`. `all`: every run that asks."""
        try:
            decided = read_decision(approved, decision, feedback)
            if run_id == "all":
                return await resolve_all(self._runs, self.journal, decided)
            found = await self._runs.find(run_id)
            run = self._runs.live.get(found)
            if run is None:
                raise nothing_asked(await self._runs.state(found), loop_id)
            return {"ok": True, "resolved": await resolve(run, self.journal, loop_id, decided)}
        except (Refused, JournalRefused) as refused:
            return refused.answer()

    async def answer(self, run_id: str, given: Mapping[str, Json]) -> Answered | Refusal:
        """`{answer, text?, question?, agent?}`: answer whatever a run waits for, with one of the answers of the inbox
        -> `{ok, runId, kind, answer}`."""
        try:
            return await answered(self, await self._runs.state(await self._runs.find(run_id)), given)
        except (Refused, JournalRefused) as refused:
            return refused.answer()

    async def inbox(self, after: int | None = None) -> Inbox | Refusal:
        """Everything that waits for a person -> `{ok, waiting, position}`, with `missed` above a position."""
        try:
            await self.journal.hear_others()
            position = self.feed.position
            rows = inbox(self.live)
            for row in rows:
                if row["kind"] == "question":
                    row["context"] = await self._proposed(row["runId"])
            found: Inbox = {"ok": True, "waiting": rows, "position": position}
            return found if after is None else {**found, **await self._missed(after)}
        except (Refused, JournalRefused) as refused:
            return refused.answer()

    async def _proposed(self, run_id: str) -> str:
        """What an enhance loop would change in its next round, and why."""
        from loop_ls.engine.enhance.timeline import timeline  # no start waits for what few runs need

        rounds = timeline((await self.views.of(run_id)).rounds)["rounds"]
        told = (rounds[-1].get("rationale"), rounds[-1].get("diff")) if rounds else ()
        return "\n\n".join(one for one in told if one)[:CONTEXT]

    async def _missed(self, after: int) -> MissedPart:
        """The newest of what happened above a position."""
        page = await self.journal.newest(sorted(TOLD), after, 2 * MOST_MISSED)  # not each of them says something
        told = list[Missed]()
        for event in page.events:
            if (one := missed(event, await self._runs.state(event.run_id))) is not None:
                told.append(one)
        cut: MissedPart = {"cut": True} if len(told) > MOST_MISSED or page.more else {}
        return {"missed": told[:MOST_MISSED][::-1], **cut}

    async def enhance(
        self, verb: str, run_id: str, given: JsonObject | None = None, speaker: Speaker | None = None
    ) -> Enhanced | Refusal:
        """What is said to an enhance loop, or asked about it: `acknowledge`, `choose`, `feedback`, `status`,
        `timeline`. Loops that have ended can still be asked. `speaker`: who says it, None for this engine itself."""
        from loop_ls.engine.enhance import timeline  # no start waits for what few runs need
        from loop_ls.engine.enhance.acknowledgements import TELL

        try:
            found = await self._runs.find(run_id)
            run, state = self._runs.live.get(found), await self._runs.state(found)
            if state.format != "enhance":
                raise Refused("not_found", f"Run {found} is not an enhance loop.", "See `loop-ls runs`.")
            if verb in ("status", "timeline"):
                return timeline.answer(verb, found, state.name, (await self.views.of(found)).rounds)
            if verb not in TELL:
                raise Refused("bad_argument", f"Unknown action `{verb}` for an enhance loop.")
            if speaker is not None:
                await self._require_editor(verb, state, given or {}, speaker)
            try:
                if run is None:
                    raise Refused("wrong_status", f"Run {found} is {state.status}: answers are no longer accepted.")
                return await TELL[verb](run, self.journal, given or {}, None if speaker is None else speaker.told)
            except Refused as refused:
                answered = (await self.views.of(found)).rounds.answered
                if refused.code != "wrong_status" or not answered:
                    raise
                raise Refused(refused.code, f"{refused} {told_by(answered)}", refused.hint) from None
        except (Refused, JournalRefused) as refused:
            return refused.answer()

    async def _require_editor(self, verb: str, state: RunState, given: JsonObject, speaker: Speaker) -> None:
        """What the document holds, only its editor knows. Raises `Refused`."""
        if verb != "acknowledge" and not (verb == "choose" and isinstance(given.get("text"), str)):
            return
        plan = as_object((await self._first_fact(state.run_id)).get("plan"))
        if plan.get("headless") and verb == "choose":
            return  # the text says nothing there
        what = "report the result of an edit" if verb == "acknowledge" else "report the text of the document"
        await require_editor(speaker, self.editors, state, text_field(plan, "holder"), what)

    async def facts_of(self, run_id: str) -> list[Event]:
        """All facts of a run so far, in order."""
        found: list[Event] = []
        more = True
        while more:
            page = await self.journal.facts(run_id, found[-1].seq if found else 0, LIMIT)
            found += page.events
            more = page.more and bool(page.events)
        return found

    async def delete(self, run_id: str, whose: Callable[[str | None], bool] | None = None) -> Forgotten | Refusal:
        """Remove a run that has ended from the record -> `{ok, runId}`; `all` that have ended, and of users
        of whom `whose` says yes -> `{ok, deleted}`."""
        try:
            if run_id == "all":
                return {"ok": True, "deleted": await self._retention.forget_all(whose)}
            found = await self._runs.find(run_id)
            if found in self._runs.live:
                status = self._runs.live[found].state.status
                told = f"Run {found} is {status}: only a run that has ended can be deleted."
                raise Refused("wrong_status", told, "Stop it first.")
            await self._retention.forget(found)
        except (Refused, JournalRefused) as refused:
            return refused.answer()
        return {"ok": True, "runId": found}

    async def beside(self, project: str | None = None, sprints: Sequence[str] = ()) -> JsonObject:
        """What is kept of a run beside its journal (the project of a role loop, and these sprints of it)."""
        return {} if self.records is None else await self.records.beside(project, sprints)

    async def configuration(self, run_id: str) -> Configuration | None:
        """The definition of a role loop as it was when this run of it started; None where its record does not say."""
        try:
            with readable_record():
                return await StageRecords(self.records, self.journal, self._mask_of).configuration(run_id)
        except (Refused, JournalRefused, Failure):
            return None

    async def artifacts(self, run_id: str, scope: Scope = "run") -> RunArtifacts | Refusal:
        """What the stages of a role loop, or of all loops of its project, wrote down
        -> `{ok, artifacts, todos, sprints, memories}`; artifacts without their texts."""
        try:
            found = await self._runs.find(run_id)
            with readable_record():
                return await StageRecords(self.records, self.journal, self._mask_of).listed(found, scope)
        except (Refused, JournalRefused) as refused:
            return refused.answer()

    async def artifact(self, run_id: str, wanted: str) -> OneArtifact | Refusal:
        """One artifact with its text, by its id, the beginning of it or its title -> `{ok, artifact, content}`."""
        try:
            found = await self._runs.find(run_id)
            with readable_record():
                return await StageRecords(self.records, self.journal, self._mask_of).artifact(found, wanted)
        except (Refused, JournalRefused) as refused:
            return refused.answer()

    async def note(self, run_id: str, text: Json) -> Noted | Refusal:
        """Say something to a run: it is in its next prompt, once -> `{ok, runId, notes}`."""
        try:
            found = await self._runs.find(run_id)
            return {"ok": True, "runId": found, "notes": await add_note(found, text, self._runs, self.journal)}
        except (Refused, JournalRefused) as refused:
            return refused.answer()

    async def changes(self, run_id: str) -> RunChanges | Refusal:
        """What a run changed in a worktree of its own, up to its last commit -> `{ok, files, diff, commits}`."""
        from loop_ls.engine.runs.isolation.decide import looked_at  # few runs have one

        try:
            found = await self._runs.find(run_id)
            return await looked_at(await self._runs.state(found), await self.facts_of(found))
        except (Refused, JournalRefused) as refused:
            return refused.answer()

    async def decide_changes(self, run_id: str, decision: Json) -> ChangesDone | Refusal:
        """`apply`, `keep` or `discard` what a run changed in a worktree of its own -> `{ok, decision}`."""
        from loop_ls.engine.runs.isolation.decide import decided, read_choice

        try:
            choice = read_choice(decision)
            return await self._decided(run_id, lambda state: decided(state, self.folder, choice))
        except (Refused, JournalRefused) as refused:
            return refused.answer()

    async def restore(self, run_id: str, iteration: Json, loop: Json = None) -> ChangesDone | Refusal:
        """Let the branch of a run be what it was after an iteration, by a new commit -> `{ok, commit}`."""
        from loop_ls.engine.runs.isolation.decide import restored

        async def work(state: RunState) -> WorktreeDecided:
            return await restored(state, await self.facts_of(state.run_id), self.folder, iteration, loop)

        try:
            return await self._decided(run_id, work)
        except (Refused, JournalRefused) as refused:
            return refused.answer()

    async def _decided(
        self, run_id: str, work: Callable[[RunState], Awaitable[WorktreeDecided]]
    ) -> ChangesDone | Refusal:
        """One decision after the other: the second hears what the first one was. Raises `Refused`."""
        from loop_ls.engine.runs.isolation.decide import answered, undone_unless_recorded
        from loop_ls.engine.runs.isolation.git import for_people

        found = await self._runs.find(run_id)
        async with self._deciding:
            state = await self._runs.state(found)
            filters = filters_in(as_object((await self._first_fact(found)).get("plan")))
            async with undone_unless_recorded(state, self.folder):
                with for_people(state.root, filters):
                    fact = await work(state)
                await self._add_to_ended(found, fact.fact())
            return answered(state, fact)

    async def _undo_interrupted(self) -> None:
        """What a crash of this engine has left half applied in the user's files is put back, and told in its run."""
        if not (left := await asyncio.to_thread(interrupted, self.folder)):
            return
        from loop_ls.engine.runs.isolation.decide import undo

        for run_id, placing in left:
            if self._workers is not None and run_id in self._runs.live:
                continue  # it goes on already, and puts back what it has left itself
            try:
                warned = await asyncio.to_thread(undo, await self._runs.state(run_id), placing)
                if warned is not None:
                    logger.warning("run %s: %s", run_id, warned.message)
                    await self._add_to_ended(run_id, warned.fact())
            except (Refused, JournalRefused) as refused:
                logger.warning("run %s: %s", run_id, refused)

    async def _finish_restoring(self) -> None:
        """A branch that this engine set back before it died, without a record of it: the restore is brought to its end,
        so that what the record says is what the branch is."""
        for begun in await asyncio.to_thread(restoring, self.folder):
            from loop_ls.engine.runs.isolation.decide import is_half_done

            try:
                if await is_half_done(await self._runs.state(begun.run_id), self.folder):
                    answer = await self.restore(begun.run_id, begun.iteration, begun.loop)
                    told = answer["message"] if not answer["ok"] else "A restore was brought to its end."
                    logger.warning("run %s: %s", begun.run_id, told)
            except (Refused, JournalRefused, Failure, OSError) as failed:  # its repository may be gone
                logger.warning("run %s: %s", begun.run_id, failed)
            begun.forget()

    async def _add_to_ended(self, run_id: str, fact: Fact) -> None:
        events = await self.journal.append(run_id, facts=[fact])
        if run_id in self._runs.live:
            return
        state = await self._runs.state(run_id)
        for event in events:
            state = state.after(event) if event.seq > state.last_seq else state
        self.journal.keep_snapshot(run_id, state._asdict())

    async def change(self, run_id: str, changes: Json) -> StateAnswer | Refusal:
        """Change goal, limit, metadata or labels of a loop -> `{ok, state}`."""
        try:
            found = await self._runs.find(run_id)
            changes = (await self.journal.read(self._typed_mask)).free(changes)  # one that has ended has no mask
            fact = read_changes(changes, await self._runs.state(found), ceiling_of(await self._first_fact(found)))
            await self._add_to_ended(found, fact.fact())
        except (Refused, JournalRefused) as refused:
            return refused.answer()
        return await self.state(found)

    async def prompts(self, run_id: str, place: str = "") -> PromptList | Refusal:
        """What models and agents were asked, at `place` or inside it -> `{ok, prompts, count}`."""
        try:
            whole = await self._runs.find(run_id)
            with readable_record():
                changed = bool((await self._runs.state(whole)).changed)
                found = await prompts(self.journal, self._programs, whole, self._mask_of, place, changed)
        except (Refused, JournalRefused) as refused:
            return refused.answer()
        return {"ok": True, "prompts": found, "count": len(found)}

    async def graph(self, run_id: str, place: str = "") -> Graph | Refusal:
        """The steps and loops of a run -> `{ok, nodes}`, see `projections.run_graph`."""
        try:
            return {"ok": True, "nodes": await drawn(self.journal, await self._runs.find(run_id), place)}
        except (Refused, JournalRefused) as refused:
            return refused.answer()

    async def runs(
        self, status: str | None = None, uri: str | None = None, limit: int | None = None
    ) -> RunList | Refusal:
        """`{ok, runs: [RunState]}`, newest first; `status` may be `active`. Long outputs are cut."""
        try:
            found = await self._runs.newest(status, uri, limited(limit, 100))
        except JournalRefused as refused:
            return refused.answer()
        now = self._clock()
        return {"ok": True, "runs": [short(state.wire(now)) for state in found]}

    async def state(self, run_id: str) -> StateAnswer | Refusal:
        """`{ok, state: RunState}`. The id may be shortened, here and everywhere."""
        try:
            state = await self._runs.state(await self._runs.find(run_id))
        except (Refused, JournalRefused) as refused:
            return refused.answer()
        return {"ok": True, "state": state.wire(self._clock())}

    async def events(self, run_id: str | None = None, after: int = 0, limit: int | None = None) -> EventPage | Refusal:
        """Facts of one run above seq `after`, or of all runs above position `after`
        -> `{ok, events, next}`: `next` is what to ask `after` for the rest, None at the end."""
        most = limited(limit, 500)
        try:
            if run_id is None:
                found = await self.journal.since(after, most)
            else:
                found = await self.journal.facts(await self._runs.find(run_id), after, most)
        except (Refused, JournalRefused) as refused:
            return refused.answer()
        events = found.events
        last = (events[-1].position if run_id is None else events[-1].seq) if found.more and events else None
        return {"ok": True, "events": [event.wire() for event in events], "next": last}

    async def iteration_events(self, run_id: str, wanted: str | None = None) -> Facts | Refusal:
        """The facts of the latest iteration, or of the last one that `wanted` names by its place or number, led by
        the first fact of the run -> `{ok, events}`; all of a run that has no iteration, none where `wanted` is none."""
        try:
            found = await facts_of_iteration(self.journal, await self._runs.find(run_id), wanted, self.views.of)
        except (Refused, JournalRefused) as refused:
            return refused.answer()
        return {"ok": True, "events": [event.wire() for event in found]}

    async def subscribe(
        self, after: int | None = None, run_id: str | None = None
    ) -> AsyncGenerator[tuple[int, JsonObject]]:
        """`(position, event)` as they are journalled; `text` has position 0. With `after`, first the
        facts above that position: no gap, no double. A slow listener slows nobody but itself."""
        async for event in self.feed.listen(after, run_id):
            yield event.position, event.wire()

    @property
    def status(self) -> EngineState:
        """What the engine says about itself: `{startedAt, running, listeners, position, inFlight, damaged}`:
        `inFlight` counts calls, `damaged` are runs that stand because the record of them is damaged."""
        return {
            "startedAt": self.started_at,
            "running": len(self._runs.live),
            "listeners": self.feed.listeners,
            "position": self.feed.position,
            "inFlight": len(self._in_flight()),
            "damaged": sorted(self._runs.damaged),
            "managers": self.heartbeat.wire(),
        }


def _placed(started: RunStarted, texts: Mapping[str, str]) -> RunStarted:
    """With the folder whose settings count for it, and whether it may write in its own. Reads the disk."""
    found = settings_folder(started.root, started.path or "") if started.root else ""
    writes = not started.mock and may_write(plan_of(started, texts), os.environ)
    return started.model_copy(update={"project": found if found != started.root else None, "writes": writes})
