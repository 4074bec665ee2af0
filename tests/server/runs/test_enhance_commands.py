"""Enhance loops as an editor meets them: a real server and a real engine, a scripted planner, and an
editor that takes edits, or does not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.support.editor import CAPABILITIES
from tests.server.support.engine import stop_engine
from tests.server.support.raw import RawClient, insert

Json = dict[str, Any]
#: Seconds for anything: an engine starts, and plans, at the pace of the machine.
LIMIT = 120.0
FLOW = """\
$schema: workflow/v2.0
name: report
version: 1.0.0
execution: {provider: script, model: any}
steps:
  # the first words
  - name: draft
    run: Write about {{input}}
  - name: review
    needs: [draft]
    run: Review {{draft}}
  - name: publish
    run: Publish {{review}}
"""
KIND = FLOW.replace("Review {{draft}}", "Review {{draft}} kindly")
CHOICES = ("▶ Continue to next round", "▶ Try again", "Run without changes", "⏹ Stop")
SETTINGS = "# of this project\nproviders:\n  script: {kind: scripted}   # no key\n"
PLAN = {
    "rationale": "The review is refused without a tone.",
    "ops": [{"op": "set_instructions", "target": "review", "run": "Review {{draft}} kindly", "reason": "a tone"}],
}
ANSWERS = f"""\
answers:
  - when: {{step: review, contains: kindly}}
    say: A good review.
  - when: {{step: review}}
    say: {{fail: bad_answer}}
  - when: {{purpose: planner}}
    say: '{json.dumps(PLAN)}'
  - say: fine
