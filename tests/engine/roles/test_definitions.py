"""Definitions: where they come from, which ones count, what is said of the others (RB 1-18, 102-104)."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.roles.definitions import Definition, definitions, seed
from loop_ls.formats.role_loop.built_in_loops import BUILT_IN, built_in_text
from loop_ls.formats.role_loop.model import EvaluationBound, GoalBound, IterationBound
from loop_ls.index.disk.discovery import discover
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding, Severity
from loop_ls.testing.models import SILENCE

from .conftest import PAIR, EngineProject

DOCS_REVIEW = {
    "name": "docs-review",
    "description": "Documentation writer-reviewer cycle",
    "roles": [
        {"name": "write", "role": "coder", "prompt": "Write the docs.", "order": 0},
        {"name": "review", "role": "reviewer", "prompt": "Review. Respond APPROVED if ready.", "order": 1},
    ],
    "termination_condition": {
        "type": "evaluation_bound",
        "value": {"criteria": "Complete, accurate, well-organized", "max_review_rounds": 3},
    },
}


def listed(project: EngineProject) -> dict[str, Definition]:
    return {one.name: one for one in definitions(project.root.as_posix(), project.data)}


def findings(project: EngineProject, path: str) -> list[Finding]:
    workspace = discover(project.root.as_posix()).workspace
    document = next(one for one in workspace.documents.values() if one.path.endswith(path))
    return list(Checker().findings(workspace, document))


def codes(found: Iterable[Finding], severity: Severity = Severity.ERROR) -> list[str]:
    return [one.rule for one in found if one.severity is severity]


def rounds(one: Definition) -> tuple[list[str], str, int | None]:
    assert one.loop is not None
    kind = type(one.loop.termination).__name__
    return [stage.role for stage in one.loop.stages], kind, getattr(one.loop.termination, "max_iterations", None)


async def test_RB_001_the_documented_definition_is_listed(project: EngineProject) -> None:
    project.write("loops/docs.json", json.dumps(DOCS_REVIEW))
    found = listed(project)["docs-review"]
    assert rounds(found) == (["coder", "reviewer"], "EvaluationBound", 3)
    assert not found.built_in


async def test_RB_002_a_fresh_workspace_has_the_built_in_ones(project: EngineProject) -> None:
    found = listed(project)
    limits = {name: rounds(found[name])[2] for name in ("harness", "research", "goal-driven")}
    assert limits == {"harness": 5, "research": 3, "goal-driven": 10}
    assert list(found)[:3] == ["harness", "research", "goal-driven"]


async def test_RB_003_an_edited_built_in_stays(project: EngineProject) -> None:
    path = project.data / "loops" / "harness.json"
    path.write_text(built_in_text("harness").replace('"default": "5"', '"default": "7"'))
    await project.open()
    assert rounds(listed(project)["harness"])[2] == 7


async def test_RB_004_a_deleted_built_in_comes_back(project: EngineProject) -> None:
    path = project.data / "loops" / "harness.json"
    path.unlink()
    assert rounds(listed(project)["harness"])[2] == 5, "the shipped one is listed meanwhile"
    await project.open()
    assert path.read_text() == built_in_text("harness")


async def test_RB_005_a_broken_file_is_listed_with_its_error_and_the_others_stay(project: EngineProject) -> None:
    project.write("loops/broken.json", "{")
    found = listed(project)
    assert "pair" in found
    assert found["broken"].loop is None
    assert found["broken"].error is not None
    assert found["broken"].error.code == "RL001"
    assert codes(findings(project, "broken.json")) == ["RL001"]


async def test_RB_006_a_bad_name_is_reported_and_not_started(project: EngineProject) -> None:
    project.write("loops/bad.json", json.dumps({**PAIR, "name": "Bad Name"}))
    assert "RL002" in codes(findings(project, "bad.json"))
    answer = await project.ask("Bad Name")
    assert (answer["ok"], answer["code"]) == (False, "file_has_errors")
    assert "RL002" in answer["message"]


@pytest.mark.parametrize("roles", [[], None, "coder", [3]])
async def test_RB_007_no_roles_is_an_error(project: EngineProject, roles: Any) -> None:
    project.define("bare", roles=roles)
    assert "RL005" in codes(findings(project, "bare.json"))
    assert (await project.ask("bare"))["code"] == "file_has_errors"


@pytest.mark.parametrize("prompt", ["", "  ", None])
async def test_RB_008_an_empty_prompt_is_an_error(project: EngineProject, prompt: str | None) -> None:
    stage = {"role": "coder", **({} if prompt is None else {"prompt": prompt})}
    project.define("mute", roles=[stage])
    assert "RL008" in codes(findings(project, "mute.json"))
    assert (await project.ask("mute"))["code"] == "file_has_errors"


async def test_RB_009_a_name_alone_is_the_role(project: EngineProject) -> None:
    project.define("named", roles=[{"name": "reviewer", "prompt": "Say APPROVED."}])
    loop = listed(project)["named"].loop
    assert loop is not None
    assert [(stage.role, stage.label) for stage in loop.stages] == [("reviewer", "reviewer")]


async def test_RB_010_an_unknown_role_is_an_error_and_gets_no_access(project: EngineProject) -> None:
    project.define("odd", roles=[{"role": "nosuch", "prompt": "Say APPROVED."}])
    assert "RL007" in codes(findings(project, "odd.json"))
    answer = await project.ask("odd")
    assert answer["code"] == "file_has_errors"
    assert "nosuch" in answer["message"]


async def test_RB_011_stages_run_by_their_order(project: EngineProject) -> None:
    stages = [
        {"name": "second", "role": "reviewer", "prompt": "Say APPROVED.", "order": 1},
        {"name": "first", "role": "coder", "prompt": "Begin.", "order": 0},
    ]
    project.define("turned", roles=stages)
    assert "RL009" in codes(findings(project, "turned.json"), Severity.WARNING)
    project.say(first="begun", second="APPROVED")
    await project.run("turned")
    assert project.models.order == ["first", "second"]


async def test_RB_012_a_definition_without_end_and_description_makes_one_pass(project: EngineProject) -> None:
    project.write(
        "loops/investigate.json",
        json.dumps({"name": "investigate", "roles": [{"role": "explorer", "prompt": "Investigate."}]}),
    )
    warned = codes(findings(project, "investigate.json"), Severity.WARNING)
    assert {"RL004", "RL010"} <= set(warned)
    state = await project.run("investigate")
    assert (state["status"], state["iteration"]) == ("completed", 1)


async def test_RB_013_an_optional_parameter_needs_a_default(project: EngineProject) -> None:
    project.define("lazy", parameters=[{"name": "depth", "description": "d", "required": False}])
    assert "RL015" in codes(findings(project, "lazy.json"))
    assert (await project.ask("lazy"))["code"] == "file_has_errors"


async def test_RB_014_a_parameter_is_required_unless_it_says_otherwise(project: EngineProject) -> None:
    project.define("needy", parameters=[{"name": "subject", "description": "d"}])
    answer = await project.ask("needy")
    assert (answer["code"], answer["names"]) == ("input_required", ["subject"])


async def test_RB_015_a_number_of_iterations_is_no_object(project: EngineProject) -> None:
    project.define("boxed", termination_condition={"type": "iteration_bound", "value": {"n": 3}})
    assert "RL012" in codes(findings(project, "boxed.json"))


async def test_RB_016_an_unknown_end_lists_those_there_are(project: EngineProject) -> None:
    project.define("vague", termination_condition={"type": "sometimes", "value": 1})
    told = next(one.message for one in findings(project, "vague.json") if one.rule == "RL011")
    for kind in ("evaluation_bound", "iteration_bound", "goal_bound", "time_bound", "manual"):
        assert kind in told


async def test_RB_017_two_files_with_one_name_both_carry_it(project: EngineProject) -> None:
    project.write("loops/a.json", json.dumps({**PAIR, "name": "twin", "description": "the first"}))
    project.write("loops/b.json", json.dumps({**PAIR, "name": "twin", "description": "the second"}))
    assert all("RL003" in codes(findings(project, name)) for name in ("a.json", "b.json"))
    found = listed(project)["twin"]
    assert found.loop is not None
    assert found.loop.description == "the second"


async def test_RB_018_an_edit_of_the_file_reaches_no_running_loop_after_a_restart_either(
    project: EngineProject,
) -> None:
    asked = asyncio.Event()

    def silent(request: Any) -> object:
        asked.set()
        return SILENCE

    project.say(write=["text", silent, "text"], judge_it=["no", "APPROVED"])
    run_id = await project.start()
    await asyncio.wait_for(asked.wait(), 60)  # else the engine that comes back would ask the one that is silent
    project.define(roles=[{"name": "only", "role": "reviewer", "prompt": "Say APPROVED."}])
    await project.engine.close()
    project.engines.pop()
    await project.open()
    state = await project.allowed(run_id)
    assert (state["status"], state["reason"], state["iteration"]) == ("completed", "approved", 2)
    assert {prompt[-6:] for prompt in project.models.prompts("write")} == {"Write."}
    assert project.models.order[-1] == "judge-it"


async def test_RB_018_a_running_loop_keeps_its_snapshot(project: EngineProject) -> None:
    project.say(judge_it=["no", "APPROVED"])

    def edit(request: Any) -> str:
        (project.root / "loops" / "pair.json").unlink(missing_ok=True)
        return "text"

    project.say(write=[edit, "text"])
    state = await project.allowed(await project.start())
    assert (state["status"], state["iteration"]) == ("completed", 2)
    assert [prompt.endswith("Write.") for prompt in project.models.prompts("write")] == [True, True]


async def test_RB_102_the_built_in_ones_are_as_documented(project: EngineProject) -> None:
    found = listed(project)
    assert rounds(found["harness"]) == (["plan", "coder", "reviewer"], EvaluationBound.__name__, 5)
    assert rounds(found["research"]) == (["explorer", "coder", "reviewer"], EvaluationBound.__name__, 3)
    assert rounds(found["goal-driven"]) == (["plan", "coder"], GoalBound.__name__, 10)
    assert rounds(found["diverge-converge"])[1:] == (EvaluationBound.__name__, 3)
    assert rounds(found["reflection"])[1:] == (IterationBound.__name__, 1)
    for name in BUILT_IN:
        loop = found[name].loop
        assert loop is not None
        assert loop.description
        assert "\n" not in loop.description


async def test_RB_103_nothing_is_written_into_the_repository(project: EngineProject) -> None:
    before = {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()}
    project.models.default = "APPROVED"
    await project.run("harness")
    await project.open()
    after = {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()}
    assert after == before
    assert sorted(os.listdir(project.data / "loops")) == sorted(f"{name}.json" for name in BUILT_IN)


async def test_RB_104_a_definition_of_the_workspace_wins_over_a_built_in_one(project: EngineProject) -> None:
    project.define("harness")
    found = [one for one in definitions(project.root.as_posix(), project.data) if one.name == "harness"]
    assert [one.built_in for one in found] == [False]
    assert "RL003" not in codes(findings(project, "harness.json"))
    await project.run("harness")
    assert project.models.order == ["write", "judge-it"]


async def test_RB_005_a_link_to_a_broken_file_or_one_without_name_is_listed_by_its_file(
    project: EngineProject, tmp_path: Path
) -> None:
    project.write("loops/nameless.json", json.dumps({"roles": []}))
    assert listed(project)["nameless"].error is not None


@pytest.mark.parametrize("kind", ["file", "link to nothing", "link to a file"])
def test_RB_004_where_the_built_in_ones_cannot_be_laid_the_shipped_ones_count(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder, other = tmp_path / "loops", tmp_path / "other"
    if kind == "file":
        folder.write_text("mine")
    else:
        folder.symlink_to(other)
        if kind == "link to a file":
            other.write_text("mine")
    seed(tmp_path)
    assert "cannot be copied to" in caplog.text
    assert {one.name for one in definitions(tmp_path.as_posix(), tmp_path)} == set(BUILT_IN)


def test_RB_004_no_part_of_a_built_in_one_is_left_where_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str, encoding: str) -> int:
        path.write_bytes(text.encode(encoding)[:9])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        seed(tmp_path)
    assert list((tmp_path / "loops").iterdir()) == []
    seed(tmp_path)
    assert {path.stem for path in (tmp_path / "loops").glob("*.json")} == set(BUILT_IN)
