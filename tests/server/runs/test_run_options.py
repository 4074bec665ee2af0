"""What an editor may say of one run, at its far end: a real server and a real engine, answers from a script."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.support.editor import CAPABILITIES
from tests.server.support.engine import stop_engine
from tests.server.support.raw import RawClient

Json = dict[str, Any]
FLOW = """\
$schema: "workflow/v2.0"
name: flow
version: 1.0.0
description: Two steps.
execution: {provider: scripted, model: m}
steps:
  - {name: draft, run: "Write about {{input}}"}
  - {name: report, needs: [draft], run: "Report on {{draft}}"}
"""
ANSWERS = "answers:\n  - when: {step: draft}\n    say: the draft\n  - say: the report\n"
CASES = "tests: [{name: sea, vars: {input: the sea}, assert: [{type: contains, value: report, on: step.report}]}]\n"


class Editor:
    def __init__(self, client: RawClient, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "flow.yaml"
        path.write_text(FLOW)
        (folder / "flow.answers.yaml").write_text(ANSWERS)
        (folder / "flow.cases.yaml").write_text(CASES)
        self.client, self.uri = client, path.as_uri()
        client.begin(CAPABILITIES, folder)
        client.open(self.uri, FLOW)

    def command(self, name: str, **argument: Any) -> Json:
        params = {"command": f"loopLs.{name}", "arguments": [argument]}
        found: Json = self.client.ask("workspace/executeCommand", params)["result"]
        return found

    def ran(self, **argument: Any) -> tuple[str, list[Json]]:
        """The id of a run that has ended, and its facts."""
        answer = self.command("run", **argument)
        assert answer["ok"], answer
        run_id = str(answer["runId"])

        def ended(message: Json) -> bool:
            params = message.get("params") or {}
            return message.get("method") == "loopLs/run" and (params["runId"], params["status"]) == (
                run_id,
                "completed",
            )

        self.client.wait(ended)
        return run_id, self.command("events", runId=run_id)["events"]

    def starts(self, title: str) -> list[Json]:
        found = self.client.ask("textDocument/codeLens", {"textDocument": {"uri": self.uri}})["result"] or []
        return [lens["command"]["arguments"][0] for lens in found if lens["command"]["title"] == title]


@pytest.fixture
def editor(server: RawClient, tmp_path: Path) -> Iterator[Editor]:
    yield Editor(server, tmp_path / "project")
    stop_engine(tmp_path / "data")


def asked(facts: list[Json]) -> list[tuple[str, str, str]]:
    return [(one["place"], one["provider"], one["model"]) for one in facts if one["kind"] == "call"]


def test_one_run_asks_another_model_and_the_next_one_goes_on_from_a_step(editor: Editor) -> None:
    run_id, facts = editor.ran(uri=editor.uri, input="tea", provider="scripted", model="large")
    assert asked(facts) == [("draft", "scripted", "large"), ("report", "scripted", "large")]
    [here] = editor.starts("▷ Run from here")
    assert (here["startFrom"], here["outputsOf"]) == ("report", run_id)
    _, facts = editor.ran(**here)
    assert asked(facts) == [("report", "scripted", "m")]
    refused = editor.command("run", uri=editor.uri, input="tea", provider="scriptde", model="m")
    assert (refused["code"], "did you mean `scripted`?" in refused["message"]) == ("bad_argument", True)


def test_a_case_is_run_on_its_input_and_judged_by_its_checks(editor: Editor) -> None:
    cases = editor.uri.replace("flow.yaml", "flow.cases.yaml")
    editor.client.open(cases, CASES)
    found = editor.client.ask("textDocument/codeLens", {"textDocument": {"uri": cases}})["result"]
    [run] = [lens["command"]["arguments"][0] for lens in found if lens["command"]["title"] == "▶ Run case"]
    _, facts = editor.ran(**run)
    assert facts[0]["input"] == "the sea"
    assert [(one["on"], one["verdict"]) for one in facts if one["kind"] == "checked"] == [("step.report", "pass")]
