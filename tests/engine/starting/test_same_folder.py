"""Two loops whose agents may write in one folder: who starts the second one is told of the first."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loop_ls.client.consent import agreed
from tests.engine.runners.test_agents_in_workflows import AgentProject

ONE = "execution: {provider: claude-code, model: sonnet}\nsteps:\n  - {name: write, run: Go.}\n"


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[AgentProject]:
    made = AgentProject(tmp_path)
    made.write(main=ONE, other=ONE)
    await made.open()
    yield made
    await made.engine.close()
    await made.providers.aclose()


async def going(project: AgentProject) -> str:
    """The id of a run whose agent is at work."""
    project.agent.say({"text": "one", "wait_for": str(project.root / "go")}, {"text": "two"})
    run_id = str((await project.start())["runId"])
    await project.called()
    return run_id


async def test_UP_95_who_starts_a_second_writing_loop_in_a_folder_agrees_with_the_name_of_the_first(
    project: AgentProject,
) -> None:
    first = await going(project)
    asked = await project.start("other", agree=False)
    assert asked["code"] == "consent_required"
    told = f"runs at the same time as `main` (run {first}), which may write in the same folder"
    assert told in asked["message"] and told in asked["capabilities"][0]
    assert len(project.agent.calls) == 1
    request = {"root": str(project.root), "path": str(project.root / "other.yaml")}
    answer = await project.engine.start({**request, "consent": agreed(project.data, asked)})
    assert answer["ok"], answer
    assert (await project.ended(str(answer["runId"])))[-1]["kind"] == "completed"
    assert (await project.engine.start(request))["ok"]  # it is remembered of this run
    (project.root / "go").touch()
    await project.ended(first)
    for state in project.engine.live:
        await project.ended(state.run_id)
    assert (await project.start("other", agree=False))["ok"]


async def test_UP_95_a_fork_beside_a_writing_loop_is_asked_about_like_a_start(project: AgentProject) -> None:
    done = await project.run("other")
    first = await going(project)
    refused = await project.engine.fork(str(done[0]["runId"]))
    assert refused["code"] == "consent_required"
    assert f"run {first}" in refused["message"]
    await project.engine.control("stop", first)


async def test_loops_elsewhere_and_those_that_write_nothing_are_nobodys_question(
    project: AgentProject, tmp_path: Path
) -> None:
    await going(project)
    assert (await project.start("other", agree=False, mock=True))["ok"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "main.yaml").write_text((project.root / "main.yaml").read_text())
    (elsewhere / ".loop-ls.yaml").write_text(json.dumps({"providers": project.agent.settings}))
    request = {"root": str(elsewhere), "path": str(elsewhere / "main.yaml")}
    asked = await project.engine.start(request)
    assert "beside" not in asked["message"]
    inner = project.root / "inner"
    inner.mkdir()
    (inner / "main.yaml").write_text((project.root / "main.yaml").read_text())
    (inner / ".loop-ls.yaml").write_text(json.dumps({"providers": project.agent.settings}))
    asked = await project.engine.start({"root": str(inner), "path": str(inner / "main.yaml")})
    assert "at the same time as `main`" in asked["message"]
    (project.root / "go").touch()


@pytest.mark.parametrize(("older", "looks"), [(False, 0), (True, 1)])
async def test_UP_95_what_a_waiting_run_may_do_is_looked_up_once_for_all_starts_after_it(
    project: AgentProject, monkeypatch: pytest.MonkeyPatch, older: bool, looks: int
) -> None:
    """A thousand runs may wait; each start that read all of their records again would take longer than the last.
    The first fact says it, unless an older version wrote that."""
    first = await going(project)
    run = project.engine._runs.live[first]
    assert run.state.writes is True
    if older:
        run.state = run.state._replace(writes=None)
    read: list[str] = []
    facts = project.engine.journal.facts

    async def counted(run_id: str, *more: int) -> object:
        read.append(run_id)
        return await facts(run_id, *more)

    monkeypatch.setattr(project.engine.journal, "facts", counted)
    for _ in range(3):
        assert (await project.start("other", agree=False))["code"] == "consent_required"
    assert read.count(first) == looks
    (project.root / "go").touch()
    await project.ended(first)
