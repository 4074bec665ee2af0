"""Runs, as the editor's commands see them: checked here, done by the engine, shown by `notifier`.

This room never runs anything. It finds the engine of a document's folder, hands over the text as it is
in the editor, and passes typed answers through.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from loop_ls.contract.questions import Surface
from loop_ls.contract.run_view.parts import part
from loop_ls.contract.run_view.rounds import listed
from loop_ls.features.runs.run_findings import run_findings
from loop_ls.formats.registry import can_run, is_beside
from loop_ls.index.top_level import SECTIONS
from loop_ls.rules.engine.finding import Finding, Severity
from loop_ls.server.capabilities import is_vscode
from loop_ls.server.command_answers import refused
from loop_ls.server.documents import uris
from loop_ls.server.runs import consent
from loop_ls.server.runs.engine_connection import LIMIT, EngineAccess, EngineLink, LocalEngineAccess, refusal
from loop_ls.server.runs.event_subscription import RunWatch
from loop_ls.server.runs.labels import worded
from loop_ls.server.runs.notifier import RunNotifier
from loop_ls.text.json_value import JsonObject, int_field, plain_object, text_field
from loop_ls.text.position import Span

if TYPE_CHECKING:
    from loop_ls.client.session import EngineClient
    from loop_ls.contract.answers import Controlled, EventPage, Refusal, ViewPage
    from loop_ls.features.answers import ShownRun
    from loop_ls.index.document import Document
    from loop_ls.server.documents.folders import Folder
    from loop_ls.server.documents.session import OpenDocument
    from loop_ls.server.runs.context import RunContext
    from loop_ls.server.runs.run_record import RunRecord

logger = logging.getLogger(__name__)

#: A repeated key. Repeated `steps` and `loops` blocks are run as joined, so they keep no run from starting (D15).
_REPEATED = "WF005"
#: What of the argument goes to the engine as it is.
_PASSED = (
    "target",
    "input",
    "goal",
    "message",
    "parameters",
    "maxIterations",
    "provider",
    "model",
    "mock",
    "sessionId",
    "idempotencyKey",
    "item",
    "limits",
    "startFrom",
    "endAt",
    "pinned",
    "outputsOf",
    "check",
)


class Runs:
    """One link and one watch for each folder that has an engine."""

    def __init__(self, context: RunContext, access: EngineAccess | None = None) -> None:
        self._context, self._session, self._client = context, context.session, context.client
        self._access = access or LocalEngineAccess()
        self._show = RunNotifier(context, self)
        self.questions = consent.Questions()
        self._links: dict[str, tuple[EngineLink, RunWatch]] = {}
        self._attaching: set[EngineLink] = set()

    # -- commands -----------------------------------------------------------------------------

    async def start(self, argument: JsonObject) -> JsonObject:
        """`loopLs.run`."""
        session = self._session
        if not session.trusted:
            hint = "Trust the workspace, then run again."
            return refused("not_trusted", "This workspace is not trusted, so nothing in it can run.", hint)
        if not text_field(argument, "uri"):
            return await self._start_named(argument)
        opened = session.find(text_field(argument, "uri")) or session.loaded(text_field(argument, "uri"))
        if opened is None:
            return refused("not_found", f"`{text_field(argument, 'uri')}` is not open and cannot be read.")
        if problem := hindrance(opened):
            return problem
        request = self.request(opened, argument)
        answer = await self._start(opened, request, agreed=self.questions.agreed(session, argument))
        if answer.get("code") == "consent_required" and not session.settles_answers:
            self._context.tasks.start(self._ask_and_start(opened, request, answer), "consent")
        return answer

    async def _start_named(self, argument: JsonObject) -> JsonObject:
        """A role loop by its name alone: those that come with the product are no files of the workspace."""
        target = part(argument, "target")
        if target.get("kind") != "definition" or not target.get("name"):
            return refused("bad_argument", "`loopLs.run` needs `uri` in its argument.")
        folder = self.default_folder(None)
        request: JsonObject = {name: argument[name] for name in _PASSED if argument.get(name) is not None}
        request |= {"root": str(self._path(folder)), "origin": "editor", "detach": False}
        if settings := folder.editor_settings:
            request["settings"] = settings
        answer = await self._start(None, request, folder, self.questions.agreed(self._session, argument))
        if answer.get("code") == "consent_required" and not self._session.settles_answers:
            self._context.tasks.start(self._ask_and_start(None, request, answer, folder), "consent")
        return answer

    async def _start(
        self,
        opened: OpenDocument | None,
        request: JsonObject,
        folder: Folder | None = None,
        agreed: JsonObject | None = None,
    ) -> JsonObject:
        """`agreed` is what the person has just said yes to."""
        place = folder or (opened.folder if opened is not None else self.default_folder(None))
        link, watch = self._link(place)
        try:
            client = await link.connect()
            proof = {} if agreed is None else {"consent": client.agree(agreed)}
            answer = self.questions.noted(await asyncio.wait_for(client.start({**request, **proof}), LIMIT))
        except Exception as error:
            return refusal(error)
        warnings = answer.get("warnings")
        for told in warnings if isinstance(warnings, list) else ():
            self._client.show(lsp.MessageType.Warning, str(told))
        if answer.get("ok"):
            self._context.tasks.start(watch.track(link, str(answer["runId"]), opened=opened), "new run")
        return answer

    async def _ask_and_start(
        self, opened: OpenDocument | None, request: JsonObject, answer: JsonObject, folder: Folder | None = None
    ) -> None:
        if await consent.allowed(self._client, answer):
            await self._start(opened, request, folder, answer)

    def request(self, opened: OpenDocument, argument: JsonObject) -> JsonObject:
        folder = opened.folder
        request: JsonObject = {name: argument[name] for name in _PASSED if argument.get(name) is not None}
        request |= {"root": str(self._path(folder)), "uri": opened.uri, "origin": "editor", "detach": False}
        path = uris.to_path(opened.uri)
        if path is not None:
            request["path"] = str(path)
        if settings := folder.editor_settings:
            request["settings"] = settings
        applies = self._client.facts.applies_edits and self._session.find(opened.uri) is opened
        wanted = {"start": True} if argument.get("enhance") is True else {}
        request["enhance"] = {"editor": applies, "uri": opened.uri, **wanted}
        texts = {
            uris.path_text(other.uri): str(other.document.text)
            for other in self._session.open.values()
            if other.folder is folder and _is_part_of_runs(other.document) and uris.to_path(other.uri) is not None
        }
        request["texts"] = {**texts, uris.path_text(opened.uri): str(opened.document.text)}
        return request

    async def stop(self, argument: JsonObject) -> JsonObject:
        return await self._control(text_field(argument, "runId"), lambda engine, which: engine.stop(which))

    async def pause(self, argument: JsonObject) -> JsonObject:
        return await self._control(text_field(argument, "runId"), lambda engine, which: engine.pause(which))

    async def resume(self, argument: JsonObject) -> JsonObject:
        return await self._control(text_field(argument, "runId"), lambda engine, which: engine.resume(which))

    async def _control(
        self, run_id: str, act: Callable[[EngineClient, str], Awaitable[Controlled | Refusal]]
    ) -> JsonObject:
        """One run, or `all` of every engine that is known."""
        if run_id != "all":
            return await self.ask_home(run_id, lambda client: act(client, run_id))
        runs: list[JsonObject] = []
        for client in await self._clients():
            answer = await asyncio.wait_for(act(client, "all"), LIMIT)
            if not answer["ok"]:
                return plain_object(answer)
            runs += map(plain_object, answer["runs"])
        return {"ok": True, "runs": runs}

    async def recent(self, argument: JsonObject) -> JsonObject:
        """`loopLs.runs`, newest first."""
        status, uri, limit = (
            text_field(argument, "status") or None,
            text_field(argument, "uri") or None,
            int_field(argument, "limit"),
        )
        answers = await self._read(uri, lambda client: client.runs(status=status, uri=uri, limit=limit))
        if answers and not answers[-1].get("ok"):
            return answers[-1]
        runs = [state for answer in answers for state in listed(answer.get("runs"))]
        runs.sort(key=lambda state: str(state.get("startedAt", "")), reverse=True)
        return {"ok": True, "runs": [self._worded(state) for state in (runs[:limit] if limit else runs)]}

    async def inbox(self, argument: JsonObject) -> JsonObject:
        """`loopLs.inbox`, the longest first. Positions are those of one engine: with several, nothing is told of a
        gap."""
        after = int_field(argument, "after") if len(list(self._session.all_folders())) < 2 else None
        answers = await self._read(None, lambda client: client.inbox(after))
        if answers and not answers[-1].get("ok"):
            return answers[-1]
        waiting = [one for answer in answers for one in listed(answer.get("waiting"))]
        waiting.sort(key=lambda one: text_field(one, "since"))
        return {"ok": True, "position": 0, **(answers[-1] if answers else {}), "waiting": [*waiting]}

    async def _read(
        self, uri: str | None, ask: Callable[[EngineClient], Awaitable[Mapping[str, object]]]
    ) -> list[JsonObject]:
        """What each engine answers; the last is a refusal where one of them refuses or cannot be reached."""
        answers: list[JsonObject] = []
        try:
            for client in await self._readers(uri):
                answers.append(plain_object(await asyncio.wait_for(ask(client), LIMIT)))
                if not answers[-1].get("ok"):
                    break
        except Exception as error:
            answers.append(refusal(error))
        return answers

    async def _readers(self, uri: str | None) -> list[EngineClient]:
        """The engines whose records are to be read, started where something is recorded. Where nothing is,
        an engine that somebody starts later is found by a client that lists runs."""
        found = []
        every = [] if uri is not None else list(self._session.all_folders())
        for link in self._links_of(every or [self.default_folder(uri)]):
            if (client := await link.find()) is not None:
                found.append(client)
            elif await self._access.recorded(link.root, link.data_dir):
                found.append(await link.connect())
            elif self._session.lists_runs and link not in self._attaching:
                self._own(self._attach(link), f"engine of {link.root}")
        return found

    def _worded(self, state: JsonObject) -> JsonObject:
        """In the same words as its lens, where its facts are known here."""
        for _, watch in self._links.values():
            record = watch.records.get(str(state.get("runId")))
            if record is not None and record.last_seq == state.get("lastSeq"):
                return worded(state, record.view())
        return worded(state)

    async def data_folder(self, run_id: str) -> Path | None:
        """That of the engine which has a run; None where no engine is known."""
        links = list(self._links.values())
        link = next((link for link, watch in links if run_id in watch.records), links[0][0] if links else None)
        handover = None if link is None else await self._access.handover(link.root, link.data_dir)
        return None if handover is None else handover.parent

    async def status(self, argument: JsonObject) -> JsonObject:
        """`loopLs.status`; with `graph`, also what the run consists of (at `place`: of that round)."""
        run_id = text_field(argument, "runId")
        answer = await self.ask_home(run_id, lambda client: client.status(run_id))
        if not answer.get("ok"):
            return answer
        if argument.get("graph") is True:
            drawn = await self.ask_home(
                run_id, lambda client: client.graph(run_id, text_field(argument, "place") or None)
            )
            answer["graph"] = drawn.get("nodes") or []
        return {**answer, "state": self._worded(part(answer, "state"))}

    async def events(self, argument: JsonObject) -> JsonObject:
        """`loopLs.events`; with `follow`, the client hears of what comes after them too."""
        run_id, after = text_field(argument, "runId"), int_field(argument, "afterSeq") or 0
        limit, cut = int_field(argument, "limit"), int_field(argument, "cut")

        async def ask(client: EngineClient) -> EventPage | Refusal:
            answer = await client.events(run_id, after=after, limit=limit, cut=cut)
            if answer["ok"] and argument.get("follow") is True:
                await self._follow_from(client, run_id)
            return answer

        return await self.ask_home(run_id, ask)

    async def view(self, argument: JsonObject) -> JsonObject:
        """`loopLs.view`; with `follow`, the client hears of what is new after it."""
        run_id, after = text_field(argument, "runId"), int_field(argument, "afterSeq") or 0

        async def ask(client: EngineClient) -> ViewPage | Refusal:
            answer = await client.view(run_id, after, int_field(argument, "limit"))
            if answer["ok"] and argument.get("follow") is True:
                await self._follow_from(client, run_id, answer["seq"])
            return answer

        answer = await self.ask_home(run_id, ask)
        return {**answer, "state": self._worded(part(answer, "state"))} if answer.get("ok") else answer

    async def _follow_from(self, client: EngineClient, run_id: str, shown: int | None = None) -> None:
        """Tell the client of a run that it did not start and whose file it does not have open. `shown`: the fact up to
        which its view is there."""
        for link, watch in self._links.values():
            if link.client is client:
                watch.look_at(link, run_id, shown)

    async def engine_status(self, argument: JsonObject) -> JsonObject:
        """Tells of a running engine and starts none."""
        try:
            client = await self._link(self.default_folder(text_field(argument, "uri") or None))[0].find()
            if client is None:
                return {"ok": True, "engine": {"running": False}}
            return plain_object(await asyncio.wait_for(client.engine_status(), LIMIT))
        except Exception as error:
            return refusal(error)

    async def engine_restart(self, argument: JsonObject) -> JsonObject:
        try:
            client = await self._link(self.default_folder(text_field(argument, "uri") or None))[0].restart()
            return plain_object(await asyncio.wait_for(client.engine_status(), LIMIT))
        except Exception as error:
            return refusal(error)

    # -- what files show of runs --------------------------------------------------------------

    def records(self, key: str) -> list[RunRecord]:
        """The runs of a file, latest last: older ones may come to be known after newer ones."""
        found = [record for _, watch in self._links.values() for record in watch.runs_of(key)]
        return sorted(found, key=lambda record: record.started_at)

    def views(self, opened: OpenDocument) -> list[ShownRun]:
        """The runs of a file, latest last."""
        uri = opened.document.uri
        return [replace(record.view(), uri=uri) for record in self.records(opened.key) if record.state]

    def findings(self, opened: OpenDocument) -> tuple[Finding, ...]:
        """What the runs said about the file as it is now; of each loop its latest run counts."""
        records = [record for record in self.records(opened.key) if record.state]
        return latest(opened, records) if records else ()

    def opened(self, opened: OpenDocument) -> None:
        """A file was opened: an engine that runs already may know runs of it (UP-74)."""
        if can_run(opened.document.format):
            self._context.tasks.start(self._look(opened), "runs of an opened file")

    async def _look(self, opened: OpenDocument) -> None:
        link, watch = self._link(opened.folder)
        if link.client is not None:
            await watch.look_around(link, uris.real(opened.uri))
        elif link not in self._attaching:
            await self._attach(link)

    async def _attach(self, link: EngineLink) -> None:
        self._attaching.add(link)
        try:
            await link.attach()
        finally:
            self._attaching.discard(link)

    async def close(self) -> None:
        """Let go. The runs go on in the engine."""
        self._show.close()
        links, self._links = self._links, {}
        for link, watch in links.values():
            watch.close()
            await link.close()

    # -- engines ------------------------------------------------------------------------------

    async def engine_of(self, folder: Folder) -> EngineClient:
        """The engine of a folder, started where there is none."""
        return await self._link(folder)[0].connect()

    async def follow(self, run_id: str, new: str) -> None:
        """Show a run that was made of another one where that one is shown."""
        for link, watch in self._links.values():
            record = watch.records.get(run_id)
            if record is not None:
                await watch.track(link, new, opened=self._session.open.get(record.key))

    def _link(self, folder: Folder) -> tuple[EngineLink, RunWatch]:
        path = folder.engine_home
        found = self._links.get(str(path))
        if found is None:
            watch = RunWatch(self._context, self._show)
            surface: Surface = "vscode" if is_vscode(self._client.facts.name) else "editor"
            link = EngineLink(self._access, path, folder.data_dir, watch.listen, self._own, surface)
            found = self._links[str(path)] = (link, watch)
        return found

    def _links_of(self, folders: Iterable[Folder]) -> list[EngineLink]:
        """Each once: folders of one project share their engine."""
        return list(dict.fromkeys(self._link(folder)[0] for folder in folders))

    def _own(self, work: Coroutine[object, None, None], name: str) -> asyncio.Task[None]:
        return self._context.tasks.start(work, name)

    def _path(self, folder: Folder) -> Path:
        return folder.path or Path.cwd()

    def default_folder(self, uri: str | None) -> Folder:
        session = self._session
        if uri is not None:
            return session.folder_of(uri)
        first = next(iter(session.all_folders()), None)
        return first or session.folder_of(uris.from_path(Path.cwd() / "untitled.yaml"))

    async def _clients(self, uri: str | None = None) -> list[EngineClient]:
        """The engines that run already, of one document's folder or of all."""
        session = self._session
        folders = [session.folder_of(uri)] if uri is not None else list(session.all_folders())
        found = []
        for link in self._links_of(folders):
            if (client := await link.find()) is not None:
                found.append(client)
        return found

    async def ask_home(self, run_id: str, ask: Callable[[EngineClient], Awaitable[Mapping[str, object]]]) -> JsonObject:
        """Ask the engine that has the run; of an unknown run, every engine, started where there is none."""
        try:
            for link, watch in self._links.values():
                if run_id in watch.records:
                    return plain_object(await asyncio.wait_for(ask(await link.connect()), LIMIT))
            clients = await self._clients()
            if not clients:
                clients = [await self._link(self.default_folder(None))[0].connect()]
            answer: JsonObject = {}
            for client in clients:
                answer = plain_object(await asyncio.wait_for(ask(client), LIMIT))
                if answer.get("ok") or answer.get("code") != "not_found":
                    return answer
            return answer
        except Exception as error:
            return refusal(error)


