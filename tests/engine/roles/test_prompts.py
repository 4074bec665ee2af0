"""What a stage is told, in which order, and how much of it (RB 39-44, 130-132)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from loop_ls.engine.roles import program, prompt
from loop_ls.engine.roles.outcome import MARKER, first_line, for_prompt, one_line, summary
from loop_ls.engine.roles.program import snapshot
from loop_ls.engine.roles.prompt import Done, Work, compose

from .conftest import EngineProject

WORK = Work(
    loop="pair",
    goal="GOAL",
    iteration=2,
    limit=5,
    index=1,
    stages=2,
    role="reviewer",
    task="TASK",
    done=(Done(0, "coder", "EARLIER", "a1"),),
    outcomes=("Iteration 1: OUTCOME",),
    criteria="CRITERIA",
    parameters={"depth": "PARAMETER"},
)
ORDER = ("GOAL", "Iteration 2/5", "EARLIER", "OUTCOME", "CRITERIA", "PARAMETER", "TASK")


def test_RB_039_the_sections_come_in_their_order() -> None:
    told = compose(WORK)
    places = [told.index(word) for word in ORDER]
    assert places == sorted(places)
    assert told.startswith("# pair")
    assert "stage 2 of 2" in told


def test_RB_040_the_first_stage_of_all_hears_of_nothing_before() -> None:
    told = compose(replace(WORK, iteration=1, index=0, done=(), outcomes=()))
    assert "Previous stages" not in told
    assert "Previous iteration" not in told
    assert "Previous stages" in compose(WORK)
    assert "Previous iteration" in compose(WORK)


def test_RB_039_every_section_has_its_heading() -> None:
    told = compose(
        replace(
            WORK,
            last="LAST",
            rationale="RATIONALE",
            findings="- OPEN",
            parameters={"depth": "2"},
            project={"slug": "p", "id": ""},
        )
    )
    assert told == (
        "# pair\n\n## Goal\n\nGOAL\n\n## Iteration\n\nIteration 2/5, stage 2 of 2\n\n"
        "## Your role\n\nreviewer, Stage 2 of 2\n\n"
        "## Previous stages this cycle\n\n### Stage 1: coder\n\nEARLIER\n\n"
        "## Previous iteration outcomes\n\n- Iteration 1: OUTCOME\n\n"
        "## Last output of iteration 1\n\nLAST\n\n"
        "## What is missing from the goal\n\nRATIONALE\n\n"
        "## Open findings\n\nSettle each of them, the severest first.\n\n- OPEN\n\n"
        "## Acceptance criteria\n\nCRITERIA\n\n"
        "## Parameters\n\n- depth: 2\n\n## Project\n\n- slug: p\n\n## Your task\n\nTASK"
    )


def test_RB_040_of_what_there_is_not_the_first_stage_hears_no_heading() -> None:
    told = compose(
        replace(WORK, iteration=1, index=0, done=(), outcomes=(), last="LAST", criteria=" \n", parameters={})
    )
    assert told == (
        "# pair\n\n## Goal\n\nGOAL\n\n## Iteration\n\nIteration 1/5, stage 1 of 2\n\n"
        "## Your role\n\nreviewer, Stage 1 of 2\n\n## Your task\n\nTASK"
    )


def test_RB_041_a_loop_without_limit_says_so() -> None:
    assert "Iteration 2 (unlimited)" in compose(replace(WORK, limit=None))


async def test_RB_042_the_third_iteration_hears_of_both_before(project: EngineProject) -> None:
    project.say(judge_it=["first NO", "second NO", "APPROVED"])
    await project.run()
    told = project.models.prompts("write")[2]
    bullets = re.findall(r"^- (Iteration .*)$", told, re.MULTILINE)
    assert bullets == [
        "Iteration 1: reviewer [completed]: first NO",
        "Iteration 2: reviewer [completed]: second NO",
    ]


async def test_RB_043_the_output_of_an_earlier_stage_is_there_in_full(project: EngineProject) -> None:
    long = "".join(f"{n:05}" for n in range(1_000))
    project.say(write=long)
    await project.run()
    assert long in project.models.prompts("judge-it")[0]


async def test_RB_044_an_iteration_is_told_by_the_first_line_of_its_last_stage(project: EngineProject) -> None:
    project.say(judge_it=["\n" + "x" * 201 + "\nmore of it", "APPROVED"])
    await project.run()
    told = project.models.prompts("write")[1]
    assert "## Previous iteration outcomes\n\n- Iteration 1: reviewer [completed]: " + "x" * 200 + "...\n\n" in told


async def test_RB_147_the_next_iteration_reads_the_last_output_in_full(project: EngineProject) -> None:
    review = "I looked at the files.\n\nNEEDS CHANGES\n1. validation is missing in a.py:10"
    project.say(judge_it=[review, "no " + "x" * 30_000, "APPROVED"])
    state = await project.run()
    second, third = project.models.prompts("write")[1:]
    assert f"## Last output of iteration 1\n\n{review}\n\n" in second
    assert review not in third
    artifact = (await project.rows(state["runId"]))[1]["stages"][1]["artifact_id"]
    assert f"characters are missing here; artifact {artifact} has the whole text" in third


def test_RB_044_an_outcome_is_one_line_of_at_most_200_characters() -> None:
    assert one_line("reviewer", "completed", "\n  first\nsecond") == "reviewer [completed]: first"
    assert first_line("x" * 200) == "x" * 200
    assert first_line("x" * 201) == "x" * 200 + "..."
    assert first_line(" \n") == "(no output)"


async def test_RB_130_the_fourth_iteration_has_three_bullets(project: EngineProject) -> None:
    project.say(judge_it=["one\nmore", "two\nmore", "three\nmore", "APPROVED"])
    await project.run(max_iterations=4)
    section = project.models.prompts("write")[3].split("## Previous iteration outcomes\n\n")[1].split("\n\n")[0]
    assert [line.rpartition(": ")[2] for line in section.splitlines()] == ["one", "two", "three"]


async def test_RB_131_20000_characters_of_an_earlier_stage_are_all_there(project: EngineProject) -> None:
    long = "".join(f"{n:05}" for n in range(4_000))
    project.say(write=long)
    await project.run()
    assert long in project.models.prompts("judge-it")[0]


async def test_RB_132_of_60000_there_are_head_and_tail_and_the_artifact(project: EngineProject) -> None:
    long = "".join(f"{n:05}" for n in range(12_000))
    project.say(write=long)
    state = await project.run()
    told = project.models.prompts("judge-it")[0]
    artifact = (await project.rows(state["runId"]))[0]["stages"][0]["artifact_id"]
    assert long[:12_000] in told
    assert long[-12_000:] in told
    assert long[:12_001] not in told
    line = next(line for line in told.splitlines() if "missing" in line)
    assert artifact in line
    assert "36000" in line


def test_RB_075_2000_characters_are_not_cut() -> None:
    assert summary("x" * 2_000) == "x" * 2_000
    assert summary("é" * 2_001) == "é" * 2_000 + f"\n{MARKER}"


async def test_a_loop_of_many_stages_does_not_look_at_all_of_them_in_each(
    project: EngineProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a stage said is put into words once, and labels are counted once: 2,000 stages cost 2,000, not 2,000²."""
    rendered: list[str] = []
    looked: list[int] = []

    class Stages(tuple[Any, ...]):
        def __iter__(self) -> Iterator[Any]:
            looked.append(1)
            return super().__iter__()

    def told(output: str, artifact: str | None) -> str:
        rendered.append(output)
        return for_prompt(output, artifact)

    def taken(plan: Any) -> Any:
        found = snapshot(plan)
        return replace(found, stages=Stages(found.stages))

    monkeypatch.setattr(prompt, "for_prompt", told)
    monkeypatch.setattr(program, "snapshot", taken)
    many = [{"name": f"s{number}", "role": "coder", "prompt": "Write."} for number in range(40)]
    project.define("many", roles=many, termination_condition={"type": "iteration_bound", "value": 1})
    run_id = await project.start("many")
    await project.ended(run_id)
    assert len(rendered) == 40
    assert 1 <= len(looked) < 10
    assert project.models.prompts("s39")[0].count("### Stage ") == 39
