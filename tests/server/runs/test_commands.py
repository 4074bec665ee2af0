"""Runs as an editor sees them: started, heard without gap and double, shown, stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.support.editor import Editor
from tests.server.support.flows import NAME_LINE, UNTIL_LINE
from tests.server.support.raw import RawClient, insert

Json = dict[str, Any]
Start = Callable[..., RawClient]


def facts_in_order(events: list[Json]) -> list[int]:
    return [event["seq"] for event in events if "seq" in event]


def test_a_run_arrives_fact_by_fact_without_gap(fake: Start, folder: Path) -> None:
    editor = Editor(fake(), folder)
    answer = editor.run({"iterations": 5, "yes": 3})
    assert answer["ok"] is True
    editor.wait_event("completed")
    events = editor.events(answer["runId"])
    assert facts_in_order(events) == list(range(1, len(events) + 1))
    assert [e["iteration"] for e in events if e["kind"] == "iteration"] == [1, 2, 3]
    assert [(e["iteration"], e["verdict"]) for e in events if e["kind"] == "judged"] == [
        (1, "no"),
        (2, "no"),
        (3, "yes"),
    ]
    state = editor.wait_state(status="completed")
    assert state["reason"] == "condition_met"
    assert state["lastSeq"] == events[-1]["seq"]


@pytest.mark.parametrize("script", [{"lose": [2, 5, 6]}, {"lose": [1]}, {"double": True}, {"cut": 4}])
def test_no_gap_and_no_double_whatever_the_stream_does(fake: Start, folder: Path, script: Json) -> None:
    editor = Editor(fake(), folder)
    answer = editor.run({"iterations": 3, **script})
    editor.wait_event("completed")
    editor.wait_state(status="completed")
    events = editor.events(answer["runId"])
    assert facts_in_order(events) == list(range(1, len(events) + 1))


def test_streamed_text_is_joined_and_none_is_lost(fake: Start, folder: Path) -> None:
    editor = Editor(fake(), folder)
    answer = editor.run({"iterations": 1, "texts": 100})
    editor.wait_event("completed")
    events = editor.events(answer["runId"])
    texts = [e["text"] for e in events if e["kind"] == "text"]
    assert "".join(texts) == "".join(f"{n} " for n in range(100))
    assert len(texts) <= 20
    kinds = [e["kind"] for e in events]
    assert kinds.index("iteration") > max(n for n, kind in enumerate(kinds) if kind == "text")


def test_progress_is_begun_reported_and_ended(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    answer = editor.run({"iterations": 3, "hold": 2})
    create = client.wait(lambda m: m.get("method") == "window/workDoneProgress/create")
    token = create["params"]["token"]
    client.send({"jsonrpc": "2.0", "id": create["id"], "result": None})

    def progress(kind: str) -> Json:
        found: Json = client.wait(
            lambda m: (
                m.get("method") == "$/progress"
                and m["params"]["token"] == token
                and m["params"]["value"]["kind"] == kind
            )
        )["params"]["value"]
        return found

    begin = progress("begin")
    assert begin["title"] == "refine"
    assert begin["cancellable"] is True
    editor.command("loopLs.resume", {"runId": answer["runId"]})
    assert "limit reached after 3 iterations" in progress("end")["message"]


def test_the_cancel_button_of_the_progress_stops_the_run(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    editor.run({"iterations": 9, "hold": 3})
    create = client.wait(lambda m: m.get("method") == "window/workDoneProgress/create")
    client.send({"jsonrpc": "2.0", "id": create["id"], "result": None})
    editor.wait_event("judged", iteration=2)
    client.notify("window/workDoneProgress/cancel", {"token": create["params"]["token"]})
    editor.wait_event("cancelled")
    assert editor.wait_state(status="cancelled")["reason"] == "user"


def test_stop_pause_and_resume_reach_the_engine(fake: Start, folder: Path) -> None:
    editor = Editor(fake(), folder)
    run_id = editor.run({"iterations": 9, "hold": 2})["runId"]
    editor.wait_event("judged", iteration=1)
    assert editor.command("loopLs.pause", {"runId": run_id})["runs"] == [{"runId": run_id, "status": "paused"}]
    editor.wait_state(status="paused")
    assert editor.command("loopLs.resume", {"runId": run_id})["ok"] is True
    assert editor.command("loopLs.stop", {"runId": "all"})["ok"] is True
    assert editor.command("loopLs.stop", {"runId": "nobody"})["code"] == "not_found"


def test_verdicts_stand_on_the_until_line_until_the_loop_is_edited(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    editor.run({"iterations": 3, "yes": 2})
    [found] = editor.run_diagnostics(lambda ds: any(len(d.get("relatedInformation", ())) == 2 for d in ds))
    assert found["range"]["start"] == {"line": NAME_LINE, "character": 10}
    assert {r["location"]["range"]["start"]["line"] for r in found["relatedInformation"]} == {UNTIL_LINE}
    assert "NO" in found["relatedInformation"][0]["message"]
    # Above the loop: the result moves along.
    client.change(editor.uri, 2, insert(0, 0, "# a comment\n"))
    [moved] = [d for d in client.diagnostics(editor.uri, 2) if d["source"] == "loop-run"]
    assert moved["range"]["start"]["line"] == NAME_LINE + 1
    # In the loop: it is a result of another text now.
    client.change(editor.uri, 3, insert(NAME_LINE + 5, 30, " more"))
    assert [d for d in client.diagnostics(editor.uri, 3) if d["source"] == "loop-run"] == []
    # The next run brings its own.
    editor.run({"iterations": 2})
    [fresh] = editor.run_diagnostics(lambda ds: any("limit" in d["message"] for d in ds))
    assert len(fresh["relatedInformation"]) == 2


def test_lenses_are_drawn_again_while_a_run_goes_on(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    document = {"textDocument": {"uri": editor.uri}}
    titles = [one["command"]["title"] for one in client.ask("textDocument/codeLens", document)["result"]]
    assert any("Run loop" in title for title in titles)
    run_id = editor.run({"iterations": 9, "hold": 3})["runId"]
    editor.wait_state(iteration=2)
    client.wait(lambda m: m.get("method") == "workspace/codeLens/refresh")
    lenses = client.ask("textDocument/codeLens", document)["result"]
    stop = [one["command"] for one in lenses if one["command"]["command"] == "loopLs.stop"]
    assert stop[0]["arguments"] == [{"runId": run_id}]


def test_runs_status_and_events_can_be_asked_for(fake: Start, folder: Path) -> None:
    editor = Editor(fake(), folder)
    run_id = editor.run({"iterations": 2})["runId"]
    editor.wait_event("completed")
    assert [state["runId"] for state in editor.command("loopLs.runs", {"limit": 5})["runs"]] == [run_id]
    assert editor.command("loopLs.status", {"runId": run_id})["state"]["status"] == "completed"
    events = editor.command("loopLs.events", {"runId": run_id, "afterSeq": 2})["events"]
    assert events[0]["seq"] == 3
    graph = editor.command("loopLs.status", {"runId": run_id, "graph": True})["graph"]
    assert [node["name"] for node in graph] == ["refine"]
    graph = editor.command("loopLs.status", {"runId": run_id, "graph": True, "place": "report/2"})["graph"]
    assert [node["name"] for node in graph] == ["report/2"]
    assert editor.command("loopLs.engine.status", {})["engine"]["running"] is True
    assert editor.command("loopLs.engine.restart", {})["ok"] is True


def test_one_iteration_of_the_history_with_its_prompts(fake: Start, folder: Path) -> None:
    editor = Editor(fake(), folder)
    run_id = editor.run({"iterations": 2})["runId"]
    editor.wait_event("completed")
    answer = editor.command("loopLs.history", {"runId": run_id, "place": "refine/2", "prompts": True})
    assert answer["ok"] is True
    assert (answer["prompts"], answer["noPrompts"]) == (None, "There are no prompts.")
    answer = editor.command("loopLs.history", {"runId": run_id, "place": "pair/2", "prompts": True})
    assert [(row["place"], row["prompt"], row["system"]) for row in answer["prompts"]] == [
        ("pair/2/write", "# pair", "You are the coder.")
    ]
    assert answer["noPrompts"] is None


def test_an_artifact_is_answered_and_opened_as_a_document(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder, capabilities={"window": {"showDocument": {"support": True}}})
    run_id = editor.run({"iterations": 1})["runId"]
    editor.wait_event("completed")
    answer = editor.command("loopLs.artifact", {"runId": run_id, "artifact": "plan"})
    assert (answer["content"], answer.get("path")) == ("# Plan", None)
    assert editor.command("loopLs.artifact", {"runId": run_id, "artifact": "other"})["code"] == "not_found"
    shown = {"runId": run_id, "artifact": "plan", "show": True}
    params = {"command": "loopLs.artifact", "arguments": [shown]}
    client.send({"jsonrpc": "2.0", "id": "show", "method": "workspace/executeCommand", "params": params})
    asked = client.wait(lambda m: m.get("method") == "window/showDocument")
    client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"success": True}})
    path = client.answer("show")["result"]["path"]
    assert asked["params"]["uri"] == Path(path).as_uri()
    assert Path(path).read_text() == "# Plan"


@pytest.mark.parametrize("able", [True, False], ids=["does not", "cannot"])
def test_who_uses_an_editor_that_does_not_show_a_document_is_told_where_it_is(
    fake: Start, folder: Path, able: bool
) -> None:
    client = fake()
    editor = Editor(client, folder, capabilities={"window": {"showDocument": {"support": able}}})
    run_id = editor.run({"iterations": 1})["runId"]
    editor.wait_event("completed")
    params = {"command": "loopLs.history", "arguments": [{"runId": run_id, "show": True}]}
    client.send({"jsonrpc": "2.0", "id": "show", "method": "workspace/executeCommand", "params": params})
    if able:
        asked = client.wait(lambda m: m.get("method") == "window/showDocument")
        client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"success": False}})
    told = client.wait(lambda m: m.get("method") == "window/showMessage")
    assert told["params"]["message"] == f"See {client.answer('show')['result']['path']}."


def test_a_run_can_be_shown_as_a_document(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder, capabilities={"window": {"showDocument": {"support": True}}})
    run_id = editor.run({"iterations": 2})["runId"]
    editor.wait_event("completed")
    params = {"command": "loopLs.history", "arguments": [{"runId": run_id, "show": True}]}
    client.send({"jsonrpc": "2.0", "id": "show", "method": "workspace/executeCommand", "params": params})
    shown = client.wait(lambda m: m.get("method") == "window/showDocument")
    client.send({"jsonrpc": "2.0", "id": shown["id"], "result": {"success": True}})
    answer = client.answer("show")["result"]
    text = Path(answer["path"]).read_text("utf-8")
    assert text.startswith("# Run of `flow`")
    assert shown["params"]["uri"].endswith(f"{run_id}-transcript.md")


def test_folders_of_one_project_share_its_engine(fake: Start, folder: Path) -> None:
    """As in a terminal; two engines would be two records, and two accounts of the money of the project."""
    one, other = folder / "one", folder / "other"
    for each in (one, other):
        each.mkdir()
        for file in folder.glob("*.yaml"):
            (each / file.name).write_text(file.read_text())
    (folder / ".loop-ls.yaml").write_text("limits: {maxIterations: 9}\n")
    editor = Editor(fake(), one)
    added = {"added": [{"uri": other.as_uri(), "name": "other"}], "removed": []}
    editor.client.notify("workspace/didChangeWorkspaceFolders", {"event": added})
    there = {"uri": (other / "flow.yaml").as_uri()}
    assert editor.command("loopLs.engine.status", there)["engine"]["running"] is False
    run_id = editor.run({"iterations": 1})["runId"]
    editor.wait_event("completed")
    assert editor.command("loopLs.engine.status", there)["engine"]["running"] is True
    assert [run["runId"] for run in editor.command("loopLs.runs", {})["runs"]] == [run_id]
