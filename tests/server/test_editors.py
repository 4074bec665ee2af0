"""What a person does, with the capabilities that VS Code, Neovim and Emacs really send.

Writing needs no engine; running starts the real one, with scripted answers beside the file.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types as t

from tests.server.support.engine import ANSWERS, SLOW, stop_engine
from tests.server.support.flows import DRAFT, INTERPOLATED, LOOP, NAME_LINE, UNTIL_LINE
from tests.server.support.session import EDITORS, Session

pytestmark = pytest.mark.long


Json = dict[str, Any]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One engine for all: whoever runs first starts it. No session may hear of another's runs."""
    data = tmp_path_factory.mktemp("engine")
    yield data
    stop_engine(data)


@pytest_asyncio.fixture(params=EDITORS)
async def session(request: pytest.FixtureRequest, folder: Path, data: Path) -> AsyncIterator[Session]:
    session = Session(request.param, folder, data)
    await session.begin()
    yield session
    await session.end()
    own = {event["runId"] for event in session.events if event["kind"] == "run_started"}
    assert {state["uri"] for state in session.states if state["runId"] in own} <= {(folder / "flow.yaml").as_uri()}
    assert {event["runId"] for event in session.events} <= own


def at(uri: str, line: int, character: int) -> dict[str, Any]:
    return {"text_document": t.TextDocumentIdentifier(uri), "position": t.Position(line, character)}


async def labels(session: Session, uri: str, line: int, character: int) -> list[str]:
    answer = await session.client.text_document_completion_async(t.CompletionParams(**at(uri, line, character)))
    assert isinstance(answer, t.CompletionList)
    return [item.label for item in answer.items]


async def test_writing_a_loop(session: Session) -> None:
    uri = (session.folder / "flow.yaml").as_uri()
    session.open(uri, INTERPOLATED)
    found = await session.findings(uri, 1)
    assert "WF702" in [d.code for d in found]

    # A quick fix that needs review, computed when it is chosen.
    [wf702] = [d for d in found if d.code == "WF702"]
    context = t.CodeActionContext(diagnostics=[wf702])
    params = t.CodeActionParams(t.TextDocumentIdentifier(uri), wf702.range, context)
    actions = await session.client.text_document_code_action_async(params)
    action = next(a for a in actions or () if isinstance(a, t.CodeAction) and a.kind == t.CodeActionKind.QuickFix)
    if action.edit is None:
        action = await session.client.code_action_resolve_async(action)
    assert action.edit is not None
    versioned = session.editor in ("vscode", "emacs")
    assert (action.edit.document_changes is not None) is versioned
    assert (action.edit.changes is not None) is not versioned

    # Half-typed: `{{lo` in a new argument offers exactly the variables of a loop.
    text = '    with: {topic: "{{input}}", note: "{{lo'
    lines = LOOP.splitlines(keepends=True)
    half = "".join([*lines[:8], text + "\n", *lines[9:]])
    session.client.text_document_did_close(t.DidCloseTextDocumentParams(t.TextDocumentIdentifier(uri)))
    session.open(uri, half, 2)
    offered = await labels(session, uri, 8, len(text))
    assert {"loop.iteration", "loop.last.output", "loop.history"} <= set(offered)
    assert not {"input", "name", "workflow"} & {label for label in offered if label.startswith("loop")}

    # A criterion that the called workflow's last step can meet.
    half = "".join([*lines[:10], "    until: \n"])
    session.client.text_document_did_close(t.DidCloseTextDocumentParams(t.TextDocumentIdentifier(uri)))
    session.open(uri, half, 3)
    assert any("risks" in label or "output" in label for label in await labels(session, uri, 10, 11))

    # Hover says what a loop variable is, outline and lenses know the loop.
    session.client.text_document_did_close(t.DidCloseTextDocumentParams(t.TextDocumentIdentifier(uri)))
    session.open(uri, LOOP, 4)
    column = LOOP.splitlines()[8].index("last.output")
    hover = await session.client.text_document_hover_async(t.HoverParams(**at(uri, 8, column)))
    assert hover is not None
    assert isinstance(hover.contents, t.MarkupContent)
    assert "iteration 1: empty" in hover.contents.value
    document = t.TextDocumentIdentifier(uri)
    symbols = await session.client.text_document_document_symbol_async(t.DocumentSymbolParams(document))
    assert symbols
    links = await session.client.text_document_definition_async(t.DefinitionParams(**at(uri, 7, 15)))
    assert "draft.yaml" in str(links)
    lenses = await session.client.text_document_code_lens_async(t.CodeLensParams(document))
    commands = [lens.command.command for lens in lenses or () if lens.command]
    assert "loopLs.run" in commands


async def test_every_key_typed_gets_its_findings(session: Session) -> None:
    uri = (session.folder / "flow.yaml").as_uri()
    session.open(uri, LOOP)
    assert [d for d in await session.findings(uri, 1) if d.severity == t.DiagnosticSeverity.Error] == []
    session.insert(uri, 2, UNTIL_LINE, 0, "\n")
    version = 2
    for column, character in enumerate("    on_failure: retri"):
        version += 1
        session.insert(uri, version, UNTIL_LINE, column, character)
        await session.findings(uri, version)
    last = await session.findings(uri, version)
    assert any("retry" in d.message for d in last)


