"""Edits of enhance loops between a server and an editor's buffer, in one process and without an engine."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.enhance.edit_target import Sent, edit_sent, edits_wire
from loop_ls.engine.enhance.plan.bundle import Bundle
from loop_ls.server.documents.position_mapping import PositionMapping
from loop_ls.server.documents.replace_text import replace_texts
from loop_ls.server.language_server import LoopServer
from loop_ls.server.runs.context import RunContext
from loop_ls.server.runs.enhance_session import Rounds
from loop_ls.server.runs.progress import ending, report
from loop_ls.server.runs.run_record import RunRecord
from loop_ls.text.hash import hash_of, text_hash
from loop_ls.text.lines import Text
from loop_ls.text.position import Span
from tests.engine.enhance.loops import applied

Json = dict[str, Any]
FLOW = """\
$schema: workflow/v2.0
name: report
version: 1.0.0
execution: {provider: acme, model: large}
steps:
  - name: draft   # 😀
    run: Write about {{input}}
"""


def rounds_of(buffer: Buffer) -> Rounds:
    own = buffer.server.context
    context = RunContext(own.session, own.client, own.tasks, own.texts, own.refresh, own.publisher)
    return Rounds(context, own.runs.get())


class Buffer:
    """The editor's side: takes edits as they come over the wire and tells the server what it holds then."""

    def __init__(self, folder: Path, takes: str = "applied") -> None:
        self.server, self.takes = LoopServer(None), takes
        self.server.protocol.writer = self
        self.uri, self.version, self.text = (folder / "report.yaml").as_uri(), 1, FLOW
        self.asked: list[Json] = []
        self.heard: list[Json] = []

    def begin(self, **able: Any) -> None:
        self.inbox = self.server.listen()
        workspace = {"applyEdit": True, "workspaceEdit": {"documentChanges": True, **able}}
        self.send({"id": 1, "method": "initialize", "params": {"capabilities": {"workspace": workspace}}})
        self.send({"method": "initialized", "params": {}})
        document = {"uri": self.uri, "languageId": "yaml", "version": 1, "text": FLOW}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def send(self, message: Json) -> None:
        self.inbox.receive([{"jsonrpc": "2.0", **message}])

    def write(self, data: bytes) -> None:
        message = json.loads(data)
        self.heard.append(message)
        if message.get("method") == "workspace/applyEdit":
            self.asked.append(message)
            asyncio.get_running_loop().call_soon(self._take, message)

    def close(self) -> None:
        return None

    def _take(self, message: Json) -> None:
        [change] = message["params"]["edit"]["documentChanges"]
        stale = change["textDocument"]["version"] != self.version
        if not stale and self.takes == "applied":
            for edit in reversed(change["edits"]):
                self.type(edit["range"], edit["newText"])
        self.send({"id": message["id"], "result": {"applied": not stale}})

    def type(self, range_: Json, new: str) -> None:
        lines = self.text.splitlines(keepends=True)

        def offset(at: Json) -> int:
            before = sum(map(len, lines[: at["line"]]))
            line = lines[at["line"]] if at["line"] < len(lines) else ""
            return before + len(line.encode("utf-16-le")[: 2 * at["character"]].decode("utf-16-le"))

        start, end = offset(range_["start"]), offset(range_["end"])
        self.text = self.text[:start] + new + self.text[end:]
        self.version += 1
        document = {"uri": self.uri, "version": self.version}
        changes = [{"range": range_, "text": new}]
        self.send({"method": "textDocument/didChange", "params": {"textDocument": document, "contentChanges": changes}})

    @property
    def held(self) -> str:
        """What the server takes the document for."""
        opened = self.server.context.session.find(self.uri)
        assert opened is not None
        return str(opened.document.text)


def sent(base: str, text: str) -> Json:
    one = Sent("plan", "Enhance round 2: 1 change", base, text)
    return {
        "planId": "plan",
        "label": one.label,
        "edits": edits_wire(one),
        "baseSha256": text_hash(base),
        "textSha256": text_hash(text),
    }


