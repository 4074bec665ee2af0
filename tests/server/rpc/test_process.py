"""The server as a process: what it prints, what it loads, what it survives (UP-30 to UP-35)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.server.rpc.framing import Frames, frame
from tests.server.support.editor import Editor
from tests.server.support.fake_serve import BROKEN
from tests.server.support.flows import DRAFT, INTERPOLATED, LOOP
from tests.server.support.raw import RawClient

Json = dict[str, Any]
Start = Callable[..., RawClient]
URI = "untitled:flow.yaml"
HOVER = {"textDocument": {"uri": URI}, "position": {"line": 1, "character": 1}}

#: What costs too much to be loaded by a server that only reads files.
HEAVY = (
    *("pydantic", "httpx", "dbos", "sqlalchemy", "starlette", "uvicorn", "rich", "genai_prices", "jsonschema"),
    *("cattrs", "pygls.workspace", "pygls.protocol.language_server"),
)


def popups(client: RawClient) -> list[Json]:
    return [m for m in client.received if m.get("method") in ("window/showMessage", "window/showMessageRequest")]


def test_nothing_heavy_is_loaded_for_reading_files(fake: Start, folder: Path) -> None:
    client = fake("modules")
    uri = (folder / "flow.yaml").as_uri()
    client.begin({}, folder)
    client.open(uri, LOOP)
    client.diagnostics(uri, 1)
    document = {"textDocument": {"uri": uri}}
    for method in ("codeLens", "documentSymbol"):
        assert "result" in client.ask(f"textDocument/{method}", document)
    assert client.end() == 0
    loaded = json.loads(client.log.decode().strip().splitlines()[-1])
    assert [name for name in loaded if name in HEAVY or name.split(".")[0] in HEAVY] == []


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawClient]:
    """One session that is asked for its configuration again and again."""
    with RawClient(env={"LOOP_LS_DATA_DIR": str(tmp_path_factory.mktemp("data"))}) as client:
        client.begin({"workspace": {"configuration": True}})
        client.open(URI, LOOP)
        client.diagnostics(URI, 1)
        first = client.wait(lambda m: m.get("method") == "workspace/configuration")
        assert first["params"] == {"items": [{"section": "loopLs"}]}
        client.send({"jsonrpc": "2.0", "id": first["id"], "result": [{}]})
        yield client


@pytest.mark.parametrize("answer", [[None], [], [{"loopLs": 5}], [5], None, "odd", {"a": 1}, [{"rules": 7}]])
def test_UP_30_an_odd_configuration_means_defaults(configured: RawClient, answer: Any) -> None:
    at = len(configured.received)
    configured.notify("workspace/didChangeConfiguration", {"settings": None})
    request = configured.wait(lambda m: m.get("method") == "workspace/configuration", after=at)
    configured.send({"jsonrpc": "2.0", "id": request["id"], "result": answer})
    assert configured.ask("textDocument/codeLens", {"textDocument": {"uri": URI}})["result"]
    assert popups(configured) == []
    assert b"Traceback" not in configured.log


def test_UP_30_a_refused_configuration_and_none_at_all_mean_defaults(server: RawClient) -> None:
    server.begin({"workspace": {"configuration": True}})
    request = server.wait(lambda m: m.get("method") == "workspace/configuration")
    server.open(URI, LOOP)
    server.diagnostics(URI, 1)  # meanwhile everything works
    error = {"code": -32601, "message": "unknown"}
    server.send({"jsonrpc": "2.0", "id": request["id"], "error": error})
    assert server.ask("textDocument/codeLens", {"textDocument": {"uri": URI}})["result"]
    assert popups(server) == []


def test_settings_of_the_editor_change_the_findings(server: RawClient, folder: Path) -> None:
    uri = (folder / "flow.yaml").as_uri()
    server.begin({}, folder)
    server.open(uri, INTERPOLATED)
    assert "WF702" in [d["code"] for d in server.diagnostics(uri, 1)]
    at = len(server.received)
    server.notify("workspace/didChangeConfiguration", {"settings": {"loopLs": {"rules": {"WF702": "off"}}}})

    def without(message: Json) -> bool:
        hit = message.get("method") == "textDocument/publishDiagnostics"
        return hit and "WF702" not in [d["code"] for d in message["params"]["diagnostics"]]

    server.wait(without, after=at)


def test_UP_31_stray_prints_end_in_the_log(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    assert editor.run({"iterations": 1, "noise": 1_000_000})["ok"] is True
    editor.wait_event("completed")
    assert client.end() == 0
    written = bytes(client.raw)
    bodies = Frames().feed(written)
    # Byte for byte: the stream is these frames, and nothing else.
    assert sum(len(frame(body)) for body in bodies) == len(written)
    assert b"".join(frame(body) for body in bodies) == written
    for word in (b"hi\n", b"xxxx", b"child"):
        assert word in client.log


def test_UP_33_a_fault_of_the_analysis_is_logged_with_its_place_and_costs_one_file(fake: Start, folder: Path) -> None:
    client = fake("boom")
    client.begin({}, folder)
    bad, good = "untitled:bad.yaml", "untitled:good.yaml"
    client.open(bad, LOOP.replace("refine", "boom"), version=7)
    client.open(good, INTERPOLATED)
    assert "WF702" in [d["code"] for d in client.diagnostics(good, 1)]
    assert client.ask("textDocument/documentSymbol", {"textDocument": {"uri": bad}})["result"]
    log = client.log.decode()
    assert "analysis went boom" in log
    assert "Traceback" in log
    assert f"{bad} version 7" in log
    assert popups(client) == []


def test_UP_33_a_fault_in_a_request_answers_that_request(fake: Start, folder: Path) -> None:
    client = fake("boom")
    client.begin({"textDocument": {"diagnostic": {}}}, folder)
    client.open(URI, LOOP.replace("refine", "boom"), version=3)
    answer = client.ask("textDocument/diagnostic", {"textDocument": {"uri": URI}})
    assert answer["error"]["code"] == -32603
    assert "analysis went boom" in answer["error"]["message"]
    assert client.ask("textDocument/codeLens", {"textDocument": {"uri": URI}})["result"]
    client.end()
    assert f"{URI} version 3" in client.log.decode()


def test_UP_34_a_fault_leaves_a_report_without_the_text_of_the_user(fake: Start, folder: Path, tmp_path: Path) -> None:
    client = fake("boom")
    client.begin({"textDocument": {"diagnostic": {}}}, folder)
    client.open(URI, LOOP.replace("refine", "boom"), version=3)
    for _ in range(3):
        answer = client.ask("textDocument/diagnostic", {"textDocument": {"uri": URI}})
    [report] = (tmp_path / "data" / "crashes").iterdir()
    assert str(report) in answer["error"]["message"]
    client.end()
    assert str(report) in client.log.decode()
    told = report.read_text()
    for words in ("loop-ls ", "textDocument/diagnostic", f"{URI} version 3", "analysis went boom", "Traceback"):
        assert words in told
    assert "names three risks" not in told
    assert report.stat().st_mode & 0o077 == 0


SECRET = "SECRET-PROMPT"
HERE: Json = {"textDocument": {"uri": URI, "version": 4}, "position": {"line": 1, "character": 61}}
PLACE: Json = {"start": HERE["position"], "end": HERE["position"]}

#: Each message that brings words of the user -> parameters that are full of them, with line and column of a place.
WORDY: dict[str, Json] = {
    "textDocument/didOpen": {"textDocument": {**HERE["textDocument"], "languageId": "yaml", "text": SECRET}},
    "textDocument/didChange": {**HERE, "contentChanges": [{"range": PLACE, "text": SECRET}, {"text": SECRET}]},
    "textDocument/completion": {**HERE, "context": {"triggerKind": 2, "triggerCharacter": "{", "typed": SECRET}},
    "completionItem/resolve": {
        "label": SECRET,
        "detail": SECRET,
        "documentation": {"kind": "markdown", "value": SECRET},
        "textEdit": {"range": PLACE, "newText": SECRET},
        "data": {"about": SECRET},
    },
    "textDocument/rename": {**HERE, "newName": SECRET},
    "textDocument/codeAction": {
        **HERE,
        "context": {"diagnostics": [{"range": PLACE, "message": SECRET, "relatedInformation": [{"message": SECRET}]}]},
    },
    "workspace/symbol": {"query": SECRET},
    "workspace/executeCommand": {"command": "loopLs.run", "arguments": [SECRET, {"input": SECRET, SECRET: 1}]},
    "workspace/didChangeConfiguration": {"settings": {"loopLs": {"env": {SECRET: SECRET}}}},
    "callHierarchy/incomingCalls": {"item": {"name": SECRET, "detail": SECRET, "uri": URI, "range": PLACE}},
    "inlayHint/resolve": {"label": [{"value": SECRET}], "position": HERE["position"], "tooltip": SECRET},
}


def test_UP_34_no_report_of_any_message_holds_the_words_of_the_user(fake: Start, folder: Path, tmp_path: Path) -> None:
    assert {*WORDY} == {*BROKEN}
    client = fake("broken")
    client.begin({}, folder)
    for method, params in WORDY.items():
        if method.startswith(("textDocument/did", "workspace/did")):
            client.notify(method, params)
        else:
            assert "it is broken" in client.ask(method, params)["error"]["message"]
    client.end()
    reports = [path.read_text() for path in (tmp_path / "data" / "crashes").iterdir()]
    by_method = {method: text for method in WORDY for text in reports if f"\n{method} failed" in text}
    assert {*by_method} == {*WORDY}
    assert [method for method, text in by_method.items() if SECRET in text] == []
    # What tells where it happened is there all the same.
    assert [m for m, p in WORDY.items() if URI in json.dumps(p) and URI not in by_method[m]] == []
    assert [m for m, p in WORDY.items() if '"position"' in json.dumps(p) and "61" not in by_method[m]] == []
    assert "loopLs.run" in by_method["workspace/executeCommand"]


def test_UP_34_no_text_ends_the_server_or_makes_it_fail(server: RawClient, folder: Path) -> None:
    """Every truncation, every missing line, every two lines swapped: as they come while editing."""
    server.begin({}, folder)
    server.open(URI, LOOP)
    lines = LOOP.splitlines(keepends=True)
    texts = [LOOP[:end] for end in range(len(LOOP))]
    texts += ["".join(lines[:n] + lines[n + 1 :]) for n in range(len(lines))]
    texts += ["".join([*lines[:n], lines[n + 1], lines[n], *lines[n + 2 :]]) for n in range(len(lines) - 1)]
    texts += ["\0", "\ufeff" + LOOP, LOOP.replace("\n", "\r\n"), "\t" + LOOP, "- " * 3000, "{" * 3000, "\ud800"]
    for number, text in enumerate(texts):
        server.change(URI, number + 2, {"text": text})
        for method in ("documentSymbol", "codeLens"):
            server.send({"jsonrpc": "2.0", "id": f"{number}{method}", "method": f"textDocument/{method}",
                         "params": {"textDocument": {"uri": URI}}})  # fmt: skip
        for method in ("completion", "hover", "definition"):
            place = {"textDocument": {"uri": URI}, "position": {"line": number % 14, "character": number % 17}}
            server.send(
                {"jsonrpc": "2.0", "id": f"{number}{method}", "method": f"textDocument/{method}", "params": place}
            )
    server.diagnostics(URI, len(texts) + 1, limit=60)
    assert [m for m in server.received if "error" in m] == []
    assert b"Traceback" not in server.log


def together(client: RawClient, folder: Path) -> None:
    """The first messages of a session, and a request, in one write."""
    uri = (folder / "flow.yaml").as_uri()
    item = {"uri": uri, "languageId": "yaml", "version": 1, "text": LOOP}
    capabilities = {"workspace": {"codeLens": {"refreshSupport": True}}}
    params = {"capabilities": capabilities, "workspaceFolders": [{"uri": folder.as_uri(), "name": "x"}]}
    client.send(
        {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "method": "initialized", "params": {}},
        {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}},
        {"jsonrpc": "2.0", "id": "lenses", "method": "textDocument/codeLens", "params": {"textDocument": {"uri": uri}}},
    )
    assert any("Run loop" in lens["command"]["title"] for lens in client.answer("lenses")["result"])


def test_UP_29_everything_in_one_write_is_answered_though_the_index_is_never_ready(fake: Start, folder: Path) -> None:
    for number in range(100):
        (folder / f"more{number}.yaml").write_text(DRAFT.replace("name: draft", f"name: more{number}"))
    client = fake("stuck")
    together(client, folder)
    for method in ("textDocument/documentSymbol", "textDocument/foldingRange"):
        assert client.ask(method, {"textDocument": {"uri": (folder / "flow.yaml").as_uri()}})["result"]


def test_UP_29_lenses_are_asked_for_again_when_two_thousand_files_are_read(server: RawClient, folder: Path) -> None:
    for number in range(2000):
        (folder / f"more{number}.yaml").write_text(DRAFT.replace("name: draft", f"name: more{number}"))
    together(server, folder)
    answered = len(server.received)
    server.wait(lambda m: m.get("method") == "workspace/codeLens/refresh", 60, after=answered)
    found = server.ask("workspace/symbol", {"query": "more1999"})["result"]
    assert [symbol["name"] for symbol in found] == ["more1999"]


def test_UP_35_two_folders_are_kept_apart(server: RawClient, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        (folder / "flow.yaml").write_text(LOOP)
    (folders[0] / "draft.yaml").write_text(DRAFT)
    (folders[1] / ".loop-ls.yaml").write_bytes(b"\xff\xfe\0")
    named = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
    server.ask("initialize", {"capabilities": {}, "workspaceFolders": named})
    server.notify("initialized", {})
    uris = [(folder / "flow.yaml").as_uri() for folder in folders]
    for uri in uris:
        server.open(uri, LOOP)

    def missing(message: Json) -> bool:
        params = message.get("params") or {}
        hit = message.get("method") == "textDocument/publishDiagnostics" and params["uri"] == uris[1]
        return hit and "WF601" in [d["code"] for d in params["diagnostics"]]

    server.wait(missing)  # the callee in the first folder is none of the second
    for uri in uris:
        every = [m["params"]["diagnostics"] for m in server.received if (m.get("params") or {}).get("uri") == uri]
        assert ("WF601" in [d["code"] for d in every[-1]]) is (uri == uris[1])
    # The second folder leaves: its document is served as a file of its own.
    server.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [named[1]]}})
    assert server.ask("textDocument/codeLens", {"textDocument": {"uri": uris[1]}})["result"]


def test_UP_27_two_spellings_of_a_uri_are_one_document(server: RawClient) -> None:
    server.begin()
    server.open("file:///c%3A/My%20Flows/a.yaml", LOOP)
    other = {"textDocument": {"uri": "file:///C:/My Flows/a.yaml"}}
    assert server.ask("textDocument/codeLens", other)["result"]
    server.notify("textDocument/didClose", other)
    assert server.ask("textDocument/codeLens", other)["result"] is None


def test_files_that_change_on_disk_are_read_again(server: RawClient, folder: Path) -> None:
    """UP-25, UP-28: made, moved and deleted without being opened; the open buffer wins."""
    (folder / "draft.yaml").unlink()
    uri, callee = (folder / "flow.yaml").as_uri(), folder / "other-name.yml"
    capabilities: Json = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}
    server.begin(capabilities, folder)
    registered = server.wait(lambda m: m.get("method") == "client/registerCapability")
    methods = [r["method"] for r in registered["params"]["registrations"]]
    assert "workspace/didChangeWatchedFiles" in methods
    server.send({"jsonrpc": "2.0", "id": registered["id"], "result": None})
    server.open(uri, LOOP)

    def codes_then(wanted: bool, after: int) -> None:
        def hit(message: Json) -> bool:
            params = message.get("params") or {}
            found = message.get("method") == "textDocument/publishDiagnostics" and params["uri"] == uri
            return found and ("WF601" in [d["code"] for d in params["diagnostics"]]) is wanted

        server.wait(hit, after=after)

    codes_then(True, 0)
    at = len(server.received)
    callee.write_text(DRAFT)
    (folder / "flow.yaml").write_text("changed: behind the editor's back\n")
    changes = [{"uri": callee.as_uri(), "type": 1}, {"uri": uri, "type": 2}]
    server.notify("workspace/didChangeWatchedFiles", {"changes": changes})
    codes_then(False, at)
    at = len(server.received)
    callee.unlink()
    server.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": callee.as_uri(), "type": 3}]})
    codes_then(True, at)