def _is_part_of_runs(document: Document) -> bool:
    """Whether a run of another file reads it: as a workflow that it calls, or as its checks and test cases."""
    return document.is_workflow or is_beside(document.format)


def hindrance(opened: OpenDocument) -> JsonObject:
    """Why a document is not run, or an empty object."""
    name = opened.uri.rpartition("/")[2] or "file without a name"
    if uris.to_path(opened.uri) is None:
        sentence = f"`{name}` is not a file on this machine, so it has no project settings and limits."
        return refused("bad_argument", sentence, "Save it in a project folder, then run it.")
    if not opened.document.is_workflow and can_run(opened.document.format):
        return {}  # some of their errors keep no loop from running: the engine says which do
    if not opened.document.is_workflow:
        hint = "A workflow needs `$schema: workflow/v2.0`."
        return refused("bad_argument", f"`{name}` is not a workflow, so it cannot be run.", hint)
    joined = {
        opened.document.absolute(repeated.later.piece, repeated.later.entry.key.span)
        for repeated in opened.document.head.repeated
        if repeated.later.name in SECTIONS
    }
    errors = [
        finding
        for finding in opened.findings
        if finding.severity is Severity.ERROR and not (finding.rule == _REPEATED and finding.span in joined)
    ]
    if not errors:
        return {}
    first = errors[0]
    place = f"line {first.span.start.line + 1}"
    more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
    return refused(
        "file_has_errors",
        f"`{name}` has errors, {place}: {first.rule}: {first.message}{more}",
        "Fix the errors, then run it again.",
        errors=len(errors),
    )


def latest(opened: OpenDocument, records: list[RunRecord]) -> tuple[Finding, ...]:
    """Findings of the newest run of each loop, in the order of the file."""
    found: dict[Span, Finding] = {}
    views = [record.view_for(opened.document) for record in records]
    whole = [view for view in views if view.kind == "workflow"]
    for view in views:
        if view.rounds is not None and view is not whole[-1]:
            continue  # what failed in rounds is no news once the workflow was run again
        for finding in run_findings(opened.document, view):
            found[finding.span] = finding
    return tuple(sorted(found.values(), key=lambda finding: finding.span))
