"""Nothing starts, nothing is sent and nothing outside is touched before the owner agrees, whoever asks and where."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from loop_ls.client.consent import agreed
from loop_ls.engine.api.mcp.agent_tools import use
from loop_ls.engine.core.redaction import MASK
from tests.engine.capabilities.conftest import Victim
from tests.engine.capabilities.hostile import (
    FLOW_START,
    ONLY_ENHANCE,
    PUTS_SECRETS_INTO_TEXTS,
    REFUSED_FOR_GOOD,
    REPOSITORIES,
    SECRET,
    Json,
    Repository,
    settings,
    workflow,
    written,
)

#: What the asking side can know of the question, said back as an answer to it.
ECHOES = ("digest", "nonce")


every = pytest.mark.parametrize("name", REPOSITORIES)


@every
async def test_nobody_is_answered_but_with_a_question(victim: Victim, name: str) -> None:
    """The owner's surfaces, the network, and somebody with a token of their own, each with all that they were told."""
    argument, told = victim.clone(name), []
    for origin, user in (
        ("cli", None),
        ("editor", None),
        ("api", None),
        ("socket", None),
        ("mcp", "eve"),
        ("cli", "eve"),
    ):
        answer = await victim.engine.start({**argument, "origin": origin}, user)
        told.append(answer)
        assert not answer["ok"], answer
        if name in REFUSED_FOR_GOOD:
            assert answer["code"] in ("bad_argument", "file_has_errors"), answer
            continue
        if name in ONLY_ENHANCE and user is not None:
            assert answer["code"] == "forbidden", "a loop that writes files itself is started by the owner alone"
            continue
        assert answer["code"] == "consent_required", answer
        for echo in ECHOES:
            again = await victim.engine.start({**argument, "origin": origin, "consent": answer.get(echo)}, user)
            assert not again["ok"], again
            told.append(again)
        if origin not in ("cli", "editor") or user is not None:
            assert answer["message"].startswith("The owner must give permission first: ")
            assert "nonce" not in answer
    victim.is_unharmed(*told)


@every
async def test_a_mock_run_calls_nobody(victim: Victim, name: str) -> None:
    argument = victim.clone(name)
    answer = await victim.engine.start({**argument, "mock": True, "enhance": {}}, "eve")
    facts = await victim.ended(answer["runId"]) if answer["ok"] else []
    victim.is_unharmed(answer, keeps=name in PUTS_SECRETS_INTO_TEXTS)
    assert facts or name in REFUSED_FOR_GOOD, answer


@pytest.mark.parametrize("name", [name for name in REPOSITORIES if name not in REFUSED_FOR_GOOD | ONLY_ENHANCE])
async def test_an_import_runs_nothing_and_its_fork_and_replay_ask(victim: Victim, name: str) -> None:
    """A record made elsewhere of a run that was no mock run there."""
    argument = victim.clone(name)
    answer = await victim.engine.start({**argument, "mock": True, "enhance": {}})
    await victim.ended(answer["runId"])
    document = json.loads(json.dumps((await victim.engine.export(answer["runId"]))["run"]))
    document["runId"] = "stranger1"
    document["facts"][0]["body"]["mock"] = False
    taken = await victim.engine.take_in(document)
    assert taken["ok"], taken
    forked = await victim.engine.fork(taken["runId"], origin="api")
    assert "nonce" not in forked
    again = await victim.engine.fork(taken["runId"], origin="api", consent=forked.get("digest"))
    for one in (forked, again):  # where the record leaves out the hostile part, it does nothing
        if one["ok"]:
            await victim.ended(one["runId"])
    replayed = await victim.engine.replay(taken["runId"], {"origin": "api"})
    if replayed["ok"]:
        await victim.ended(replayed["runId"])
    victim.is_unharmed(forked, again, replayed, keeps=name in PUTS_SECRETS_INTO_TEXTS)


@pytest.mark.parametrize("name", ["role: tool_bound shell", "flow: step of an agent", "assistant: test command"])
async def test_a_model_over_mcp_cannot_agree(victim: Victim, name: str) -> None:
    argument = victim.clone(name)

    class Loops:
        async def start(self, given: Json) -> Json:
            return await victim.engine.start({**given, **argument, "definition": None})

    given: Json = {"definition": "tidy", "goal": "g"}
    for consent, answer in (
        ({}, "The owner must give permission first"),
        ({"consent": "yes"}, "no argument `consent`"),
    ):
        told, refused = await use(Loops(), "loop_start", {**given, **consent})  # type: ignore[arg-type]
        assert refused
        assert answer in told
        victim.is_unharmed(told)


@pytest.mark.parametrize(
    "name",
    ["role: tool_bound shell", "flow: step of an agent", "flow: server of a step", "assistant: test command"],
)
async def test_once_the_owner_has_agreed_it_happens(victim: Victim, name: str) -> None:
    """The other half: that nothing happened before means something."""
    argument = victim.clone(name)
    asked = await victim.engine.start(argument)
    answer = await victim.engine.start({**argument, "consent": agreed(victim.data, asked)})
    assert answer["ok"], answer
    await victim.ended(answer["runId"])
    assert victim.marker.exists()