async def told(buffer: Buffer, fact: Json) -> Json:
    opened = buffer.server.context.session.find(buffer.uri)
    assert opened is not None
    return await rounds_of(buffer)._taken(opened, fact)


async def test_UP_23_an_edit_is_applied_once_by_the_editor_alone(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path)
    buffer.begin()
    for number in range(50):
        text = buffer.text.replace("run: ", f"run: {number} ")
        answer = await told(buffer, sent(buffer.text, text))
        assert answer == {"outcome": "applied", "text": text}
        assert buffer.held == buffer.text == text
    assert [one["params"]["edit"]["documentChanges"][0]["textDocument"]["version"] for one in buffer.asked] == [
        *range(1, 51)
    ]


@pytest.mark.parametrize("able", [{}, {"changeAnnotationSupport": {}}])
async def test_EB_067_all_changes_of_a_batch_arrive_together(tmp_path: Path, able: Json) -> None:
    buffer = Buffer(tmp_path)
    buffer.begin(**able)
    text = FLOW.replace("1.0.0", "1.0.1").replace("Write", "Tell")
    assert (await told(buffer, sent(FLOW, text)))["outcome"] == "applied"
    assert buffer.text == text
    [request] = buffer.asked
    [change] = request["params"]["edit"]["documentChanges"]
    assert len(change["edits"]) == 2


async def test_an_edit_for_another_text_is_not_sent(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path)
    buffer.begin()
    fact = sent(FLOW, FLOW.replace("Write", "Tell"))
    at = {"line": 6, "character": 9}
    buffer.type({"start": at, "end": at}, "Please ")
    answer = await told(buffer, fact)
    assert (answer["outcome"], answer["text"]) == ("stale", buffer.text)
    assert buffer.asked == []


async def test_what_is_there_already_is_taken_for_applied(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path)
    buffer.begin()
    assert await told(buffer, sent("an older text\n", FLOW)) == {"outcome": "applied", "text": FLOW}
    assert buffer.asked == []


