"""The command behind the form of an assistant's loop, as an editor uses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.server.support.editor import CAPABILITIES
from tests.server.support.raw import RawClient

Json = dict[str, Any]
TEXT = "name: Fixer # short\npersona: p\nloopEnabled: true\nloopCriteria: {type: manual}\n"
EDITS = {**CAPABILITIES, "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}}}
LIMIT = 60.0


class Editor:
    def __init__(self, client: RawClient, folder: Path) -> None:
        self.client, self.uri = client, (folder / "fixer.assistant.yaml").as_uri()
        client.begin(EDITS, folder)
        client.open(self.uri, TEXT)

    def setup(self, **argument: Any) -> Json:
        params = {"command": "loopLs.assistant.setup", "arguments": [{"uri": self.uri, **argument}]}
        found: Json = self.client.ask("workspace/executeCommand", params, LIMIT)["result"]
        return found


@pytest.fixture
def editor(server: RawClient, tmp_path: Path) -> Editor:
    return Editor(server, tmp_path)


def test_it_reads_without_writing(editor: Editor) -> None:
    answer = editor.setup()
    assert answer["values"] == {
        "loopEnabled": True,
        "type": "manual",
        "pattern": "",
        "command": "",
        "maxIterations": 10,
    }
    assert answer["assistants"] == [{"key": "fixer", "name": "Fixer", "enabled": True, "line": 0}]
    assert (answer["fields"][0], answer["changed"], answer["problems"]) == ("loopEnabled", False, [])


def test_what_is_wrong_is_told_and_nothing_is_written(editor: Editor) -> None:
    answer = editor.setup(name="Fixer", values={"type": "regex", "pattern": "(a", "maxIterations": 500})
    assert [one["name"] for one in answer["problems"]] == ["maxIterations", "pattern"]
    assert (answer["changed"], answer["values"]["type"]) == (False, "manual")


def test_what_changed_is_one_edit_of_the_editor(editor: Editor) -> None:
    params = {
        "command": "loopLs.assistant.setup",
        "arguments": [{"uri": editor.uri, "values": {"type": "test_pass", "command": "npm test"}}],
    }
    editor.client.send({"jsonrpc": "2.0", "id": "save", "method": "workspace/executeCommand", "params": params})
    request = editor.client.wait(lambda each: each.get("method") == "workspace/applyEdit", LIMIT)
    [change] = request["params"]["edit"]["documentChanges"]
    assert [edit["newText"] for edit in change["edits"]] == ["loopCriteria: {type: test_pass, value: npm test}\n"]
    assert (request["params"]["label"], change["textDocument"]["version"]) == ("Loop of Fixer", 1)
    editor.client.send({"jsonrpc": "2.0", "id": request["id"], "result": {"applied": True}})
    assert editor.client.answer("save", LIMIT)["result"]["changed"] is True


def test_an_editor_that_refuses_is_believed(editor: Editor) -> None:
    params = {"command": "loopLs.assistant.setup", "arguments": [{"uri": editor.uri, "values": {"loopEnabled": False}}]}
    editor.client.send({"jsonrpc": "2.0", "id": "save", "method": "workspace/executeCommand", "params": params})
    request = editor.client.wait(lambda each: each.get("method") == "workspace/applyEdit", LIMIT)
    editor.client.send({"jsonrpc": "2.0", "id": request["id"], "result": {"applied": False}})
    assert editor.client.answer("save", LIMIT)["result"]["code"] == "wrong_status"


@pytest.mark.parametrize(
    ("argument", "code"),
    [
        ({"name": "nobody"}, "not_found"),
        ({"uri": "file:///w/closed.assistant.yaml"}, "wrong_status"),
        ({"values": 3}, "bad_argument"),
    ],
)
def test_what_cannot_be_asked_is_refused(editor: Editor, argument: Json, code: str) -> None:
    assert editor.setup(**argument)["code"] == code
