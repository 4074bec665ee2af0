"""Runs that wait for a person, and what is made of runs, as an editor meets them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.server.support.editor import CAPABILITIES, Editor
from tests.server.support.flows import LOOP
from tests.server.support.raw import RawClient

Json = dict[str, Any]
Start = Callable[..., RawClient]


def asked(client: RawClient) -> Json:
    return client.wait(lambda m: m.get("method") == "window/showMessageRequest")


def answered(client: RawClient, question: Json, title: str | None) -> None:
    client.send({"jsonrpc": "2.0", "id": question["id"], "result": None if title is None else {"title": title}})


def test_UP_83_a_person_is_asked_in_the_editor_with_the_path_and_the_output(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    editor.run({"iterations": 2, "asks": 2})
    question = asked(client)["params"]
    assert "`refine` waits for your decision on iteration 2: a draft" in question["message"]
    assert [action["title"] for action in question["actions"]] == ["Approve", "Reject", "Show output"]


def test_the_answer_of_the_message_reaches_the_run(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    editor.run({"iterations": 2, "asks": 1})
    answered(client, asked(client), "Approve")
    assert editor.wait_event("approval_resolved")["approved"] is True
    editor.wait_event("completed")


def test_UP_92_a_question_about_protected_files_offers_to_put_them_back(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    editor.run({"iterations": 2, "asks": 1, "touched": [{"path": "a", "change": "changed"}]})
    question = asked(client)
    assert "The agent touched a protected file: a (changed). Checks do not count until" in question["params"]["message"]
    titles = [action["title"] for action in question["params"]["actions"]]
    assert titles == ["Allow", "Restore files", "Stop the run", "Show output"]
    answered(client, question, "Restore files")
    resolved = editor.wait_event("approval_resolved")
    assert (resolved["approved"], resolved["decision"]) == (False, "restore")


def test_an_answer_from_elsewhere_closes_the_message(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    run_id = editor.run({"iterations": 2, "asks": 1})["runId"]
    question = asked(client)
    assert editor.command("loopLs.approve", {"runId": run_id, "loopId": "refine", "approved": False})["ok"] is True
    closed = client.wait(lambda m: m.get("method") == "$/cancelRequest")
    assert closed["params"]["id"] == question["id"]
    again = editor.command("loopLs.approve", {"runId": run_id, "loopId": "refine", "approved": True})
    assert again["code"] == "wrong_status"


def test_the_output_can_be_read_before_the_answer(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    editor.run({"iterations": 1, "asks": 1})
    answered(client, asked(client), "Show output")
    shown = client.wait(lambda m: m.get("method") == "window/showDocument")
    path = Path(shown["params"]["uri"].removeprefix("file://"))
    assert path.suffix == ".md"
    assert path.read_text() == "```text\na draft\n```"  # a preview shows it letter by letter
    client.send({"jsonrpc": "2.0", "id": shown["id"], "result": {"success": True}})
    second = client.wait(lambda m: m.get("method") == "window/showMessageRequest" and m["id"] != shown["id"])
    answered(client, second, "Reject")


def test_an_editor_that_cannot_ask_has_the_lens(fake: Start, folder: Path) -> None:
    client = fake()
    less = {**CAPABILITIES, "window": {"workDoneProgress": False}}
    editor = Editor(client, folder, capabilities=less)
    editor.run({"iterations": 1, "asks": 1})
    editor.wait_state(status="waiting_approval")
    lenses = client.ask("textDocument/codeLens", {"textDocument": {"uri": editor.uri}})["result"]
    approve = next(lens["command"] for lens in lenses if lens["command"]["title"] == "✓ Approve")
    assert approve["command"] == "loopLs.approve"
    assert editor.command("loopLs.approve", approve["arguments"][0])["ok"] is True
    editor.wait_event("completed")
    assert not [m for m in client.received if m.get("method") == "window/showMessageRequest"]
    [told] = [m["params"] for m in client.received if m.get("method") == "window/showMessage"]
    assert told["message"].startswith("`refine` waits for your decision on iteration 1: a draft")
    typed = f"loop-ls runs approve {approve['arguments'][0]['runId']} (or reject)"
    assert told["message"].endswith(f"Answer above the loop, or: {typed}")


def test_an_editor_without_lenses_runs_and_answers_by_code_actions(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder, capabilities={})

    def offered(line: int) -> dict[str, Json]:
        place = {"line": line, "character": 0}
        about = {"textDocument": {"uri": editor.uri}, "range": {"start": place, "end": place}}
        wanted = {"diagnostics": [], "only": ["source.run"]}
        found = client.ask("textDocument/codeAction", {**about, "context": wanted})["result"]
        return {one["title"]: one for one in found}

    start = offered(LOOP.splitlines().index("  - name: refine"))["▶ Run loop `refine`"]
    argument = {**start["arguments"][0], "input": '{"iterations": 1, "asks": 1}'}
    run_id = editor.command(start["command"], argument)["runId"]
    editor.wait_state(status="waiting_approval")
    approve = offered(0)["✓ Approve"]
    assert approve["arguments"] == [{"runId": run_id, "loopId": "refine", "approved": True}]
    assert editor.command(approve["command"], approve["arguments"][0])["ok"] is True
    editor.wait_event("completed")


def test_a_fork_and_a_replay_are_followed_like_a_start(fake: Start, folder: Path) -> None:
    client = fake()
    editor = Editor(client, folder)
    first = editor.run({"iterations": 2, "yes": 2})["runId"]
    editor.wait_event("completed", runId=first)
    fork = editor.command("loopLs.fork", {"runId": first, "iteration": 2})
    assert fork["ok"] is True
    editor.wait_event("completed", runId=fork["runId"])
    replay = editor.command("loopLs.replay", {"runId": first, "uri": editor.uri})
    assert replay["ok"] is True
    editor.wait_event("completed", runId=replay["runId"])
    assert editor.command("loopLs.fork", {"runId": "nobody"})["code"] == "not_found"
    assert editor.command("loopLs.fork", {"runId": first, "iteration": 0})["code"] == "bad_argument"
    assert editor.command("loopLs.metrics", {"runId": first})["loop_id"] == first
    assert editor.command("loopLs.metrics", {"runId": "nobody"})["code"] == "not_found"
    assert editor.command("loopLs.delete", {"runId": first})["ok"] is True


def test_a_condition_is_tried_with_the_text_of_the_editor(fake: Start, folder: Path) -> None:
    editor = Editor(fake(), folder)
    answer = editor.command("loopLs.testUntil", {"uri": editor.uri, "loop": "refine", "output": "x", "times": 3})
    assert answer["verdicts"] == [{"verdict": "yes"}]
    sent = answer["asked"]
    assert (sent["loop"], sent["output"], sent["times"], sent["texts"]) == ("refine", "x", 3, [LOOP])
    assert editor.command("loopLs.testUntil", {"uri": editor.uri})["code"] == "bad_argument"
