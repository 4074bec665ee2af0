"""What a server costs that has nothing to do, or too much: disk, network, processor (UP-40, UP-41, UP-42)."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.index.disk import discovery
from loop_ls.server.routes.document_symbols import MOST
from tests.bench.server_flows import callee, flow
from tests.server.support.disk import CHANGED, MADE, Disk
from tests.server.support.flows import DRAFT, LOOP
from tests.server.support.raw import RawClient, insert

Json = dict[str, Any]

LONG = flow(50_000)
LONG_NAMES = re.findall(r"^  - name: (\w+)", LONG, re.MULTILINE)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RawClient]:
    """Its memory and its time are its own."""
    with RawClient(env={"LOOP_LS_DATA_DIR": str(tmp_path / "data")}, fresh=True) as client:
        yield client


def flattened(nodes: list[Json]) -> Iterator[Json]:
    for node in nodes:
        yield node
        yield from flattened(node.get("children", ()))


@pytest.mark.parametrize("tree", [True, False])
def test_UP_40_in_a_very_long_file_typing_waits_for_nothing_and_the_outline_is_cut(
    server: RawClient, folder: Path, tree: bool
) -> None:
    (folder / "callee.yaml").write_text(callee())
    uri = (folder / "long.yaml").as_uri()
    server.begin({"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": tree}}}, folder)
    server.open(uri, LONG)
    server.diagnostics(uri, 1, limit=60)
    lines = LONG.split("\n")
    line = next(n for n in range(25_000, len(lines)) if lines[n].strip().startswith("Before: "))
    at = len(server.received)
    server.change(uri, 2, insert(line, len(lines[line]), " {{"))
    place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": len(lines[line]) + 3}}
    offered = server.ask("textDocument/completion", place)["result"]
    items = offered["items"] if isinstance(offered, dict) else offered
    assert any("input" in item["label"] for item in items)
    # The keystroke was answered before the whole file was checked again.
    answered = next(n for n, m in enumerate(server.received) if m.get("result") is offered)
    assert "textDocument/publishDiagnostics" not in [m.get("method") for m in server.received[at:answered]]
    outline = list(flattened(server.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})["result"]))
    assert len(outline) == MOST + 1
    assert outline[-1]["name"].endswith(" more are not listed")
    names = {one["name"] for one in outline}
    assert {name for name in LONG_NAMES if name not in names} == set()  # details give way, not steps


def processor_seconds(process: subprocess.Popen[bytes]) -> float:
    """What a process has used of the processor so far, its own and the system's."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_UP_41_ignored_folders_are_not_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("node_modules/deep/er", ".git/objects", "flows"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.yaml").write_text(DRAFT)
    entered: list[str] = []
    scandir = os.scandir

    def recorded(folder: str) -> Any:
        entered.append(Path(folder).relative_to(tmp_path).as_posix())
        return scandir(folder)

    monkeypatch.setattr(discovery.os, "scandir", recorded)
    assert discovery.candidates(str(tmp_path)) == ((f"{tmp_path}/flows/a.yaml",), False)
    assert entered == [".", "flows"]


def test_UP_41_what_happens_in_ignored_folders_is_not_looked_at(server: RawClient, folder: Path) -> None:
    """An installation makes thousands of files; none of them is a workflow of this project."""
    single, whole = folder / "node_modules" / "single", folder / "node_modules" / "whole"
    for package in (single, whole):
        package.mkdir(parents=True)
        (package / "inner.yaml").write_text(DRAFT.replace("name: draft", f"name: {package.name}"))
    disk, uri = Disk(server, folder), (folder / "other.yaml").as_uri()
    server.open(uri, LOOP.replace("name: flow", "name: other").replace("workflow: draft", "workflow: late"))
    disk.with_code(uri, "WF601")  # the index is complete
    late = folder / "late.yaml"
    late.write_text(DRAFT.replace("name: draft", "name: late"))
    at = disk.tell((single / "inner.yaml", MADE), (whole, MADE), (late, MADE))
    disk.without(uri, "WF601", at)  # the events were taken in
    names = {one["name"] for one in server.ask("workspace/symbol", {"query": ""})["result"]}
    assert "late" in names
    assert names & {"single", "whole"} == set()