async def test_EB_061_a_yes_alone_is_no_arrival(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("loop_ls.server.runs.enhance_session._SEEN_IN", 0.01)
    buffer = Buffer(tmp_path, "silent")
    buffer.begin()
    answer = await told(buffer, sent(FLOW, FLOW.replace("Write", "Tell")))
    assert answer["outcome"] == "no_change_seen"


@pytest.mark.parametrize(("token", "user", "taken"), [("", "eve", 0), ("", None, 1), ("t", "eve", 1), ("t", None, 0)])
async def test_an_editor_takes_no_edit_of_a_loop_that_somebody_else_started(
    tmp_path: Path, monkeypatch: Any, token: str, user: str | None, taken: int
) -> None:
    """Whoever has a token of their own may start a loop on a file that the owner has open."""
    monkeypatch.setenv("LOOP_LS_TOKEN", token)
    buffer, said = Buffer(tmp_path), []

    async def say(self: Rounds, record: RunRecord, verb: str, given: Json) -> None:
        said.append(verb)

    monkeypatch.setattr(Rounds, "_say", say)
    buffer.begin()
    rounds = rounds_of(buffer)
    opened = buffer.server.context.session.find(buffer.uri)
    assert opened is not None
    record = RunRecord("r1", key=opened.key)
    assert record.take({"kind": "run_started", "format": "enhance", "seq": 1})
    fact = {**sent(FLOW, FLOW.replace("Write", "Tell")), "kind": "edit_sent", "question": "q1", "seq": 2}
    assert record.take(fact)
    record.state = {"status": "running", "question": {"kind": "edit_sent", "question": "q1", "planId": "plan"}}
    record.state |= {} if user is None else {"user": user}
    rounds.look(record)
    await asyncio.gather(*rounds._open.values())
    assert (len(buffer.asked), len(said)) == (taken, taken)
    assert (buffer.text == FLOW) == (not taken)


CALLED = FLOW.replace("report", "write")


class TwoBuffers(Buffer):
    """An editor that opens what an edit changes and is not open, as editors do, and applies all of it or nothing."""

    def __init__(self, folder: Path, takes: str = "applied") -> None:
        super().__init__(folder, takes)
        self.called = folder / "write.yaml"
        self.called.write_text(CALLED)
        self.shown: dict[str, str] = {}

    def _take(self, message: Json) -> None:
        changes = message["params"]["edit"]["documentChanges"]
        self.send({"id": message["id"], "result": {"applied": True}})
        for change in changes if self.takes == "applied" else ():
            uri = change["textDocument"]["uri"]
            if uri == self.uri:
                for edit in reversed(change["edits"]):
                    self.type(edit["range"], edit["newText"])
            else:
                assert change["textDocument"]["version"] is None
                document = {"uri": uri, "languageId": "yaml", "version": 1, "text": CALLED}
                self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
                self.shown[uri] = applied(CALLED, change)
                whole = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": self.shown[uri]}]}
                self.send({"method": "textDocument/didChange", "params": whole})


def sent_of_two(buffer: TwoBuffers, report: str, write: str) -> Json:
    bundle = Bundle("report.yaml", ("write.yaml",))
    base = bundle.joined({"report.yaml": FLOW, "write.yaml": CALLED})
    text = bundle.joined({"report.yaml": report, "write.yaml": write})
    one = Sent("plan", "Enhance round 2: 2 changes", base, text, bundle=bundle)
    uris = {"write.yaml": buffer.called.as_uri()}
    numbers: Any = {"round": 1, "max_rounds": 3, "spent_usd": 0.0, "cap_usd": 5.0}
    return edit_sent(one, numbers, buffer.uri, uris).model_dump(by_alias=True)


async def told_of_two(buffer: TwoBuffers, fact: Json) -> Json:
    return await rounds_of(buffer)._taken_together(fact, fact["files"])


REPORT, WRITE = FLOW.replace("Write", "Tell"), CALLED.replace("Write", "Say")


async def test_the_first_texts_of_several_files_come_back_as_one_edit(tmp_path: Path) -> None:
    buffer = TwoBuffers(tmp_path)
    buffer.begin()
    own = buffer.server.context
    held = [own.session.held(uri) for uri in (buffer.uri, buffer.called.as_uri())]
    texts = [(one, text) for one, text in zip(held, (REPORT, WRITE), strict=True) if one is not None]
    assert await replace_texts(own.session, own.client, texts, "Enhance: restore round 1") is None
    assert len(buffer.asked) == 1
    assert (buffer.text, buffer.shown) == (REPORT, {buffer.called.as_uri(): WRITE})


@pytest.mark.parametrize("able", [{}, {"changeAnnotationSupport": {}}])
async def test_EB_132_several_files_are_one_edit_and_each_is_looked_at(tmp_path: Path, able: Json) -> None:
    buffer = TwoBuffers(tmp_path)
    buffer.begin(**able)
    answer = await told_of_two(buffer, sent_of_two(buffer, REPORT, WRITE))
    assert (answer["outcome"], json.loads(answer["text"])) == (
        "applied",
        {"report.yaml": REPORT, "write.yaml": WRITE},
    )
    assert len(buffer.asked) == 1  # one edit is one undo
    assert buffer.called.read_text() == CALLED  # nothing is saved for anybody


async def test_EB_132_a_file_that_does_not_change_is_not_touched(tmp_path: Path) -> None:
    buffer = TwoBuffers(tmp_path)
    buffer.begin()
    assert (await told_of_two(buffer, sent_of_two(buffer, FLOW, WRITE)))["outcome"] == "applied"
    [request] = buffer.asked
    [change] = request["params"]["edit"]["documentChanges"]
    assert change["textDocument"]["uri"] == buffer.called.as_uri()


async def test_EB_132_a_yes_without_the_change_of_each_file_is_no_arrival(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("loop_ls.server.runs.enhance_session._SEEN_IN", 0.01)
    buffer = TwoBuffers(tmp_path, "silent")
    buffer.begin()
    assert (await told_of_two(buffer, sent_of_two(buffer, REPORT, WRITE)))["outcome"] == "no_change_seen"
    buffer.called.write_text(CALLED + "# mine\n")
    stale = await told_of_two(buffer, sent_of_two(buffer, REPORT, WRITE))
    assert (stale["outcome"], json.loads(stale["text"])) == (
        "stale",
        {"report.yaml": FLOW, "write.yaml": CALLED + "# mine\n"},
    )


async def test_EB_132_an_editor_that_writes_what_is_not_open_has_done_it_too(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("loop_ls.server.runs.enhance_session._SEEN_IN", 0.01)
    buffer = TwoBuffers(tmp_path)
    monkeypatch.setattr(TwoBuffers, "_take", lambda self, message: self._write(message), raising=False)
    monkeypatch.setattr(TwoBuffers, "_write", _written, raising=False)
    buffer.begin()
    answer = await told_of_two(buffer, sent_of_two(buffer, FLOW, WRITE))
    assert (answer["outcome"], json.loads(answer["text"])["write.yaml"]) == ("applied", WRITE)


def _written(self: TwoBuffers, message: Json) -> None:
    self.called.write_text(WRITE)
    self.send({"id": message["id"], "result": {"applied": True}})


async def test_a_state_that_is_ahead_of_its_facts_is_looked_at_again(tmp_path: Path, monkeypatch: Any) -> None:
    buffer, said = Buffer(tmp_path), asyncio.Event()
    buffer.begin()

    async def say(self: Rounds, record: RunRecord, verb: str, given: Json) -> None:
        said.set()

    monkeypatch.setattr(Rounds, "_say", say)
    rounds = rounds_of(buffer)
    opened = buffer.server.context.session.find(buffer.uri)
    assert opened is not None
    record = RunRecord("r1", key=opened.key)
    assert record.take({"kind": "run_started", "format": "enhance", "seq": 1})
    record.state = {"status": "running", "question": {"kind": "edit_sent", "question": "q1", "planId": "plan"}}
    rounds.look(record)
    await asyncio.gather(*rounds._open.values())
    fact = {**sent(FLOW, FLOW.replace("Write", "Tell")), "kind": "edit_sent", "question": "q1", "seq": 2}
    assert record.take(fact)
    rounds.look(record)
    async with asyncio.timeout(60):
        await said.wait()
    assert buffer.held == FLOW.replace("Write", "Tell")


async def test_what_comes_behind_the_last_line_end_is_written_before_it(tmp_path: Path) -> None:
    """Neovim has no line behind the last line end: an insertion there left an empty line."""
    buffer = Buffer(tmp_path)
    buffer.begin()
    text = FLOW + "    max_retries: 2\n"
    assert (await told(buffer, sent(FLOW, text)))["text"] == text
    [change] = buffer.asked[0]["params"]["edit"]["documentChanges"]
    [edit] = change["edits"]
    assert edit["range"]["start"] == {"line": 6, "character": len("    run: Write about {{input}}")}
    assert edit["newText"] == "\n    max_retries: 2"


@pytest.mark.parametrize("base", ["a\nb", "a\r\nb\r\n", "a\nb\r\n", "", "\n", "a\n"])
@pytest.mark.parametrize("new", ["c\n", "c\r\n", "c", "\n"])
def test_an_edit_at_the_end_means_the_same_however_it_is_told(base: str, new: str) -> None:
    text = Text.of(base)
    places = PositionMapping(text, "utf-16")
    told = places.edit(Span(text.end, text.end), new)
    assert str(text.edit(places.read_range(told["range"]), told["newText"])) == base + new


async def test_a_loop_that_fails_like_before_is_warned_of_once_for_each_round(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path)
    buffer.begin()
    rounds, record = rounds_of(buffer), RunRecord("r1")
    record.state = {"status": "running", "format": "enhance", "name": "report", "iteration": 2, "maxIterations": 3}
    rounds.look(record)
    for number in (2, 2, 3):
        record.state = {**record.state, "label": "fixation-risk", "iteration": number}
        rounds.look(record)
    record.state = {**record.state, "status": "completed", "iteration": 4}
    rounds.look(record)
    told = [one["params"] for one in buffer.heard if one.get("method") == "window/showMessage"]
    assert [one["type"] for one in told] == [2, 2]
    assert [one["message"].partition(" failed")[0] for one in told] == ["Round 2 of `report`", "Round 3 of `report`"]
    assert ["the next one costs about the same" in one["message"] for one in told] == [True, False]


def test_progress_tells_the_round_the_money_and_what_is_done() -> None:
    common = {"round": 2, "maxRounds": 3, "spentUsd": 1.09, "capUsd": 5.0}
    record = RunRecord("r1", state={"format": "enhance", "status": "running", "name": "report"})
    assert record.take({"kind": "run_started", "format": "enhance", "seq": 1})
    assert record.take({"kind": "round_started", **common, "seq": 2})
    assert report(record) == {"message": "Round 2 of 3 · $1.09 of $5.00", "percentage": 33}
    assert record.take({"kind": "planner_started", **common, "seq": 3})
    assert report(record)["message"] == "Round 2 of 3 · $1.09 of $5.00 · planning changes"
    assert record.take({"kind": "completed", "reason": "budget", "seq": 4})
    assert ending(record) == "◼ gave up after 2 rounds: budget used up · $1.09"


@pytest.mark.parametrize(("wait", "said"), [(0.0, ["stale"]), (60.0, [])])
async def test_a_window_with_another_text_lets_one_that_can_take_the_edit_answer_first(
    tmp_path: Path, monkeypatch: Any, wait: float, said: list[str]
) -> None:
    monkeypatch.setattr("loop_ls.server.runs.enhance_session._OTHER_WINDOW", wait)
    buffer, heard = Buffer(tmp_path), list[str]()

    async def say(self: Rounds, record: RunRecord, verb: str, given: Json) -> None:
        heard.append(given["outcome"])

    monkeypatch.setattr(Rounds, "_say", say)
    buffer.begin()
    rounds, opened = rounds_of(buffer), buffer.server.context.session.find(buffer.uri)
    assert opened is not None
    record = RunRecord("r1", key=opened.key)
    assert record.take({"kind": "run_started", "format": "enhance", "seq": 1})
    fact = {**sent("an older text\n", FLOW.replace("Write", "Tell")), "kind": "edit_sent", "question": "q1", "seq": 2}
    assert record.take(fact)
    record.state = {"status": "running", "question": {"kind": "edit_sent", "question": "q1", "planId": "plan"}}
    rounds.look(record)
    [work] = rounds._open.values()
    if wait:
        await asyncio.sleep(0)
        record.state = {"status": "running"}  # the other window has answered
        rounds.look(record)
    await asyncio.gather(work, return_exceptions=True)
    assert (heard, buffer.asked) == (said, [])


async def test_a_client_that_shows_runs_in_its_own_way_gets_no_markdown(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path)
    buffer.begin()
    buffer.server.context.session.shows_runs = True
    await rounds_of(buffer)._show(RunRecord("r1"))
    told = [one for one in buffer.heard if one.get("method") in ("loopLs/show", "window/showDocument")]
    assert [(one["method"], one["params"]) for one in told] == [("loopLs/show", {"runId": "r1", "tab": "round"})]


@pytest.mark.parametrize(
    ("typed", "reason", "seen", "warned"),
    [
        (True, "converged", True, 1),
        (False, "converged", True, 0),
        (True, "max_rounds", True, 0),
        (True, "converged", False, 0),
    ],
    ids=["typed", "untouched", "gave up", "ended before"],
)
async def test_a_loop_that_converged_on_another_text_than_the_editor_has_is_told(
    typed: bool, reason: str, seen: bool, warned: int, tmp_path: Path
) -> None:
    """Not saved, it is nothing that an engine can see."""
    buffer = Buffer(tmp_path)
    buffer.begin()
    opened = buffer.server.context.session.find(buffer.uri)
    assert opened is not None
    rounds, record = rounds_of(buffer), RunRecord("r1", key=opened.key)
    record.state = {"status": "running", "format": "enhance", "name": "report"}
    ready = {"kind": "report_ready", "round": 1, "report": {"workflow": {"text_sha256": text_hash(FLOW)}}}
    facts: list[Json] = [{"kind": "run_started", "format": "enhance"}, {"kind": "round_started", "round": 1}, ready]
    for number, fact in enumerate([*facts, {"kind": "completed", "reason": reason}], 1):
        if typed and fact is ready:
            at = {"line": 6, "character": 9}
            buffer.type({"start": at, "end": at}, "Please ")
        assert record.take({**fact, "seq": number})
        if seen:
            rounds.look(record)
    rounds.look(record)
    said = [one for one in buffer.heard if one.get("method") == "window/showMessage"]
    assert len(said) == warned


def ended_on(buffer: TwoBuffers, folder: Path, reason: str = "converged") -> list[str]:
    """What people are told at the end of a loop that ran the texts of round 1."""
    files = {"report.yaml": hash_of(FLOW), "write.yaml": hash_of(CALLED)}
    opened = buffer.server.context.session.find(buffer.uri)
    assert opened is not None
    record, rounds = RunRecord("r1", key=opened.key), rounds_of(buffer)
    begun = {"format": "enhance", "name": "report", "root": str(folder), "path": "report.yaml", "files": files}
    report = {"workflow": {"text_sha256": text_hash(FLOW)}}
    facts: list[Json] = [
        {"kind": "run_started", **begun},
        {"kind": "round_started", "round": 1},
        {"kind": "report_ready", "round": 1, "report": report, "failures": []},
        {"kind": "completed", "reason": reason},
    ]
    record.state = {"status": "running", "format": "enhance", "name": "report"}
    for seq, fact in enumerate(facts, 1):
        assert record.take({**fact, "seq": seq})
        rounds.look(record)
    heard = [one["params"]["message"] for one in buffer.heard if one.get("method") == "window/showMessage"]
    return [one for one in heard if "converged on a version that differs" in one]


def typed(buffer: TwoBuffers, uri: str, text: str) -> None:
    document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
    buffer.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})


async def test_a_loop_that_converged_on_what_the_editor_holds_says_no_more(tmp_path: Path) -> None:
    buffer = TwoBuffers(tmp_path)
    buffer.begin()
    typed(buffer, buffer.called.as_uri(), CALLED)
    assert ended_on(buffer, tmp_path) == []


@pytest.mark.parametrize("changed", ["report.yaml", "write.yaml"])
async def test_unsaved_text_of_the_last_round_is_told_of_any_file_of_the_loop(tmp_path: Path, changed: str) -> None:
    buffer = TwoBuffers(tmp_path)
    buffer.begin()
    if changed == "report.yaml":
        at = {"line": 6, "character": 9}
        buffer.type({"start": at, "end": at}, "Please ")
    else:
        typed(buffer, buffer.called.as_uri(), CALLED + "# mine\n")
    [told] = ended_on(buffer, tmp_path)
    assert f"`{changed}` was changed while the last round ran" in told
    assert ended_on(buffer, tmp_path, "max_rounds") == [told]