async def test_a_run_from_the_lens_to_its_verdicts(session: Session) -> None:
    (session.folder / "flow.answers.yaml").write_text(ANSWERS)
    uri = (session.folder / "flow.yaml").as_uri()
    session.open(uri, LOOP)
    await session.findings(uri, 1)
    document = t.TextDocumentIdentifier(uri)
    lenses = await session.client.text_document_code_lens_async(t.CodeLensParams(document))
    run = next(
        lens.command for lens in lenses or () if lens.command and lens.command.command == "loopLs.run"
        and lens.command.arguments and dict(lens.command.arguments[0])["target"]["kind"] == "loop"
    )  # fmt: skip
    assert run.arguments
    argument = {**dict(run.arguments[0]), "input": "trains", "mock": True}
    answer = await session.command("loopLs.run", argument)
    assert answer["ok"] is True, answer
    run_id = answer["runId"]
    await session.until_event("completed", run_id)
    events = session.events_of(run_id)
    numbers = [event["seq"] for event in events if "seq" in event]
    assert numbers == list(range(1, len(numbers) + 1))
    assert [e["iteration"] for e in events if e["kind"] == "iteration"] == [1, 2, 3]
    assert [(e["iteration"], e["verdict"]) for e in events if e["kind"] == "judged"] == [
        (1, "no"),
        (2, "no"),
        (3, "yes"),
    ]

    # The result stands on the loop's name, the verdicts with the condition.
    def verdict_lines() -> list[int]:
        shown = session.run_findings(uri)
        if session.editor != "emacs":
            return [r.location.range.start.line for d in shown for r in d.related_information or ()]
        # Emacs declares no related information: the message tells.
        return [int(line) - 1 for d in shown for line in re.findall(r"line (\d+): iteration", d.message)]

    await session.until(lambda: verdict_lines() == [UNTIL_LINE] * 3)
    assert [d.range.start.line for d in session.run_findings(uri)] == [NAME_LINE]
    await session.until(lambda: bool(session.states) and session.states[-1]["status"] == "completed")
    assert session.states[-1]["reason"] == "condition_met"

    # Gone after an edit of the loop, replaced by the next run.
    session.insert(uri, 2, UNTIL_LINE, len("    until: The draft names three risks"), " now")
    await session.findings(uri, 2)
    await session.until(lambda: session.run_findings(uri) == [])
    again = await session.command("loopLs.run", argument)
    await session.until_event("completed", again["runId"])
    await session.until(lambda: len(session.run_findings(uri)) == 1)


async def test_cancelling_the_progress_stops_the_run(session: Session) -> None:
    (session.folder / "flow.answers.yaml").write_text(SLOW)
    uri = (session.folder / "flow.yaml").as_uri()
    session.open(uri, LOOP)
    await session.findings(uri, 1)
    argument = {"uri": uri, "target": {"kind": "loop", "name": "refine"}, "input": "trains", "mock": True}
    answer = await session.command("loopLs.run", argument)
    assert answer["ok"] is True, answer

    def tokens() -> list[t.ProgressToken]:
        reports = session.client.progress_reports
        return [token for token, said in reports.items() if said and answer["runId"] in str(token)]

    await session.until(lambda: bool(tokens()))
    await session.until_event("judged", answer["runId"])
    [token] = tokens()
    first = session.client.progress_reports[token][0]
    assert isinstance(first, t.WorkDoneProgressBegin)
    assert (first.title, first.cancellable) == ("refine", True)
    session.client.window_work_done_progress_cancel(t.WorkDoneProgressCancelParams(token))
    await session.until_event("cancelled", answer["runId"])
    await session.until(lambda: isinstance(session.client.progress_reports[token][-1], t.WorkDoneProgressEnd))


async def test_stop_and_pause_by_command(session: Session) -> None:
    (session.folder / "flow.answers.yaml").write_text(SLOW)
    uri = (session.folder / "flow.yaml").as_uri()
    session.open(uri, LOOP)
    await session.findings(uri, 1)
    argument = {"uri": uri, "target": {"kind": "loop", "name": "refine"}, "input": "trains", "mock": True}
    run_id = (await session.command("loopLs.run", argument))["runId"]
    await session.until_event("judged", run_id)
    assert (await session.command("loopLs.pause", {"runId": run_id}))["ok"] is True
    await session.until_event("paused", run_id)
    assert (await session.command("loopLs.status", {"runId": run_id}))["state"]["status"] == "paused"
    assert (await session.command("loopLs.resume", {"runId": run_id}))["ok"] is True
    await session.until_event("resumed", run_id)
    assert (await session.command("loopLs.stop", {"runId": run_id}))["ok"] is True
    await session.until_event("cancelled", run_id)
    again = await session.command("loopLs.stop", {"runId": run_id})
    assert "runs" in again or again["code"] in ("wrong_status", "not_found")


@pytest.mark.parametrize("session", ["vscode"], indirect=True)
async def test_an_input_that_is_missing_is_asked_for_by_name(session: Session) -> None:
    uri = (session.folder / "draft.yaml").as_uri()
    session.open(uri, DRAFT)
    await session.findings(uri, 1)
    answer = await session.command("loopLs.run", {"uri": uri, "mock": True})
    assert answer["code"] == "input_required"
    assert "topic" in answer["names"]
