"""A command that cannot be carried out is answered: which refusal, one sentence, what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.support.editor import CAPABILITIES, TARGET, Editor
from tests.server.support.flows import INTERPOLATED, LOOP
from tests.server.support.raw import RawClient

Json = dict[str, Any]
Start = Callable[..., RawClient]


def shown(client: RawClient) -> list[str]:
    return [m["params"]["message"] for m in client.received if m.get("method") == "window/showMessage"]


def test_nothing_is_run_in_a_workspace_that_is_not_trusted(fake: Start, folder: Path) -> None:
    editor = Editor(fake(), folder, {"trusted": False})
    answer = editor.run()
    assert (answer["ok"], answer["code"]) == (False, "not_trusted")
    assert "trust" in answer["hint"].lower()


def test_a_file_with_errors_is_not_run_and_the_first_one_is_named(fake: Start, folder: Path) -> None:
    editor = Editor(fake(), folder, text=LOOP.replace("max_iterations: 5", "max_iterations: many"))
    answer = editor.run()
    assert answer["code"] == "file_has_errors"
    assert "line 10" in answer["message"]


def test_warnings_hinder_nobody(fake: Start, folder: Path) -> None:
    editor = Editor(fake(), folder, text=INTERPOLATED)
    assert editor.run()["ok"] is True


def test_D15_repeated_blocks_do_not_hinder_a_run(fake: Start, folder: Path) -> None:
    second = "loops:\n  - {name: again, workflow: draft, max_iterations: 2, until: The draft is short}\n"
    editor = Editor(fake(), folder, text=LOOP + second)
    assert editor.run()["ok"] is True


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        (None, "`uri`"),
        ("flow.yaml", "an object"),
        ({}, "`uri`"),
        ({"uri": 5}, "`uri`"),
        ({"target": "loop"}, "`target`"),
        ({"target": {"kind": "something"}}, "`workflow`, `loop`, `step`, `definition`, `assistant`"),
        ({"target": {"kind": "loop"}}, "Missing `target.name`: the loop"),
        ({"input": ["x"]}, "`input`"),
        ({"maxIterations": 0}, "at least 1"),
        ({"maxIterations": "5"}, "integer"),
        ({"maxIterations": True}, "integer"),
        ({"mock": "yes"}, "true or false"),
        ({"parameters": []}, "`parameters`"),
    ],
)
def test_a_bad_argument_is_named(editor: Editor, argument: Any, words: str) -> None:
    if isinstance(argument, dict) and argument and "uri" not in argument:
        argument = {"uri": editor.uri, **argument}
    answer = editor.command("loopLs.run", argument)
    assert (answer["ok"], answer["code"]) == (False, "bad_argument")
    assert words in answer["message"]


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One session for all bad arguments."""
    folder = tmp_path_factory.mktemp("flows")
    (folder / "flow.yaml").write_text(LOOP)
    with RawClient(env={"LOOP_LS_DATA_DIR": str(tmp_path_factory.mktemp("data"))}) as client:
        yield Editor(client, folder)


@pytest.mark.parametrize("name", ["loopLs.stop", "loopLs.pause", "loopLs.resume", "loopLs.status", "loopLs.events"])
def test_commands_about_a_run_need_its_id(editor: Editor, name: str) -> None:
    assert editor.command(name, {})["code"] == "bad_argument"
    assert editor.command(name, {"runId": 4})["code"] == "bad_argument"
    assert editor.command(name, {"runId": None})["code"] == "bad_argument"


def test_an_unknown_command_names_the_known_ones(editor: Editor) -> None:
    answer = editor.command("loopLs.fly", {})
    assert answer["code"] == "not_found"
    assert "loopLs.run" in answer["hint"]


def test_a_file_that_is_not_there_or_none_of_ours_is_not_run(editor: Editor) -> None:
    assert editor.command("loopLs.run", {"uri": "file:///nowhere/flow.yaml"})["code"] == "not_found"
    editor.client.open("file:///w/other.yaml", "services: {}\n")
    assert editor.command("loopLs.run", {"uri": "file:///w/other.yaml"})["code"] == "bad_argument"


