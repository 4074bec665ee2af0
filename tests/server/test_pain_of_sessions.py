"""Settings that change, restarts, other servers and messages: what a session must keep calm about (UP-37 to UP-43)."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest_asyncio
from lsprotocol import types as t

from loop_ls.contract.operations import COMMANDS
from tests.server.support.editor import Editor
from tests.server.support.engine import ANSWERS, SLOW, engine_process, stop_engine
from tests.server.support.flows import INTERPOLATED, LOOP
from tests.server.support.raw import RawClient, insert
from tests.server.support.session import Session

Json = dict[str, Any]
CLIENT = Path(__file__).resolve().parents[2] / "vscode-client"

_SHOWN = ("window/showMessage", "window/showMessageRequest", "window/showDocument")


@pytest_asyncio.fixture
async def session(folder: Path, tmp_path: Path) -> AsyncIterator[Session]:
    data = tmp_path / "data"
    session = Session("vscode", folder, data)
    await session.begin()
    yield session
    await session.end()
    stop_engine(data)


def argument(session: Session) -> Json:
    uri = (session.folder / "flow.yaml").as_uri()
    return {"uri": uri, "target": {"kind": "loop", "name": "refine"}, "input": "trains", "mock": True}


def judges(session: Session, run_id: str) -> set[str]:
    """The models that said whether the condition is met."""
    return {e["model"] for e in session.events_of(run_id) if e["kind"] == "call" and e.get("purpose") == "judge"}


async def test_UP_37_settings_that_change_during_a_run_start_no_second_engine_and_count_for_the_next_start(
    session: Session,
) -> None:
    (session.folder / "flow.answers.yaml").write_text(SLOW)
    session.open((session.folder / "flow.yaml").as_uri(), LOOP)
    first = (await session.command("loopLs.run", argument(session)))["runId"]
    await session.until_event("iteration", first, iteration=1)
    process = engine_process(session.data)
    for model in ("red", "green", "blue"):  # as fast as they can be sent
        changed = {"loopLs": {"judge": {"provider": "ollama", "model": model}, "engine": {"teardownGraceMs": 90_000}}}
        session.client.workspace_did_change_configuration(t.DidChangeConfigurationParams(changed))
    second = (await session.command("loopLs.run", argument(session)))["runId"]
    for run_id in (first, second):
        await session.until_event("completed", run_id)
    assert judges(session, first) == {"llama3.2"}
    assert judges(session, second) == {"blue"}
    assert engine_process(session.data) == process
    os.kill(process, 0)


async def test_UP_38_two_restarts_of_the_engine_at_once_are_one(session: Session) -> None:
    (session.folder / "flow.answers.yaml").write_text(ANSWERS)
    session.open((session.folder / "flow.yaml").as_uri(), LOOP)
    run_id = (await session.command("loopLs.run", argument(session)))["runId"]
    await session.until_event("completed", run_id)
    before = engine_process(session.data)
    answers = await asyncio.gather(*(session.command("loopLs.engine.restart", {}) for _ in range(3)))
    assert [answer["ok"] for answer in answers] == [True] * 3
    engines = {answer["engine"]["pid"] for answer in answers}
    assert engines == {engine_process(session.data)}
    assert before not in engines


def test_UP_38_no_command_is_registered_by_the_server_and_by_its_client() -> None:
    """VS Code refuses a second registration, and the client does not start at all."""
    package = json.loads((CLIENT / "package.json").read_text("utf-8"))
    own = [command["command"] for command in package["contributes"]["commands"]]
    assert len(set(own)) == len(own) > 0
    assert set(own) & set(COMMANDS) == set()


def test_UP_39_files_that_are_no_loops_are_left_to_others(server: RawClient, folder: Path) -> None:
    """Beside a server for YAML: whatever is asked about its files, ours adds nothing to the answer."""
    server.begin({}, folder)
    uri = (folder / "compose.yaml").as_uri()
    server.open(uri, "services:\n    web: {image:   nginx}\n    web: [\n")
    document: Json = {"textDocument": {"uri": uri}}
    place = {**document, "position": {"line": 1, "character": 6}}
    asked = {
        "hover": place,
        "completion": place,
        "definition": place,
        "documentHighlight": place,
        "documentSymbol": document,
        "codeLens": document,
        "documentLink": document,
        "foldingRange": document,
        "formatting": {**document, "options": {"tabSize": 2, "insertSpaces": True}},
    }
    for method, params in asked.items():
        answer = server.ask(f"textDocument/{method}", params)
        assert not answer["result"], (method, answer)
    published = [m["params"] for m in server.received if m.get("method") == "textDocument/publishDiagnostics"]
    assert [one for one in published if one["uri"] == uri and one["diagnostics"]] == []


def test_UP_39_the_arrangement_with_a_general_yaml_extension_is_written_down() -> None:
    text = (CLIENT / "README.md").read_text("utf-8")
    _, _, section = text.partition("## With a general YAML extension")
    block = section.partition("```json\n")[2].partition("```")[0]
    settings = json.loads(block)
    assert settings == {
        "yaml.validate": False,
        "yaml.hover": False,
        "yaml.completion": False,
        "yaml.format.enable": False,
    }


def test_UP_43_typing_in_a_file_with_an_error_shows_no_message(server: RawClient, folder: Path) -> None:
    everything = {"window": {"showMessage": {"messageActionItem": {}}, "showDocument": {"support": True}}}
    uri = (folder / "flow.yaml").as_uri()
    server.begin(everything, folder)
    server.open(uri, INTERPOLATED.replace("max_iterations: 5", "max_iterations: many"))
    assert server.diagnostics(uri, 1)
    for number in range(200):
        server.change(uri, number + 2, insert(3, len("description: ") + number, "{:- x"[number % 5]))
        server.send({"jsonrpc": "2.0", "id": f"c{number}", "method": "textDocument/completion",
                     "params": {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 14}}})  # fmt: skip
    server.diagnostics(uri, 201)
    assert [m["method"] for m in server.received if m.get("method") in _SHOWN] == []


def test_UP_43_a_provider_that_fails_again_and_again_is_told_once(fake: Callable[..., RawClient], folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    assert editor.run({"iterations": 2, "fails": 20})["ok"] is True
    editor.wait_state(status="failed")
    found = editor.run_diagnostics(lambda every: any("overloaded" in one["message"] for one in every))
    assert len(found) == 1
    assert len([m for m in client.received if (m.get("params") or {}).get("kind") == "retrying"]) == 20
    assert len([m["method"] for m in client.received if m.get("method") in _SHOWN]) <= 1