"""
EDITS = {
    **CAPABILITIES,
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {}},
        "codeLens": {"refreshSupport": True},
    },
}


class Editor:
    """Holds the buffer of one document, and takes edits as `takes` says."""

    def __init__(self, client: RawClient, folder: Path, capabilities: Json, settings: str) -> None:
        folder.mkdir(exist_ok=True)
        self.client, self.folder = client, folder
        self._seen = 0
        self.path, self.settings = folder / "report.yaml", folder / ".loop-ls.yaml"
        self.path.write_text(FLOW)
        self.settings.write_text(settings)
        (folder / "report.answers.yaml").write_text(ANSWERS)
        self.uri, self.version, self.buffer = self.path.as_uri(), 1, FLOW
        client.begin(capabilities, folder)
        client.open(self.uri, FLOW)

    def command(self, name: str, **argument: Any) -> Json:
        params = {"command": f"loopLs.{name}", "arguments": [argument]}
        found: Json = self.client.ask("workspace/executeCommand", params, LIMIT)["result"]
        return found

    def start(self) -> Json:
        return self.agreed("enhance.start", uri=self.uri, input="tea", mock=False)

    def agreed(self, name: str, **argument: Any) -> Json:
        """Start, and agree to what it uses."""
        answer = self.command(name, **argument)
        if answer.get("code") == "consent_required":
            answer = self.command(name, **argument, consent=answer["nonce"])
        return answer

    def asked(self, method: str, number: int = 0) -> Json:
        """The request of the server with this number."""

        def wanted(message: Json) -> bool:
            nonlocal number
            if message.get("method") == method and "id" in message:
                number -= 1
                return number < 0
            return False

        return self.client.wait(wanted, LIMIT)

    def answer(self, request: Json, result: Any) -> None:
        self.client.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def take(self, request: Json) -> None:
        """What an editor does with an edit of one document: buffer, change, answer."""
        [change] = request["params"]["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": self.uri, "version": self.version}
        edits = change["edits"]
        lines = self.buffer.splitlines(keepends=True)

        def offset(at: Json) -> int:
            return sum(map(len, lines[: at["line"]])) + int(at["character"])

        for edit in reversed(edits):
            start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
            self.buffer = self.buffer[:start] + edit["newText"] + self.buffer[end:]
        self.version += 1
        changes = [{"range": edit["range"], "text": edit["newText"]} for edit in reversed(edits)]
        self.client.change(self.uri, self.version, *changes)
        self.answer(request, {"applied": True})

    def type(self, line: int, character: int, text: str) -> None:
        self.version += 1
        lines = self.buffer.splitlines(keepends=True)
        lines[line] = lines[line][:character] + text + lines[line][character:]
        self.buffer = "".join(lines)
        self.client.change(self.uri, self.version, insert(line, character, text))

    def event(self, kind: str, **fields: Any) -> Json:
        def wanted(message: Json) -> bool:
            params = message.get("params") or {}
            hit = message.get("method") == "loopLs/event" and params.get("kind") == kind
            return hit and all(params.get(name) == value for name, value in fields.items())

        found: Json = self.client.wait(wanted, LIMIT)["params"]
        return found

    def run_diagnostics(self, wanted: Callable[[list[Json]], bool]) -> list[Json]:
        """Of the round, once they are as wanted after all that came before."""

        def of_runs(message: Json) -> list[Json] | None:
            if message.get("method") != "textDocument/publishDiagnostics":
                return None
            found = [each for each in message["params"]["diagnostics"] if each["source"] == "loop-run"]
            return [each for each in found if str(each.get("data", "")).endswith(":bad_output")]

        def hit(message: Json) -> bool:
            found = of_runs(message)
            return found is not None and wanted(found)

        message = self.client.wait(hit, LIMIT, self._seen)
        self._seen = self.client.received.index(message) + 1
        return of_runs(message) or []

    def events(self, kind: str) -> list[Json]:
        messages = [one for one in self.client.received if one.get("method") == "loopLs/event"]
        return [one["params"] for one in messages if one["params"]["kind"] == kind]


@pytest.fixture
def editor(server: RawClient, tmp_path: Path) -> Iterator[Callable[..., Editor]]:
    def start(capabilities: Json = EDITS, settings: str = SETTINGS) -> Editor:
        return Editor(server, tmp_path / "project", capabilities, settings)

    yield start
    stop_engine(tmp_path / "data")


def test_an_edit_is_taken_and_the_next_round_converges(editor: Callable[..., Editor]) -> None:
    one = editor()
    assert one.start()["ok"]
    request = one.asked("workspace/applyEdit")
    assert request["params"]["label"] == "Enhance round 2: 1 change"
    one.take(request)
    end = one.event("completed")
    assert (end["reason"], one.buffer) == ("converged", KIND)
    assert one.path.read_text() == FLOW


def test_EB_067_a_batch_is_one_edit_of_one_document(editor: Callable[..., Editor]) -> None:
    one = editor()
    one.start()
    edit = one.asked("workspace/applyEdit")["params"]["edit"]
    assert len(edit["documentChanges"]) == 1
    [note] = edit["changeAnnotations"].values()
    assert note["needsConfirmation"] is False
    assert "set_instructions review: a tone" in note["description"]


def test_EB_062_why_an_editor_refused_stands_in_the_timeline(editor: Callable[..., Editor]) -> None:
    one = editor()
    one.start()
    one.answer(one.asked("workspace/applyEdit"), {"applied": False, "failureReason": "the file is read-only"})
    question = one.asked("window/showMessageRequest")
    assert "the file is read-only" in question["params"]["message"]
    assert [action["title"] for action in question["params"]["actions"]] == ["Try again", "Run without changes", "Stop"]
    told = one.command("enhance.timeline", uri=one.uri)
    assert told["rounds"][0]["applied"] == []
    assert "the file is read-only" in told["markdown"]
    one.answer(question, {"title": "Stop"})
    assert one.event("completed")["reason"] == "apply_rejected"


def test_EB_063_a_document_that_moved_on_gets_the_edit_for_its_text(editor: Callable[..., Editor]) -> None:
    one = editor(settings=SETTINGS + "enhance: {pauseBetweenRounds: true}\n")
    one.start()
    question = one.asked("window/showMessageRequest")
    one.type(7, 9, "Please w")
    one.answer(question, {"title": "Continue to next round"})
    one.take(one.asked("workspace/applyEdit"))
    assert one.event("completed")["reason"] == "converged"
    assert one.buffer == KIND.replace("run: Write", "run: Please wWrite")


def test_EB_065_an_editor_that_takes_no_edits_starts_no_loop(editor: Callable[..., Editor]) -> None:
    one = editor(CAPABILITIES)
    answer = one.start()
    assert (answer["ok"], answer["code"]) == (False, "bad_argument")
    assert "loop-ls enhance" in answer["hint"]


def test_EB_091_a_running_round_holds_nothing_up(editor: Callable[..., Editor]) -> None:
    one = editor()
    (one.folder / "report.answers.yaml").write_text("delay: 60\n" + ANSWERS)
    one.start()
    one.event("round_started")
    at = {"textDocument": {"uri": one.uri}, "position": {"line": 12, "character": 4}}
    for _ in range(20):
        assert one.client.ask("textDocument/completion", at, LIMIT)["result"]
    assert one.events("round_finished") == []


def test_EB_122_after_a_pause_no_edit_asks_once_more(editor: Callable[..., Editor]) -> None:
    one = editor(settings=SETTINGS + "enhance: {pauseBetweenRounds: true}\n")
    one.start()
    one.answer(one.asked("window/showMessageRequest"), {"title": "Continue to next round"})
    edit = one.asked("workspace/applyEdit")["params"]["edit"]
    assert [note["needsConfirmation"] for note in edit["changeAnnotations"].values()] == [False]


def test_EB_113_the_switch_is_one_line_of_the_settings(editor: Callable[..., Editor]) -> None:
    one = editor()
    answer = one.command("enhance.enable", uri=one.uri, enabled=True, overrides={"budgetCapUsd": 1})
    assert answer["ok"]
    added = "enhance:\n  workflows:\n    report:\n      enabled: true\n      budgetCapUsd: 1\n"
    assert one.settings.read_text() == SETTINGS + added
    assert one.path.read_text() == FLOW
    lenses = one.client.ask("textDocument/codeLens", {"textDocument": {"uri": one.uri}}, LIMIT)["result"]
    assert lenses[0]["command"]["title"] == "Enhance: on"
    off = one.command("enhance.enable", uri=one.uri, enabled=False, overrides={"budgetCapUsd": 5.0})
    assert off["ok"]
    assert one.settings.read_text() == SETTINGS


def test_one_yes_agrees_to_the_workflow_and_its_planner(editor: Callable[..., Editor]) -> None:
    """They are asked at different places, and nothing was agreed to before."""
    at = "  {name}: {{kind: openai, baseUrl: 'http://127.0.0.1:{port}/v1', apiKeyEnv: HOME}}\n"
    providers = "providers:\n" + at.format(name="works", port=9) + at.format(name="plans", port=7)
    one = editor(settings=providers + "enhance: {plannerProvider: plans, plannerModel: wise}\n")
    one.path.write_text(FLOW.replace("provider: script,", "provider: works,"))
    one.client.change(one.uri, 2, {"text": one.path.read_text()})
    asked = one.command("enhance.start", uri=one.uri, input="tea", mock=False)
    assert asked["code"] == "consent_required"
    question = one.asked("window/showMessageRequest")
    assert [f"127.0.0.1:{port}" in question["params"]["message"] for port in (7, 9)] == [True, True], question
    one.answer(question, {"title": "Allow and run"})
    started = one.event("run_started")
    assert started["format"] == "enhance"
    one.command("stop", runId=started["runId"])


def test_an_enabled_workflow_is_run_in_rounds(editor: Callable[..., Editor]) -> None:
    one = editor()
    one.command("enhance.enable", uri=one.uri, enabled=True)
    assert one.agreed("run", uri=one.uri, input="tea")["ok"]
    assert one.event("run_started")["format"] == "enhance"
    one.take(one.asked("workspace/applyEdit"))
    assert one.event("completed")["reason"] == "converged"


def test_EB_115_the_setup_says_what_would_hold(editor: Callable[..., Editor]) -> None:
    one = editor()
    answer = one.command("enhance.setup")
    shown = {name: answer["defaults"][name] for name in answer["fields"]}
    assert shown == {
        "maxRounds": 3,
        "budgetCapUsd": 5.0,
        "convergenceMode": "strict",
        "pauseBetweenRounds": False,
        "plannerProvider": "inherit",
        "plannerModel": "inherit",
    }
    assert "works reliably" in answer["advice"]
    assert one.settings.read_text() == SETTINGS


def test_EB_116_and_002_what_is_wrong_is_not_taken(editor: Callable[..., Editor]) -> None:
    one = editor(settings=SETTINGS + "enhance: {maxRounds: 4}\n")
    answer = one.command("enhance.setup", values={"maxRounds": 21, "budgetCapUsd": 2})
    assert answer["problems"] == [{"name": "maxRounds", "message": "`maxRounds` must be from 1 to 20"}]
    assert (answer["values"]["maxRounds"], answer["values"]["budgetCapUsd"]) == (4, 2)
    assert one.settings.read_text() == SETTINGS + "enhance: {maxRounds: 4, budgetCapUsd: 2}\n"


def test_the_text_of_the_first_round_comes_back(editor: Callable[..., Editor]) -> None:
    one = editor()
    one.start()
    one.take(one.asked("workspace/applyEdit"))
    one.event("completed")
    params = {"command": "loopLs.enhance.revert", "arguments": [{"uri": one.uri}]}
    one.client.send({"jsonrpc": "2.0", "id": "revert", "method": "workspace/executeCommand", "params": params})
    one.take(one.asked("workspace/applyEdit", 1))
    assert one.client.answer("revert", LIMIT)["result"] == {"ok": True, "changed": True}
    assert one.buffer == FLOW


def test_what_the_commands_answer_without_a_loop(editor: Callable[..., Editor]) -> None:
    one = editor()
    for name in ("continue", "skipEdits", "stop", "status", "timeline", "revert"):
        answer = one.command(f"enhance.{name}", uri=one.uri)
        assert (answer["ok"], answer["code"]) == (False, "not_found"), name
    assert one.command("enhance.feedback", uri=one.uri)["code"] == "bad_argument"


def test_a_pause_is_answered_by_a_command_too(editor: Callable[..., Editor]) -> None:
    quiet = {**EDITS, "window": {"workDoneProgress": False}}
    one = editor(quiet, SETTINGS + "enhance: {pauseBetweenRounds: true}\n")
    one.start()
    one.event("loop_paused")
    [failed] = one.run_diagnostics(lambda found: "1:review:bad_output" in [each["data"] for each in found])
    assert (failed["code"], failed["range"]["start"]["line"]) == ("bad_output", 8)
    lenses = one.client.ask("textDocument/codeLens", {"textDocument": {"uri": one.uri}}, LIMIT)["result"]
    titles = [lens["command"]["title"] for lens in lenses if lens["range"]["start"]["line"] == 0]
    assert titles == [
        *("▶ Continue to next round", "Open run", "Show changes", "Run without changes", "⏹ Stop"),
        "Round 1 of 3 · $0 of $5.00 · waiting for you",
    ]
    assert "+    run: Review {{draft}} kindly" in one.command("enhance.timeline", uri=one.uri)["markdown"]
    place = {"line": 1, "character": 0}
    about = {"textDocument": {"uri": one.uri}, "range": {"start": place, "end": place}}
    wanted = {"diagnostics": [], "only": ["source.enhance"]}
    actions = one.client.ask("textDocument/codeAction", {**about, "context": wanted}, LIMIT)["result"]
    assert [action["command"] for action in actions] == ["loopLs.enhance.timeline"]
    status = one.command("enhance.status", uri=one.uri)["state"]
    assert (status["state"], status["round"]) == ("awaiting_user", 1)
    assert one.command("enhance.continue", uri=one.uri)["ok"]
    one.take(one.asked("workspace/applyEdit"))
    assert one.event("completed")["reason"] == "converged"
    one.run_diagnostics(lambda found: not found)
    assert not [one_ for one_ in one.client.received if one_.get("method") == "window/showMessageRequest"]


def test_the_change_of_a_pause_is_skipped_and_the_loop_stopped_by_commands(editor: Callable[..., Editor]) -> None:
    quiet = {**EDITS, "window": {"workDoneProgress": False}}
    one = editor(quiet, SETTINGS + "enhance: {pauseBetweenRounds: true, maxRounds: 5, onFixation: warn}\n")
    run_id = one.start()["runId"]
    one.event("loop_paused", round=1)
    assert one.command("enhance.skipEdits", uri=one.uri)["ok"]
    one.event("loop_paused", round=2)
    stopped = one.command("enhance.stop", uri=one.uri)
    assert stopped["ok"], stopped
    assert one.event("cancelled")["runId"] == run_id
    assert one.command("enhance.status", uri=one.uri)["state"]["state"] == "cancelled"
    assert one.buffer == FLOW
    assert [m for m in one.client.received if m.get("method") == "workspace/applyEdit"] == []


def test_a_change_that_a_person_rejects_is_offered_no_more(editor: Callable[..., Editor]) -> None:
    quiet = {**EDITS, "window": {"workDoneProgress": False}}
    one = editor(quiet, SETTINGS + "enhance: {pauseBetweenRounds: true}\n")
    one.start()
    one.event("loop_paused")
    told = one.command("enhance.feedback", uri=one.uri, text="not like this", negative=True)
    assert told["state"]["because"].startswith("The change was rejected and is not applied")
    refused = one.command("enhance.continue", uri=one.uri)
    assert (refused["ok"], refused["code"]) == (False, "forbidden")
    one.event("feedback")
    lenses = one.client.ask("textDocument/codeLens", {"textDocument": {"uri": one.uri}}, LIMIT)["result"]
    titles = [lens["command"]["title"] for lens in lenses if lens["range"]["start"]["line"] == 0]
    assert [title for title in titles if title in CHOICES] == ["Run without changes", "⏹ Stop"]
    assert one.command("enhance.skipEdits", uri=one.uri)["ok"]
    one.event("completed")
    assert one.buffer == FLOW
    assert [m for m in one.client.received if m.get("method") == "workspace/applyEdit"] == []


def test_the_text_of_the_first_round_is_not_put_over_what_a_person_wrote_since(editor: Callable[..., Editor]) -> None:
    one = editor(settings=SETTINGS + "enhance: {pauseBetweenRounds: true}\n")
    one.start()
    one.event("loop_paused")
    early = one.command("enhance.revert", uri=one.uri)
    assert (early["code"], early["message"]) == ("wrong_status", "The loop is still running: stop it first.")
    assert one.command("enhance.continue", uri=one.uri)["ok"]
    one.take(one.asked("workspace/applyEdit"))
    one.event("completed")
    one.type(0, 0, "# mine\n")
    late = one.command("enhance.revert", uri=one.uri)
    assert (late["code"], "was changed after the loop" in late["message"]) == ("wrong_status", True)
    assert one.buffer == "# mine\n" + KIND


def test_EB_136_what_is_half_typed_in_the_buffer_is_told_and_stays(editor: Callable[..., Editor]) -> None:
    quiet = {**EDITS, "window": {"workDoneProgress": False}}
    one = editor(quiet, SETTINGS + "enhance: {pauseBetweenRounds: true}\n")
    one.start()
    one.event("loop_paused", reason="between_rounds")
    one.type(12, 0, "  - name: [\n")
    typed = one.buffer
    assert one.command("enhance.continue", uri=one.uri)["ok"]
    why = one.event("loop_paused", reason="conflict")["failureReason"]
    assert why.startswith("`report.yaml` cannot be run: line 13"), why
    shown = [m["params"]["message"] for m in one.client.received if m.get("method") == "window/showMessage"]
    assert any(why in told for told in shown), shown
    assert why in one.command("enhance.status", uri=one.uri)["state"]["because"]
    assert one.buffer == typed
    assert one.command("enhance.skipEdits", uri=one.uri)["ok"]
    assert one.event("completed")["reason"] == "fixation", "it ran once more what could be read"
    assert one.buffer == typed


def test_EB_137_an_editor_that_was_reloaded_takes_the_edit_that_waits(
    editor: Callable[..., Editor], server: RawClient, tmp_path: Path
) -> None:
    one = editor()
    one.start()
    one.asked("workspace/applyEdit")
    server.process.kill()
    with RawClient(env={"LOOP_LS_DATA_DIR": str(tmp_path / "data")}) as fresh:
        again = Editor(fresh, tmp_path / "project", EDITS, SETTINGS)
        again.take(again.asked("workspace/applyEdit"))
        assert again.event("completed")["reason"] == "converged"
        assert again.buffer == KIND
