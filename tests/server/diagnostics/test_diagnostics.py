"""Diagnostics while typing: pushed with their version, pulled with their id, streamed for the workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.server.support.flows import DRAFT, HEAD, INTERPOLATED, LOOP, UNTIL_LINE
from tests.server.support.raw import RawClient, insert

Json = dict[str, Any]
PULL: Json = {
    "textDocument": {"diagnostic": {}, "publishDiagnostics": {"relatedInformation": True}},
    "workspace": {"diagnostics": {"refreshSupport": True}},
}


def codes(found: list[Json]) -> list[str]:
    return [d["code"] for d in found]


def pull(client: RawClient, uri: str, previous: str | None = None) -> Json:
    params: Json = {"textDocument": {"uri": uri}}
    if previous is not None:
        params["previousResultId"] = previous
    found: Json = client.ask("textDocument/diagnostic", params)["result"]
    return found


def test_every_version_is_published_to_a_client_that_does_not_pull(server: RawClient, folder: Path) -> None:
    uri = (folder / "flow.yaml").as_uri()
    server.begin({}, folder)
    server.open(uri, INTERPOLATED)
    assert "WF702" in codes(server.diagnostics(uri, 1))
    line = INTERPOLATED.splitlines()[UNTIL_LINE]
    whole = {
        "range": {"start": {"line": UNTIL_LINE, "character": 0}, "end": {"line": UNTIL_LINE, "character": len(line)}}
    }
    server.change(uri, 2, {**whole, "text": "    until: The draft names three risks"})
    assert "WF702" not in codes(server.diagnostics(uri, 2))
    server.change(uri, 3, {"text": INTERPOLATED})
    assert "WF702" in codes(server.diagnostics(uri, 3))


def test_a_finding_leads_to_the_page_of_its_rule(server: RawClient, folder: Path) -> None:
    uri = (folder / "flow.yaml").as_uri()
    server.begin({"textDocument": {"publishDiagnostics": {"codeDescriptionSupport": True}}}, folder)
    server.open(uri, INTERPOLATED)
    [found] = [one for one in server.diagnostics(uri, 1) if one["code"] == "WF702"]
    page = Path(unquote(urlsplit(found["codeDescription"]["href"]).path))
    assert "WF702" in page.read_text()


def test_a_half_typed_line_costs_nothing_but_itself(server: RawClient, folder: Path) -> None:
    uri = (folder / "flow.yaml").as_uri()
    server.begin({}, folder)
    server.open(uri, LOOP)
    version = 1
    text = "    max_r"
    server.change(uri, 2, insert(UNTIL_LINE, 0, "\n"))
    for column, character in enumerate(text):
        version = column + 3
        server.change(uri, version, insert(UNTIL_LINE, column, character))
    found = [d for d in server.diagnostics(uri, version) if d["severity"] == 1]
    assert {d["range"]["start"]["line"] for d in found} == {UNTIL_LINE}
    server.change(uri, version + 1, insert(UNTIL_LINE, len(text), "etries: 3"))
    assert [d for d in server.diagnostics(uri, version + 1) if d["severity"] == 1] == []


def test_a_pulled_report_is_unchanged_until_it_changes(server: RawClient, folder: Path) -> None:
    uri = (folder / "flow.yaml").as_uri()
    assert server.begin(PULL, folder)["capabilities"]["diagnosticProvider"]["interFileDependencies"] is True
    server.open(uri, INTERPOLATED)
    first = pull(server, uri)
    assert first["kind"] == "full"
    assert "WF702" in codes(first["items"])
    server.change(uri, 2, insert(1, 0, ""))
    assert pull(server, uri, first["resultId"]) == {"kind": "unchanged", "resultId": first["resultId"]}
    server.change(uri, 3, insert(5, 0, "# moves\n"))
    moved = pull(server, uri, first["resultId"])
    assert moved["kind"] == "full"
    assert moved["resultId"] != first["resultId"]
    # A client that pulls is not told twice.
    published = [m for m in server.received if m.get("method") == "textDocument/publishDiagnostics"]
    assert published == []


def test_findings_follow_a_change_in_another_file(server: RawClient, folder: Path) -> None:
    uri, callee = (folder / "flow.yaml").as_uri(), (folder / "draft.yaml").as_uri()
    server.begin({}, folder)
    server.open(uri, LOOP)
    server.open(callee, DRAFT)
    server.diagnostics(callee, 1)
    assert "WF601" not in codes(server.diagnostics(uri, 1))
    at = len(server.received)
    server.change(callee, 2, {"text": DRAFT.replace("name: draft", "name: sketch")})

    def missing(message: Json) -> bool:
        params = message.get("params") or {}
        hit = message.get("method") == "textDocument/publishDiagnostics" and params["uri"] == uri
        return hit and "WF601" in codes(params["diagnostics"])

    server.wait(missing, after=at)


def test_a_missing_workflow_is_said_when_all_files_are_known_and_not_before(server: RawClient, folder: Path) -> None:
    (folder / "draft.yaml").unlink()
    uri = (folder / "flow.yaml").as_uri()
    server.begin({}, folder)
    server.open(uri, LOOP)
    assert "WF601" not in codes(server.diagnostics(uri, 1))

    def said(message: Json) -> bool:
        hit = message.get("method") == "textDocument/publishDiagnostics"
        return hit and "WF601" in codes(message["params"]["diagnostics"])

    server.wait(said)


def test_files_of_others_are_left_alone(server: RawClient, tmp_path: Path) -> None:
    server.begin({}, tmp_path)
    for name, text in (("compose.yaml", "services: {web: {image: x}}\n"), ("x.json", '{"a": [1, 2,]}')):
        uri = (tmp_path / name).as_uri()
        server.open(uri, text)
        assert server.diagnostics(uri, 1) == []
        for method in ("hover", "completion", "definition"):
            params = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 1}}
            assert server.ask(f"textDocument/{method}", params)["result"] is None


def test_the_committed_state_of_a_file_is_not_judged(server: RawClient, folder: Path) -> None:
    server.begin({}, folder)
    view = f"git:{folder}/flow.yaml?%7B%7D"
    server.open(view, INTERPOLATED)
    server.change(view, 2, {"text": INTERPOLATED})
    uri = (folder / "flow.yaml").as_uri()
    server.open(uri, INTERPOLATED)
    assert server.diagnostics(uri, 1)
    told = [one["params"]["uri"] for one in server.received if one.get("method") == "textDocument/publishDiagnostics"]
    assert set(told) == {uri}
    hover = {"textDocument": {"uri": view}, "position": {"line": 6, "character": 6}}
    assert server.ask("textDocument/hover", hover)["result"] is None


def test_a_closed_document_has_no_pushed_findings_left(server: RawClient, folder: Path) -> None:
    uri = (folder / "flow.yaml").as_uri()
    server.begin({}, folder)
    server.open(uri, INTERPOLATED)
    assert server.diagnostics(uri, 1)
    at = len(server.received)
    server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    cleared = server.wait(
        lambda m: m.get("method") == "textDocument/publishDiagnostics" and m["params"]["uri"] == uri, after=at
    )
    assert cleared["params"]["diagnostics"] == []


def test_more_than_five_hundred_findings_are_cut_with_a_note(server: RawClient) -> None:
    server.begin()
    lines = "".join(f"  - {{name: s{n}, rum: x}}\n" for n in range(600))
    server.open("untitled:many.yaml", HEAD.format(name="many") + "steps:\n" + lines)
    found = server.diagnostics("untitled:many.yaml", 1)
    assert len(found) == 500
    assert "not shown" in found[-1]["message"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_columns_are_counted_as_the_client_counts(server: RawClient, encoding: str) -> None:
    server.begin({"general": {"positionEncodings": [encoding]}})
    prompt = "😀ü {{inputt}}"
    text = HEAD.format(name="wide") + f'steps:\n  - {{name: a, run: "x {{{{input}}}} {prompt}"}}\n'
    server.open("untitled:wide.yaml", text)
    [found] = [d for d in server.diagnostics("untitled:wide.yaml", 1) if d["code"] == "WF501"]
    line = text.splitlines()[6]
    before = line[: line.index("inputt")]
    units = {"utf-8": len(before.encode()), "utf-16": len(before.encode("utf-16-le")) // 2, "utf-32": len(before)}
    start = found["range"]["start"]["character"]
    assert units[encoding] - 2 <= start <= units[encoding]


class Workspace:
    """An open request for workspace diagnostics, and the reports that came."""

    def __init__(self, client: RawClient, token: str | None = "all") -> None:
        self.client = client
        params: Json = {"previousResultIds": []}
        if token is not None:
            params["partialResultToken"] = token
        self.id = 7001
        client.send({"jsonrpc": "2.0", "id": self.id, "method": "workspace/diagnostic", "params": params})

    def report(self, uri: str, after: int = 0) -> Json:
        """The next streamed report for a file."""

        def reports(message: Json) -> list[Json]:
            return [r for r in message["params"]["value"]["items"] if r["uri"] == uri]

        def hit(message: Json) -> bool:
            return message.get("method") == "$/progress" and bool(reports(message))

        return reports(self.client.wait(hit, after=after))[0]


def test_UP_26_the_workspace_stream_tells_of_closed_files_and_of_deleted_ones(server: RawClient, folder: Path) -> None:
    bad = folder / "sub" / "bad.yaml"
    bad.parent.mkdir()
    bad.write_text(INTERPOLATED.replace("name: flow", "name: bad"))
    server.begin(PULL, folder)
    stream = Workspace(server)
    report = stream.report(bad.as_uri())
    assert "WF702" in codes(report["items"])
    assert report["version"] is None
    at = len(server.received)
    bad.unlink()
    server.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": bad.parent.as_uri(), "type": 3}]})
    assert stream.report(bad.as_uri(), at)["items"] == []
    # It never ends by itself, else the editor would ask every two seconds.
    assert not [m for m in server.received if m.get("id") == stream.id and "method" not in m]
    server.notify("$/cancelRequest", {"id": stream.id})
    assert server.answer(stream.id)["error"]["code"] == -32800


def test_the_workspace_stream_hears_of_an_edit(server: RawClient, folder: Path) -> None:
    uri = (folder / "flow.yaml").as_uri()
    server.begin(PULL, folder)
    stream = Workspace(server)
    server.open(uri, LOOP)
    pull(server, uri)
    at = len(server.received)
    server.change(uri, 2, {"text": INTERPOLATED})
    report = stream.report(uri, at)
    assert report["version"] == 2
    assert "WF702" in codes(report["items"])


def test_without_a_token_the_first_news_are_the_answer(server: RawClient, folder: Path) -> None:
    (folder / "flow.yaml").write_text(INTERPOLATED)
    server.begin(PULL, folder)
    answer = server.ask("workspace/diagnostic", {"previousResultIds": []})["result"]
    assert [r["uri"] for r in answer["items"]] == [(folder / "flow.yaml").as_uri()]
    known = [{"uri": r["uri"], "value": r["resultId"]} for r in answer["items"]]
    params = {"previousResultIds": known}
    server.send({"jsonrpc": "2.0", "id": 8001, "method": "workspace/diagnostic", "params": params})
    (folder / "flow.yaml").write_text(LOOP)
    changes = [{"uri": (folder / "flow.yaml").as_uri(), "type": 2}]
    server.notify("workspace/didChangeWatchedFiles", {"changes": changes})
    assert server.answer(8001)["result"]["items"][0]["items"] == []


def test_shutdown_answers_an_open_stream(server: RawClient, folder: Path) -> None:
    server.begin(PULL, folder)
    stream = Workspace(server)
    assert server.end() == 0
    assert server.answer(stream.id)["error"]["code"] == -32800
