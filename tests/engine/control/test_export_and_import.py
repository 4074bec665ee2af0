"""A run as one file: out of one data folder, into another, and never run by coming in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client.consent import agreed
from loop_ls.engine.transfer.run_export import ImportedRecord
from loop_ls.testing.models import SILENCE
from tests.engine.control.support.project import ENDS, Project


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Project]:
    (tmp_path / "one").mkdir()
    made = Project(tmp_path / "one")
    made.models.script |= {"write": ["v1", "v2", "v3"], "judge": ["NO", "YES"]}
    await made.open()
    yield made
    await made.close()


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[Project]:
    (tmp_path / "two").mkdir()
    made = Project(tmp_path / "two")
    await made.open()
    yield made
    await made.close()


async def exported(project: Project, run_id: str) -> dict[str, Any]:
    assert project.engine is not None
    answer = await project.engine.export(run_id)
    assert answer["ok"], answer
    return dict(json.loads(json.dumps(answer["run"])))  # as a file holds it


async def test_a_run_moves_to_another_data_folder_with_all_that_is_known_of_it(
    project: Project, other: Project
) -> None:
    facts = await project.run()
    run_id = facts[0]["runId"]
    assert other.engine is not None
    assert await other.engine.take_in(await exported(project, run_id)) == {"ok": True, "runId": run_id, "known": False}
    there = await other.state(run_id)
    here = await project.state(run_id)
    assert there.pop("imported") is True
    assert {**there, "lastSeq": 0} == {**here, "lastSeq": 0}
    events = (await other.engine.events(run_id))["events"]
    assert [(event["kind"], event["at"]) for event in events] == [(event["kind"], event["at"]) for event in facts]


async def test_what_came_in_can_be_replayed_and_forked(project: Project, other: Project) -> None:
    run_id = (await project.run())[0]["runId"]
    assert other.engine is not None
    await other.engine.take_in(await exported(project, run_id))
    replay = await other.engine.replay(run_id, {"root": str(other.root), "path": str(other.root / "polish.yaml")})
    assert (await other.ended(replay["runId"]))[-1]["finalOutput"] == "v2"
    assert other.models.requests == []
    other.models.script |= {"write": ["new"], "judge": ["YES"]}
    fork = await other.engine.fork(run_id, 2)
    assert (await other.ended(fork["runId"]))[-1]["finalOutput"] == "new"


async def test_the_same_run_is_taken_once_and_another_of_its_name_gets_a_name_of_its_own(
    project: Project, other: Project
) -> None:
    run_id = (await project.run())[0]["runId"]
    document = await exported(project, run_id)
    assert other.engine is not None
    await other.engine.take_in(document)
    assert (await other.engine.take_in(document))["known"] is True
    document["facts"][0]["at"] += 1
    taken = await other.engine.take_in(document)
    assert taken["known"] is False
    assert taken["runId"] != run_id
    assert len((await other.engine.runs())["runs"]) == 2


async def test_what_comes_in_takes_no_id_that_means_other_runs(project: Project, other: Project) -> None:
    run_id = (await project.run())[0]["runId"]
    document = await exported(project, run_id)
    assert other.engine is not None
    known = (await other.run())[0]["runId"]
    for given in ("all", "ALL", known[:6], known[:-1]):
        taken = await other.engine.take_in({**document, "runId": given})
        assert taken["ok"] and taken["runId"] != given
    assert (await other.state(known[:6]))["runId"] == known


async def test_a_run_that_had_not_ended_is_shown_as_ended_and_runs_nowhere(project: Project, other: Project) -> None:
    project.models.script["write"] = [SILENCE]
    run_id = (await project.start())["runId"]
    assert project.engine is not None
    async with asyncio.timeout(60):
        async for _, event in project.engine.subscribe(0):
            if event["kind"] == "step_started" and event.get("mode") == "run":
                break
    document = await exported(project, run_id)
    assert other.engine is not None
    await other.engine.take_in(document)
    assert (await other.state(run_id))["status"] == "cancelled"
    await other.close()
    await other.open()
    assert (await other.state(run_id))["status"] == "cancelled"
    assert other.models.requests == []


@pytest.mark.parametrize("last", [1, 3, -1])
async def test_a_run_that_came_in_without_its_end_runs_nowhere(project: Project, other: Project, last: int) -> None:
    """The engine was killed, or the disk was full, while it was written: nobody agreed to what it would do here."""
    document = await exported(project, (await project.run())[0]["runId"])
    carried = ImportedRecord(document, "half")
    assert other.engine is not None
    await other.engine.journal.adopt("half", carried.facts[:last], carried.answers, carried.texts)
    await other.close()
    await other.open()
    state = await other.state("half")
    assert state["status"] == "failed"
    assert "imported while it was running" in state["error"]["message"]
    assert other.engine.live == []
    assert other.models.requests == []


@pytest.mark.parametrize("span", ["perDay", "perProject"])
async def test_what_a_fork_of_a_run_that_came_in_spends_is_spent_here(
    project: Project, other: Project, span: str
) -> None:
    document = await exported(project, (await project.run())[0]["runId"])
    assert other.engine is not None
    await other.close()
    other.settings(f"limits: {{{span}: {{maxTokens: 5000}}}}\n")
    await other.open(home=other.root)
    await other.engine.take_in(document)
    run_id = document["runId"]
    for text in ("new", "newer"):  # of what came in, then of what was made of it
        other.models.script |= {"write": [text], "judge": ["YES"]}
        run_id = (await other.engine.fork(run_id, 1))["runId"]
        assert (await other.ended(run_id))[-1]["finalOutput"] == text
        assert "imported" not in await other.state(run_id)
    spent = (await other.state(run_id))["tokens"]
    await other.close()
    other.settings(f"limits: {{{span}: {{maxTokens: {2 * (spent['input'] + spent['output'])}}}}}\n")
    await other.open(home=other.root)
    assert (await other.run())[-1]["reason"] == "budget"


@pytest.mark.parametrize("span", ["{maxTokens: 1}", "{perDay: {maxTokens: 1}}", "{perProject: {maxTokens: 1}}"])
async def test_a_fork_of_a_run_that_came_in_keeps_within_the_limits_of_the_project_it_came_to(
    project: Project, other: Project, span: str
) -> None:
    document = await exported(project, (await project.run())[0]["runId"])
    await other.close()
    other.settings(f"limits: {span}\n")
    engine = await other.open(home=other.root)
    await engine.take_in(document)
    fork = await engine.fork(document["runId"], 1)
    assert (await other.ended(fork["runId"]))[-1]["reason"] == "budget"
    assert other.models.requests == []


async def test_a_record_that_starts_twice_is_refused_so_that_none_counts_as_ours(
    project: Project, other: Project
) -> None:
    """What it says to have cost, a negative sum among them, would count for the caps of the project."""
    document = await exported(project, (await project.run())[0]["runId"])
    document["facts"].insert(1, {**document["facts"][0], "body": {**document["facts"][0]["body"], "imported": False}})
    assert other.engine is not None
    refused = await other.engine.take_in(document)
    assert (refused["ok"], refused.get("code")) == (False, "bad_argument")
    assert "more than one start" in refused["message"]


async def test_secrets_never_leave_with_a_run(project: Project) -> None:
    project.models.script["write"] = ["use sk-0123456789abcdef0123 for it"]
    run_id = (await project.run(limits={"unchanged": 2}))[0]["runId"]
    assert "sk-0123456789abcdef0123" not in json.dumps(await exported(project, run_id))


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        {},
        {"kind": "loop-ls run"},
        {"kind": "loop-ls run", "version": 2},
        {"kind": "loop-ls run", "version": 1, "facts": [], "answers": {}, "texts": {}},
        {"kind": "loop-ls run", "version": 1, "facts": [3], "answers": {}, "texts": {}},
        {"kind": "loop-ls run", "version": 1, "facts": [{"at": 1, "kind": "completed", "body": {}}]},
    ],
)
async def test_what_is_no_run_is_refused_and_leaves_nothing(project: Project, broken: Any) -> None:
    assert project.engine is not None
    assert (await project.engine.take_in(broken))["code"] == "bad_argument"
    assert (await project.engine.runs())["runs"] == []


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("run_started", "path", 3.5),
        ("run_started", "limits", {"criterion": [None]}),
        ("run_started", "plan", {"stages": [7]}),
        ("run_started", "plan", {"keys": {"a": 1}}),
        ("run_started", "target", {"name": "x"}),
        ("run_started", "files", {"w.yaml": [None]}),
        ("call", "tokens", {"input": [None], "output": 1}),
        ("call", "usd", "much"),
        ("iteration", "iteration", "three"),
        ("iteration", "depth", [1]),
        ("judged", "verdict", {}),
        ("of_a_newer_engine", "place", 7),
    ],
)
async def test_a_run_with_a_damaged_fact_is_refused_by_its_name_and_spoils_no_list(
    project: Project, other: Project, kind: str, field: str, value: Any
) -> None:
    document = await exported(project, (await project.run())[0]["runId"])
    document["facts"].insert(1, {"at": document["facts"][0]["at"], "kind": "of_a_newer_engine", "body": {}})
    number = next(at for at, fact in enumerate(document["facts"], 1) if fact["kind"] == kind)
    document["facts"][number - 1]["body"][field] = value
    engine = other.engine
    assert engine is not None
    answer = await engine.take_in(document)
    assert answer["code"] == "bad_argument"
    assert f"`{field}" in answer["message"]
    assert f"event {number} (`{kind}`)" in answer["message"]
    assert (await engine.runs())["runs"] == []


@pytest.mark.parametrize("moment", [1e30, -1e30, float("inf"), float("nan"), True])
async def test_a_run_of_no_time_that_there_is_spoils_no_list(project: Project, other: Project, moment: Any) -> None:
    document = await exported(project, (await project.run())[0]["runId"])
    document["facts"][2]["at"] = moment
    assert other.engine is not None
    answer = await other.engine.take_in(document)
    assert (answer["code"], "event 3" in answer["message"]) == ("bad_argument", True)
    assert (await other.engine.runs())["runs"] == []


async def test_a_text_that_was_changed_on_its_way_is_noticed(project: Project, other: Project) -> None:
    document = await exported(project, (await project.run())[0]["runId"])
    name = next(iter(document["texts"]))
    document["texts"][name] += "# changed"
    assert other.engine is not None
    answer = await other.engine.take_in(document)
    assert answer["code"] == "bad_argument"
    assert name in answer["message"]


async def test_a_run_that_came_in_sends_nothing_anywhere_before_somebody_agrees(
    project: Project, other: Project
) -> None:
    run_id = (await project.run())[0]["runId"]
    document = await exported(project, run_id)
    stranger = {"baseUrl": "https://stranger.example/v1", "apiKeyEnv": "VICTIM_KEY"}
    document["facts"][0]["body"]["settings"] = {"providers": {"ollama": stranger}}
    engine = other.engine
    assert engine is not None
    await engine.take_in(document)
    answer = await engine.fork(run_id, 2)
    assert answer["code"] == "consent_required"
    assert answer["endpoints"] == [
        {"provider": "ollama", "host": "stranger.example", "url": stranger["baseUrl"], "variable": "VICTIM_KEY"}
    ]
    assert other.models.requests == []
    other.models.script |= {"write": ["new"], "judge": ["YES"]}
    forked = await engine.fork(run_id, 2, consent=agreed(engine.folder, answer))
    assert (await other.ended(forked["runId"]))[-1]["finalOutput"] == "new"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("settings", {"providers": 3}),
        ("settings", {"providers": {"ollama": "here"}}),
        ("settings", {"providers": {"ollama": {"price": "much", "maxConcurrency": {}, "fallback": 7, "baseUrl": []}}}),
        ("settings", {"judge": 7, "assist": [], "servers": "x", "rag": 1, "limits": "none"}),
        ("settings", {"judge": {"provider": {}, "model": []}}),
        ("plan", {"keys": [1, 2]}),
        ("plan", {"keys": {"polish": {}}}),
        ("plan", {"keys": {}}),
        ("plan", {"elements": 5}),
        ("plan", {"elements": [None, {}]}),
        ("plan", {"maxIterations": "many"}),
        ("target", {"kind": {}, "name": []}),
        ("limits", {"budgetUsd": {}, "wallClock": []}),
        ("path", "../../elsewhere.yaml"),
        ("path", "/etc/passwd"),
        ("path", "missing.yaml"),
        ("files", {}),
        ("files", {"polish.yaml": "../.."}),
        ("format", "of a newer engine"),
    ],
)
async def test_a_run_that_came_in_with_a_damaged_start_is_forked_or_refused_in_words(
    project: Project, other: Project, field: str, value: Any
) -> None:
    document = await exported(project, (await project.run())[0]["runId"])
    document["facts"][0]["body"][field] = value
    engine = other.engine
    assert engine is not None
    taken = await engine.take_in(document)
    if not taken["ok"]:
        assert taken["code"] == "bad_argument"
        return
    run_id = taken["runId"]
    other.models.script |= {"write": ["new"], "judge": ["YES"]}
    answer = await engine.fork(run_id, 2)
    if answer["ok"]:
        assert (await other.ended(answer["runId"]))[-1]["kind"] in ENDS
    else:
        assert answer["code"] != "internal_error"
        assert answer["message"].endswith(".")
    for told in (await engine.prompts(run_id), await engine.replay(run_id), await engine.export(run_id)):
        assert told["ok"] or (told["code"] != "internal_error" and told["message"].endswith("."))


async def test_the_command_for_a_fork_of_a_run_that_came_in_names_the_folder_here(
    project: Project, other: Project
) -> None:
    run_id = (await project.run())[0]["runId"]
    document = await exported(project, run_id)
    stranger = {"baseUrl": "https://stranger.example/v1", "apiKeyEnv": "VICTIM_KEY"}
    document["facts"][0]["body"]["settings"] = {"providers": {"ollama": stranger}}
    document["facts"][0]["body"]["root"] = "/home/somebody/else"
    await other.close()
    engine = await other.open(home=other.root)
    taken = await engine.take_in({**document, "runId": "stranger1"})
    answer = await engine.fork(taken["runId"], 2, origin="api")
    assert answer["code"] == "consent_required"
    assert "/home/somebody/else" not in json.dumps(answer)
    assert answer["command"] == f"loop-ls run {other.root}/polish.yaml --root {other.root} --agree-only"


async def test_a_fork_of_a_replay_sends_nothing_anywhere_before_somebody_agrees(
    project: Project, other: Project
) -> None:
    run_id = (await project.run())[0]["runId"]
    engine = other.engine
    assert engine is not None
    await engine.take_in(await exported(project, run_id))
    stranger = {"baseUrl": "https://stranger.example/v1", "apiKeyEnv": "VICTIM_KEY"}
    settings = {"providers": {"ollama": stranger}}
    replay = await engine.replay(run_id, {"root": str(other.root), "settings": settings})
    await other.ended(replay["runId"])
    answer = await engine.fork(replay["runId"], 2)
    assert answer["code"] == "consent_required"
    assert [each["host"] for each in answer["endpoints"]] == ["stranger.example"]
    assert other.models.requests == []