async def test_what_was_agreed_to_is_how_a_program_is_called_not_what_its_file_holds(victim: Victim) -> None:
    """A limit that the documentation names."""
    argument = victim.clone("flow: a program that lies in the repository")
    asked = await victim.engine.start(argument)
    first = await victim.engine.start({**argument, "consent": agreed(victim.data, asked)})
    await victim.ended(first["runId"])
    victim.marker.unlink()
    (victim.root / "claude").write_text(f"#!/bin/sh\n# another one\ntouch {victim.marker}\n")
    again = await victim.engine.start(argument)
    assert again["ok"], again
    await victim.ended(again["runId"])
    assert victim.marker.exists()


@pytest.mark.parametrize("name", ["flow: step elsewhere", "role: judge of the goal elsewhere", "assistant: elsewhere"])
async def test_once_the_owner_has_agreed_it_is_sent(victim: Victim, name: str) -> None:
    argument = victim.clone(name)
    asked = await victim.engine.start(argument)
    answer = await victim.engine.start({**argument, "consent": agreed(victim.data, asked)})
    assert answer["ok"], answer
    async with asyncio.timeout(60):
        while not victim.connections:
            await asyncio.sleep(0.01)
    await victim.engine.control("stop", answer["runId"])
    await victim.ended(answer["runId"])


async def test_somebody_with_a_token_starts_what_was_agreed_to_and_nothing_else(victim: Victim, tmp_path: Path) -> None:
    argument = victim.clone("flow: step of an agent")
    asked = await victim.engine.start(argument)
    first = await victim.engine.start({**argument, "consent": agreed(victim.data, asked)})
    await victim.ended(first["runId"])
    victim.marker.unlink()
    theirs = await victim.engine.start(argument, "eve")
    assert theirs["ok"], theirs
    await victim.ended(theirs["runId"])
    victim.marker.unlink()
    other = tmp_path / "evehome"
    other.mkdir()
    (other / "flow.yaml").write_text((victim.root / "flow.yaml").read_text())
    (other / ".loop-ls.yaml").write_text((victim.root / ".loop-ls.yaml").read_text())
    elsewhere = {**argument, "root": str(other), "path": str(other / "flow.yaml")}
    overlay = {**argument, "settings": {"providers": {"safe": {"kind": "agent-cli", "cli": ["true"]}}}}
    texts = {**argument, "texts": {"flow.yaml": (victim.root / "flow.yaml").read_text()}}
    for tried in (elsewhere, overlay, texts):
        refused = await victim.engine.start(tried, "eve")
        assert (refused["ok"], refused["code"]) == (False, "forbidden"), refused
    (victim.data / "consents.json").unlink()
    shown = await victim.engine.start(argument)
    proved = await victim.engine.start({**argument, "consent": agreed(victim.data, shown)}, "eve")
    assert proved["code"] == "consent_required"
    replayed = await victim.engine.replay(theirs["runId"], {"root": str(other)}, "eve")
    assert replayed["code"] == "forbidden"
    assert not victim.marker.exists()


@pytest.mark.parametrize("name", ["role: tool_bound shell", "flow: step of an agent", "assistant: test command"])
async def test_a_fork_asks_again_once_the_owner_has_taken_back_what_was_agreed_to(victim: Victim, name: str) -> None:
    argument = victim.clone(name)
    asked = await victim.engine.start(argument)
    first = await victim.engine.start({**argument, "consent": agreed(victim.data, asked)})
    await victim.ended(first["runId"])
    (victim.data / "consents.json").unlink()
    victim.marker.unlink()
    for origin, user in (("cli", None), ("api", None), ("cli", "eve")):
        refused = await victim.engine.fork(first["runId"], user=user, origin=origin)
        assert refused["code"] == "consent_required", refused
    assert not victim.marker.exists()
    shown = await victim.engine.fork(first["runId"], origin="cli")
    again = await victim.engine.fork(first["runId"], origin="cli", consent=agreed(victim.data, shown))
    assert again["ok"], again
    await victim.ended(again["runId"])