def test_every_announced_command_exists(editor: Editor) -> None:
    announced = editor.capabilities["capabilities"]["executeCommandProvider"]["commands"]
    for name in announced:
        if name not in ("loopLs.engine.restart", "loopLs.runs"):
            assert editor.command(name, {"runId": ""} if "engine" not in name else {}).get("code") != "internal"


def test_an_engine_that_cannot_be_started_is_said_in_one_sentence(fake: Start, folder: Path) -> None:
    client = fake("down")
    answer = Editor(client, folder).run()
    assert (answer["code"], answer["hint"]) == ("engine_not_ready", "Make room.")
    assert shown(client) == ["The engine cannot be started: no space left. Make room."]


def test_the_engines_own_refusal_comes_through(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder, {"settlesAnswers": True})
    assert editor.run({"refuse": "provider_unavailable"})["code"] == "provider_unavailable"
    # The client said that it shows refusals itself.
    assert shown(client) == []


def consent_question(client: RawClient) -> Json:
    return client.wait(lambda m: m.get("method") == "window/showMessageRequest")


def test_consent_is_asked_for_with_the_programs_and_hosts(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    answer = editor.run({"consent": True, "iterations": 1})
    assert answer["code"] == "consent_required"
    question = consent_question(client)
    assert not [m for m in client.received if m.get("method") == "window/showMessage"]  # it is asked, not told as well
    assert "rm -rf build" in question["params"]["message"]
    assert "sends data to example.org, with the value of KEY" in question["params"]["message"]
    client.send({"jsonrpc": "2.0", "id": question["id"], "result": question["params"]["actions"][0]})
    editor.wait_event("completed")


def test_an_editor_that_cannot_ask_is_told_where_to_agree(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder, capabilities={})
    assert editor.run({"consent": True})["code"] == "consent_required"
    told = client.wait(lambda m: m.get("method") == "window/showMessage")["params"]["message"]
    assert told == "Consent. This editor cannot ask: allow the run once with `loop-ls run` in a terminal."


def test_without_consent_nothing_runs(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    editor.run({"consent": True})
    client.send({"jsonrpc": "2.0", "id": consent_question(client)["id"], "result": None})
    assert editor.command("loopLs.runs", {})["runs"] == []


def test_a_command_alone_is_no_yes_of_a_person(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    nonce = editor.run({"consent": True})["nonce"]
    consent_question(client)
    assert editor.run({"consent": True}, consent=nonce)["code"] == "consent_required"


def test_a_client_that_settles_answers_itself_is_not_asked(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder, {"settlesAnswers": True})
    answer = editor.run({"consent": True})
    assert editor.run({"consent": True}, consent=answer["digest"])["code"] == "consent_required"
    assert editor.run({"consent": True, "iterations": 1}, consent=answer["nonce"])["ok"] is True
    editor.wait_event("completed")
    assert not [m for m in client.received if m.get("method") == "window/showMessageRequest"]


def test_the_unsaved_text_is_what_runs(fake: Start, folder: Path) -> None:
    """The engine gets the texts of the editor, open callees included."""
    client = fake()
    editor = Editor(client, folder, capabilities=CAPABILITIES)
    client.open((folder / "draft.yaml").as_uri(), "$schema: workflow/v2.0\nname: draft\nsteps: []\n")
    argument = {"uri": editor.uri, "target": TARGET, "input": json.dumps({"iterations": 1, "echo": True})}
    assert editor.command("loopLs.run", argument)["ok"] is True
    started = editor.wait_event("run_started")
    assert started["texts"] == {
        str(folder / "flow.yaml"): LOOP,
        str(folder / "draft.yaml"): "$schema: workflow/v2.0\nname: draft\nsteps: []\n",
    }
