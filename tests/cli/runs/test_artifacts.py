"""`runs artifacts`: what the stages of a role loop wrote down, in a terminal and in a pipe."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client import EngineClient
from loop_ls.client.engine_location import read_handover
from tests.wired.commands import Commands
from tests.wired.engine_thread import engine_of
from tests.wired.test_command_options import PAIR

WRITER = (
    "$schema: workflow/v2.0\nname: w\nversion: 1.0.0\nexecution: {provider: scripted, model: m}\n"
    "steps: [{name: s, run: Hi}]\n"
)


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    base = tmp_path_factory.mktemp("artifacts")
    root, data = base / "project", base / "data"
    (root / "loops").mkdir(parents=True)
    (root / "loops" / "pair.json").write_text(json.dumps(PAIR))
    (root / "writer.yaml").write_text(WRITER)
    with pytest.MonkeyPatch.context() as patched, engine_of(root, data):
        patched.setenv("LOOP_LS_DATA_DIR", str(data))
        patched.delenv("LOOP_LS_STAGE", raising=False)
        yield Commands(root)


@pytest.fixture(scope="module")
def loop(commands: Commands) -> str:
    return str(commands("run", "pair", "--goal", "Write.", "--mock", "--json").json["runId"])


def test_artifacts_and_sprints_are_listed_and_one_is_printed(commands: Commands, loop: str) -> None:
    listed = commands("runs", "artifacts", loop)
    answer = commands("runs", "artifacts", loop, "--json").json
    first = answer["artifacts"][0]
    assert (listed.status, answer["runId"]) == (0, loop)
    assert f"  {first['id'][:8]}  loop_output  {first['title']}  ({first['characters']} characters)\n" in listed.out
    assert "sprints\n  [" in listed.out
    whole = commands("runs", "artifacts", loop, first["id"][:8], "--json").json
    assert len(whole["content"]) == first["characters"] > 0
    assert commands("runs", "artifacts", loop, first["title"]).out == f"{whole['content']}\n"


def test_a_run_shows_which_stages_judged_and_what_they_said(commands: Commands, loop: str) -> None:
    shown = commands("runs", "show", loop)
    assert "coder, reviewer " in shown.out
    answer = commands("runs", "show", loop, "--json").json
    stages = answer["history"][0]["stages"]
    assert [stage.get("verdict") for stage in stages] == [None, answer["history"][0]["verdict"]]
    assert answer["loop"]["configuration"]["termination"]["type"] == "evaluation_bound"


def test_without_an_id_it_is_the_newest_run(commands: Commands, loop: str) -> None:
    assert commands("runs", "artifacts", "--json").json["runId"] == loop


def test_an_unknown_one_is_refused(commands: Commands, loop: str) -> None:
    said = commands("runs", "artifacts", loop, "nowhere")
    assert said.status != 0
    assert "has no artifact `nowhere`" in said.err


def test_a_run_without_any_says_who_writes_them(commands: Commands) -> None:
    run_id = str(commands("run", "writer.yaml", "--mock", "--json").json["runId"])
    assert commands("runs", "artifacts", run_id).out == "No artifacts: only stages of role loops create them.\n"


def test_with_project_those_of_all_its_loops_are_listed(commands: Commands, loop: str) -> None:
    session = commands("runs", "status", loop, "--json").json["state"]["sessionId"]
    asyncio.run(_again(commands.root, session))
    own = commands("runs", "artifacts", loop, "--json").json["artifacts"]
    shared = commands("runs", "artifacts", loop, "--json", "--project").json["artifacts"]
    assert len({one["loop_id"] for one in own}) == 1
    assert len({one["loop_id"] for one in shared}) == 2


async def _again(root: Path, session: str) -> None:
    """A second loop of the same session, and so of the same project."""
    data = root.parent / "data"
    handover = read_handover(data)
    assert handover is not None
    async with EngineClient(data, handover) as engine:
        asked: dict[str, Any] = {
            "definition": "pair",
            "goal": "More.",
            "root": str(root),
            "mock": True,
            "origin": "cli",
        }
        answer = await engine.start({**asked, "sessionId": session})
        assert answer["ok"], answer
        async for event in engine.to_the_end(0, answer["runId"]):
            if event["kind"] in ("completed", "failed"):
                return