def test_UP_41_folders_of_an_ignore_file_are_passed_over_and_what_is_called_there_is_found(
    server: RawClient, folder: Path
) -> None:
    (folder / ".gitignore").write_text("made/\n")
    (folder / "made").mkdir()
    for name in ("early", "quiet"):
        (folder / "made" / f"{name}.yaml").write_text(DRAFT.replace("name: draft", f"name: {name}"))
    text = LOOP.replace("name: flow", "name: other")
    disk, uri = Disk(server, folder), (folder / "other.yaml").as_uri()
    server.open(uri, text.replace("workflow: draft", "workflow: nowhere"))
    disk.with_code(uri, "WF601")  # the index is complete
    names = {one["name"] for one in server.ask("workspace/symbol", {"query": ""})["result"]}
    assert names & {"early", "quiet"} == set()
    at = len(server.received)
    server.change(uri, 2, {"text": text.replace("workflow: draft", "workflow: made/early")})
    disk.without(uri, "WF601", at)
    at = len(server.received)
    (folder / ".gitignore").write_text("")
    disk.tell((folder / ".gitignore", CHANGED))
    server.change(uri, 3, {"text": text.replace("workflow: draft", "workflow: made/quiet")})
    disk.without(uri, "WF601", at)


def test_UP_41_a_server_without_work_uses_no_processor(server: RawClient, folder: Path) -> None:
    modules = folder / "node_modules" / "pack"
    modules.mkdir(parents=True)
    for n in range(300):
        (modules / f"{n}.yaml").write_text(DRAFT)
    server.begin({}, folder)
    server.open((folder / "notes.txt").as_uri(), "nothing of ours", language="plaintext")
    server.ask("workspace/symbol", {"query": "draft"})  # answered when all files are known
    comes_to_rest(server)


def comes_to_rest(server: RawClient) -> None:
    """What a start still has to do afterwards has an end: there are seconds in which nothing is used."""
    for _ in range(30):
        used = processor_seconds(server.process)
        with pytest.raises(subprocess.TimeoutExpired):
            server.process.wait(2)  # the span that is measured, during which it must go on living
        if processor_seconds(server.process) - used <= 0.03:
            return
    raise AssertionError("The server never comes to rest.")


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A host that takes connections and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        listening.setblocking(False)
        yield listening


def test_UP_42_nothing_is_fetched_and_a_huge_file_is_not_read(
    server: RawClient, folder: Path, silent: socket.socket
) -> None:
    url = f"http://127.0.0.1:{silent.getsockname()[1]}/x.json"
    settings = f"schema: {url}\nproviders:\n  slow: {{kind: openai, baseUrl: '{url}'}}\nservers: ['{url}']\n"
    (folder / ".loop-ls.yaml").write_text(settings)
    with open(folder / "huge.yaml", "wb") as huge:
        huge.write(b"$schema: workflow/v2.0\nname: huge\n")
        huge.truncate(2 * 1024**3)  # takes no room on the disk
    named, plain = (folder / "named.yaml").as_uri(), (folder / "flow.yaml").as_uri()
    server.begin({}, folder, {"settings": {"schema": url, "yaml": {"schemas": {url: "*.yaml"}}}})
    server.open(named, LOOP.replace("workflow/v2.0", url).replace("name: flow", "name: named"))
    server.open(plain, f"# yaml-language-server: $schema={url}\n" + LOOP.replace("ollama", "slow"))
    for uri in (named, plain):
        for method in ("hover", "completion", "definition"):
            place = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 12}}
            assert "error" not in server.ask(f"textDocument/{method}", place)
    settings_uri = (folder / ".loop-ls.yaml").as_uri()
    server.open(settings_uri, settings)
    assert [d["code"] for d in server.diagnostics(settings_uri, 1)].count("LS002") == 1
    assert server.ask("workspace/symbol", {"query": "draft"})["result"]  # the index is complete
    with pytest.raises(BlockingIOError):
        silent.accept()
    shown = [m for m in server.received if m.get("method") in ("window/showMessage", "window/showMessageRequest")]
    assert shown == []
    peak = Path(f"/proc/{server.process.pid}/status").read_text().partition("VmHWM:")[2].split()[0]
    assert int(peak) < 500_000  # in kB
    assert b"Traceback" not in server.log
