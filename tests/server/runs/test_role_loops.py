"""Role loops as an editor meets them: a real server and a real engine, answers from a script."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.support.editor import CAPABILITIES
from tests.server.support.engine import stop_engine
from tests.server.support.raw import RawClient

Json = dict[str, Any]
PAIR = {
    "name": "pair",
    "description": "One plans, one judges.",
    "parameters": [{"name": "tone", "description": "How it sounds."}],
    "roles": [
        {"name": "think", "role": "plan", "prompt": "Think in a {{tone}} tone."},
        {"name": "judge-it", "role": "reviewer", "prompt": "Say APPROVED, or what is missing."},
    ],
    "termination_condition": {"type": "evaluation_bound", "value": {"criteria": "Good.", "max_review_rounds": 4}},
}
ANSWERS = 'answers:\n  - when: {step: judge-it}\n    say: ["more, please", "APPROVED"]\n  - say: a thought\n'


class Editor:
    def __init__(self, client: RawClient, folder: Path) -> None:
        loops = folder / "loops"
        loops.mkdir(parents=True)
        path = loops / "pair.json"
        path.write_text(json.dumps(PAIR, indent=2))
        (loops / "pair.answers.yaml").write_text(ANSWERS)
        settings = "assist: {provider: script, model: m}\nproviders: {script: {kind: scripted}}\n"
        (folder / ".loop-ls.yaml").write_text(settings)
        self.client, self.uri = client, path.as_uri()
        client.begin(CAPABILITIES, folder)
        client.open(self.uri, path.read_text(), language="json")

    def command(self, name: str, **argument: Any) -> Json:
        params = {"command": f"loopLs.{name}", "arguments": [argument]}
        found: Json = self.client.ask("workspace/executeCommand", params)["result"]
        return found

    def event(self, kind: str, run_id: str) -> Json:
        def wanted(message: Json) -> bool:
            params = message.get("params") or {}
            hit = message.get("method") == "loopLs/event" and params.get("kind") == kind
            return bool(hit and params.get("runId") == run_id)

        found: Json = self.client.wait(wanted)["params"]
        return found

    def lenses(self) -> list[str]:
        found = self.client.ask("textDocument/codeLens", {"textDocument": {"uri": self.uri}})["result"] or []
        return [lens["command"]["title"] for lens in found]

    def state(self, status: str, run_id: str) -> Json:
        """The state of a run, once it is this one: facts are told before it."""

        def wanted(message: Json) -> bool:
            params = message.get("params")
            return message.get("method") == "loopLs/run" and (params["runId"], params["status"]) == (run_id, status)

        return self.client.wait(wanted)

    def run_findings(self, says: str) -> list[Json]:
        """What the last run says on the file, once it says this."""

        def wanted(message: Json) -> bool:
            if message.get("method") != "textDocument/publishDiagnostics" or message["params"]["uri"] != self.uri:
                return False
            return any(says in one["message"] for one in message["params"]["diagnostics"])

        found = self.client.wait(wanted)["params"]["diagnostics"]
        return [one for one in found if one.get("source") == "loop-run"]


@pytest.fixture
def editor(server: RawClient, tmp_path: Path) -> Iterator[Editor]:
    yield Editor(server, tmp_path / "project")
    stop_engine(tmp_path / "data")


def test_a_lens_starts_a_loop_that_says_on_its_file_how_it_ended(editor: Editor) -> None:
    assert editor.lenses() == ["▶ Run loop", "2 stages · ≤ 4 iterations"]
    target = {"kind": "definition", "name": "pair"}
    asked = editor.command("run", uri=editor.uri, target=target)
    assert (asked["code"], asked["names"]) == ("input_required", ["goal", "tone"])
    answer = editor.command("run", uri=editor.uri, target=target, goal="Say hello.", parameters={"tone": "calm"})
    assert answer["ok"], answer
    stage = editor.event("stage_started", answer["runId"])
    assert (stage["stage"], stage["role"], stage["iteration"]) == ("think", "plan", 1)
    done = editor.event("completed", answer["runId"])
    assert (done["reason"], done["totalIterations"]) == ("approved", 2)
    editor.state("completed", answer["runId"])
    [finding] = editor.run_findings("approved in iteration 2")
    assert finding["message"].startswith("approved in iteration 2")
    lenses = editor.lenses()
    assert any(lens.startswith("✓ approved in iteration 2") for lens in lenses), lenses
    state = editor.command("status", runId=answer["runId"])["state"]
    assert (state["goal"], state["format"]) == ("Say hello.", "role_loop")
    estimate = editor.command("estimate", uri=editor.uri, target=target)
    assert estimate["calls"] == {"min": 2, "max": 4 * (30 + 15)}


def test_a_built_in_loop_is_started_by_its_name_and_two_starts_share_a_session(editor: Editor) -> None:
    named = {"kind": "definition", "name": "harness"}
    assert editor.command("run", target={"kind": "definition"})["code"] == "bad_argument"
    answers = [editor.command("run", target=named, goal="Say hello.", mock=True) for _ in range(2)]
    assert all(answer["ok"] for answer in answers), answers
    sessions = set()
    for answer in answers:
        assert editor.event("completed", answer["runId"])["reason"] == "approved"
        sessions.add(editor.command("status", runId=answer["runId"])["state"]["sessionId"])
    assert len(sessions) == 1
