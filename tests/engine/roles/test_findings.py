"""What judges find wrong: data that is ticked off over the iterations, and an end where nothing of it moves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loop_ls.cli.runs.runs_show import history
from loop_ls.contract.findings import finding_line
from loop_ls.contract.run_view.fold import folded
from loop_ls.engine.roles.findings import Findings, Point, listed_points, points_of
from loop_ls.features.runs.transcript import transcript

from .conftest import EngineProject

Json = dict[str, Any]
LLM = {"mode": "llm"}


def refusal(*findings: Json, rationale: str = "Tests are missing.") -> str:
    return json.dumps(
        {"requirements_met": False, "quality_pass": True, "findings": list(findings), "rationale": rationale}
    )


MISSING = {"severity": "critical", "summary": "there are no tests", "location": "a.py:3"}
AGAIN = {"severity": "critical", "summary": "there are still no tests", "location": "a.py:7"}
NAMES = {"severity": "minor", "summary": "x is no good name", "location": "b.py"}
APPROVES = json.dumps({"requirements_met": True, "quality_pass": True, "findings": [], "rationale": "fine"})
OPEN = "- critical: there are still no tests (a.py:7), since iteration 1"


async def findings(project: EngineProject, run_id: str) -> list[list[Json]]:
    return [fact.get("findings", []) for fact in await project.facts(run_id, "judged")]


async def test_RB_148_findings_of_a_model_are_facts_and_in_the_next_prompts_until_they_are_settled(
    project: EngineProject,
) -> None:
    project.define(approval=LLM)
    project.say(judge_it="APPROVED I think", judge=[refusal(MISSING, NAMES), refusal(AGAIN), APPROVES])
    state = await project.run()
    assert state["reason"] == "approved"
    first, second, last = await findings(project, state["runId"])
    assert first[0] == {"number": 1, "since": 1, **MISSING}
    assert second == [{"number": 1, "since": 1, **AGAIN}, {"number": 2, "since": 1, "settled": True, **NAMES}]
    assert last == [{"number": 1, "since": 1, "settled": True, **AGAIN}]
    _, told, third = project.models.prompts("write")
    assert "critical: there are no tests (a.py:3), since iteration 1\n- minor: x is no good name (b.py)" in told
    assert "Tests are missing." in told
    assert OPEN in third
    assert "no good name" not in third


async def test_RB_148_a_list_behind_the_verdict_of_a_review_is_findings_too(project: EngineProject) -> None:
    review = (
        "Good start:\n- it runs\n\nNEEDS CHANGES\n1. **critical**: validation is missing in src/a.py:10\n2. no docs"
    )
    project.say(judge_it=[review, "APPROVED"])
    state = await project.run()
    found, settled = await findings(project, state["runId"])
    assert [(one["severity"], one["summary"], one.get("location")) for one in found] == [
        ("critical", "validation is missing in src/a.py:10", "src/a.py:10"),
        ("important", "no docs", None),
    ]
    assert [one["settled"] for one in settled] == [True, True]
    assert "- important: no docs, since iteration 1" in project.models.prompts("write")[1]


async def test_RB_148_what_is_missing_from_a_goal_is_findings_too(project: EngineProject) -> None:
    bound = {"type": "goal_bound", "value": {"goal_prompt": "All tests pass.", "max_iterations": 3}}
    project.define("aim", termination_condition=bound)
    project.say(judge=["NOT_ACHIEVED\n- critical: no tests, in a.py", "ACHIEVED"])
    state = await project.run("aim")
    found, _ = await findings(project, state["runId"])
    assert found == [
        {"number": 1, "severity": "critical", "summary": "no tests, in a.py", "location": "a.py", "since": 1}
    ]
    assert "## Open findings" in project.models.prompts("write")[1]


async def test_RB_148_findings_are_lines_of_their_iteration_in_the_view(project: EngineProject) -> None:
    project.define(approval=LLM)
    project.say(judge=[refusal(MISSING, NAMES), refusal(AGAIN), APPROVES])
    facts = await project.facts((await project.run())["runId"])
    rows = [row.wire().get("findings") for row in folded(facts, format="role_loop").iterations]
    assert rows[1] == [OPEN.removeprefix("- "), "✓ minor: x is no good name (b.py)"]
    assert len(rows) == 3


async def test_RB_148_findings_are_told_where_a_run_is_read(project: EngineProject, capsys: Any) -> None:
    project.define(approval=LLM)
    project.say(judge=[refusal(MISSING, NAMES), refusal(AGAIN), APPROVES])
    run_id = (await project.run())["runId"]
    state = await project.state(run_id)
    answer: Any = {"loop": {}, "state": state, "stages": [], "history": await project.rows(run_id)}
    history(answer)
    shown = capsys.readouterr().out
    assert f"  findings:  {OPEN.removeprefix('- ')}\n               ✓ minor: x is no good name (b.py)\n" in shown
    assert "**Findings**" in transcript(answer)


@pytest.mark.parametrize(
    ("approval", "said"),
    [
        (None, {"judge_it": [f"NEEDS CHANGES\n1. no tests in a.py:{n}" for n in range(1, 5)]}),
        ({"mode": "llm"}, {"judge": [refusal({**MISSING, "location": f"a.py:{n}"}) for n in range(1, 5)]}),
    ],
)
async def test_RB_149_the_same_findings_again_and_again_end_the_loop_with_the_evidence(
    project: EngineProject, approval: Json | None, said: Json
) -> None:
    project.write(".loop-ls.yaml", "assist: {provider: ollama, model: small}\nlimits: {unchanged: 2}\n")
    project.define(approval=approval)
    project.say(write=["a", "quite another text", "something else"], **said)
    state = await project.run()
    assert (state["status"], state["reason"], state["iteration"], state["exitCode"]) == ("completed", "stuck", 2, 3)
    assert state["because"].startswith("`pair` made no progress: 2 times in a row the judge found the same: ")
    assert "tests" in state["because"]
    assert "no progress after 2 iterations (`pair` made no progress" in state["ending"]["line"]


async def test_RB_149_findings_that_change_are_progress(project: EngineProject) -> None:
    project.write(".loop-ls.yaml", "assist: {provider: ollama, model: small}\nlimits: {unchanged: 2}\n")
    said = ["NEEDS CHANGES\n1. no tests in a.py\n2. no docs", "NEEDS CHANGES\n1. no tests in a.py", "APPROVED"]
    project.say(write=["a", "quite another text", "something else"], judge_it=said)
    assert (await project.run())["reason"] == "approved"


def test_a_refusal_that_names_nothing_settles_nothing() -> None:
    one, _ = Findings().after((Point("minor", "no docs"),), 1, False)
    two, said = one.after((), 2, False)
    assert two.open == one.open == tuple(said)
    none, settled = two.after((), 3, True)
    assert none.open == ()
    assert [finding_line(each) for each in settled] == ["✓ minor: no docs"]


def test_points_of_other_files_are_others() -> None:
    one, _ = Findings().after((Point("minor", "no docs", "a.py:1"),), 1, False)
    two, said = one.after((Point("minor", "no docs", "b.py:1"),), 2, False)
    assert [(each["number"], each.get("settled")) for each in said] == [(2, None), (1, True)]
    assert two.last == 2


def test_points_may_be_written_in_any_way() -> None:
    odd: list[Json] = [{"severity": "huge", "summary": "x" * 300, "location": None}, {"summary": " "}, {}]
    assert points_of(odd) == (Point("important", "x" * 199 + "…"),)
    assert points_of([{"summary": "a"}]) == (Point("minor", "a"),)
    assert len(listed_points("- a\n" * 99)) == 50
    assert listed_points("- a\n\nText.\n\n* [minor] b in c.py") == (Point("minor", "b in c.py", "c.py"),)