async def test_a_run_from_elsewhere_writes_no_file_here_before_the_owner_agrees(victim: Victim) -> None:
    """Not even a mock run: what it writes was asked for by whoever recorded it."""
    files = {
        "flow.yaml": workflow("flow", "steps:\n  - {name: a, embeddings: {input: [x], output_file: notes.json}}\n"),
        ".loop-ls.yaml": settings(),
    }
    argument = written(Repository(files, FLOW_START), victim.root)
    first = await victim.engine.start({**argument, "mock": True})
    await victim.ended(first["runId"])
    document = json.loads(json.dumps((await victim.engine.export(first["runId"]))["run"]))
    document |= {"runId": "stranger1", "answers": {}}
    notes = victim.root / "notes.json"
    mine = f"{notes.read_text()} mine"
    notes.write_text(mine)
    taken = await victim.engine.take_in(document)
    for user, origin in ((None, "api"), ("eve", "cli"), (None, "cli")):
        asked = await victim.engine.fork(taken["runId"], user=user, origin=origin)
        assert asked["code"] == "consent_required", asked
        assert f"writes {victim.root}" in asked["message"]
    assert notes.read_text() == mine
    forked = await victim.engine.fork(taken["runId"], origin="cli", consent=agreed(victim.data, asked))
    await victim.ended(forked["runId"])
    assert not notes.read_text().endswith("mine")


@pytest.mark.parametrize("mock", [True, False])
@pytest.mark.parametrize("name", ["README.md", "conftest.py", "src/../package.json"])
async def test_no_start_replaces_a_file_of_the_project_by_vectors(victim: Victim, mock: bool, name: str) -> None:
    """A step that keeps vectors in a file asks nobody: what is there already stays."""
    files = {
        "flow.yaml": workflow("flow", f"steps:\n  - {{name: a, embeddings: {{input: [x], output_file: {name}}}}}\n"),
        ".loop-ls.yaml": settings(),
        "src/a.py": "",
    }
    argument = written(Repository(files, FLOW_START), victim.root)
    theirs = victim.root / name
    theirs.write_text("the work of a week")
    started = await victim.engine.start({**argument, "mock": mock})
    assert "failed" in [fact["kind"] for fact in await victim.ended(started["runId"])]
    assert theirs.read_text() == "the work of a week"


async def test_a_key_that_somebody_pasted_into_a_start_is_kept_and_shown_nowhere(
    victim: Victim, caplog: pytest.LogCaptureFixture
) -> None:
    """From the start to the far end: journal and log on the disk, events, export, prompts and state."""
    argument = victim.clone("flow: step of an agent")
    (victim.root / "said.yaml").write_text(workflow("said", 'steps: [{name: write, run: "Say {{input}}"}]\n'))
    said = {**argument, "path": str(victim.root / "said.yaml"), "input": f"with {SECRET} and 5", "mock": True}
    answer = await victim.engine.start(said)
    assert answer["ok"], answer
    run_id = answer["runId"]
    facts = await victim.ended(run_id)
    told = [facts, await victim.engine.export(run_id), await victim.engine.state(run_id)]
    told.append(await victim.engine.prompts(run_id))
    forked = await victim.engine.fork(run_id, origin="cli")
    told.append(await victim.ended(forked["runId"]))
    assert f"with {MASK} and 5" in json.dumps(told, ensure_ascii=False)
    victim.before = victim.files()
    victim.is_unharmed(told, caplog.text)


async def test_a_key_pasted_into_the_start_of_a_role_loop_is_nowhere_in_its_project_and_plan(
    victim: Victim, caplog: pytest.LogCaptureFixture
) -> None:
    argument = victim.clone("role: tool_bound shell")
    loop = json.loads((victim.root / "loops" / "tidy.json").read_text())
    loop["parameters"] = [{"name": "depth", "description": "How deep", "required": True}]
    loop["roles"][0]["prompt"] = "Plan {{depth}}."
    loop["termination_condition"] = {
        "type": "goal_bound",
        "value": {"prompt": "{{depth}} is done", "max_iterations": 1},
    }
    (victim.root / "loops" / "tidy.json").write_text(json.dumps(loop))
    said = {**argument, "goal": f"with {SECRET} and 5", "parameters": {"depth": f"by {SECRET}"}, "mock": True}
    answer = await victim.engine.start(said)
    assert answer["ok"], answer
    run_id = answer["runId"]
    told = [await victim.ended(run_id), await victim.engine.prompts(run_id), await victim.engine.export(run_id)]
    told.append(await victim.engine.beside(answer["projectId"]))
    changed = {"goal": f"then {SECRET}", "metadata": {"note": SECRET, SECRET: 1}, "labels": [SECRET]}
    told.append(await victim.engine.change(run_id, changed))
    assert f"with {MASK} and 5" in json.dumps(told[-2]) and f"then {MASK}" in json.dumps(told[-1])
    victim.before = victim.files()
    victim.is_unharmed(told, caplog.text)


async def test_in_a_mock_run_the_script_says_what_a_tool_measures(victim: Victim) -> None:
    argument = victim.clone("role: tool_bound shell")
    script = {"answers": [{"when": {"purpose": "tool"}, "say": "5 tests"}, {"say": "planned"}]}
    (victim.root / "loops" / "tidy.answers.yaml").write_text(json.dumps(script))
    victim.before = victim.files()
    answer = await victim.engine.start({**argument, "mock": True})
    facts = await victim.ended(answer["runId"])
    assert (facts[-1]["kind"], facts[-1]["reason"]) == ("completed", "condition_met")
    victim.is_unharmed(facts)
