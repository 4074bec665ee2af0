"""What people reported of loops that end wrongly or show it wrongly, each report with its number."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loop_ls.testing.models import failure
from tests.engine.control.support.project import EXECUTION, POLISH, Project

ITEMS = EXECUTION + (
    "loops:\n"
    "  - name: each\n"
    "    workflow: draft\n"
    "    mode: iterate\n"
    '    items: "{{input}}"\n'
    '    with: {before: "{{loop.item}}"}\n'
    "    max_iterations: 100\n"
)


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Project]:
    made = Project(tmp_path)
    made.models.script |= {"write": ["v1", "v2", "v3"], "judge": ["NO"]}
    await made.open()
    yield made
    await made.close()


async def test_UP_52_a_condition_that_is_met_in_the_last_round_is_the_reason(project: Project) -> None:
    project.write(polish=POLISH.replace("max_iterations: 5", "max_iterations: 1"))
    project.models.script["judge"] = ["YES"]
    facts = await project.run()
    assert (facts[-1]["reason"], facts[-1]["totalIterations"]) == ("condition_met", 1)
    assert "because" not in facts[-1]
    assert (await project.state(facts[0]["runId"]))["exitCode"] == 0


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("YES.", "yes"),
        ("**Yes** - all good", "yes"),
        ("yes\n\nBecause ...", "yes"),
        ("NO, though yes for part 1", "no"),
        ("Answer: YES", "unclear"),
        ("", "unclear"),
        ("maybe", "unclear"),
    ],
)
async def test_UP_70_the_first_word_decides_and_what_stays_unclear_counts_as_no(
    project: Project, answer: str, verdict: str
) -> None:
    project.write(polish=POLISH.replace("max_iterations: 5", "max_iterations: 1"))
    project.models.script["judge"] = [answer]
    facts = await project.run()
    (judged,) = [fact for fact in facts if fact["kind"] == "judged"]
    assert judged["verdict"] == verdict
    unclear = verdict == "unclear"
    assert project.models.order.count("judge") == (2 if unclear else 1)
    assert bool([fact for fact in facts if fact["kind"] == "warning"]) is unclear
    assert facts[-1]["reason"] == ("condition_met" if verdict == "yes" else "max_iterations")


async def test_UP_71_the_whole_output_is_judged_however_long_it_is(project: Project) -> None:
    project.models.script |= {"write": ["x" * 40_000 + " APPROVED"], "judge": ["YES"]}
    await project.run()
    (question,) = project.models.prompts("judge")
    assert "x" * 40_000 + " APPROVED" in question


async def test_UP_71_what_can_be_looked_up_is_found_behind_forty_thousand_characters(project: Project) -> None:
    project.settings("judge: {local: true}\n")
    project.write(polish=POLISH.replace("The draft is good", "The draft says APPROVED"))
    project.models.script["write"] = ["x" * 40_000 + " APPROVED"]
    facts = await project.run()
    assert (facts[-1]["reason"], facts[-1]["totalIterations"]) == ("condition_met", 1)


async def test_UP_76_every_try_stands_in_the_record_with_the_last_error(project: Project) -> None:
    project.write(polish=POLISH + "    on_failure: retry\n    max_retries: 5\n    retry_delay: 1ms\n")
    project.models.script["write"] = [failure("overloaded")]
    facts = await project.run()
    tries = [(fact["attempt"], fact["because"]["message"]) for fact in facts if fact["kind"] == "retrying"]
    assert [number for number, _ in tries] == [2, 3, 4, 5, 6]
    assert all("overloaded" in told for _, told in tries)
    assert all("delay" in fact for fact in facts if fact["kind"] == "retrying")
    assert facts[-1]["kind"] == "failed"


async def test_UP_81_a_loop_that_stopped_early_is_never_shown_as_completed(project: Project) -> None:
    project.write(each=ITEMS, most=ITEMS + "    on_failure: continue\n    min_success_rate: 0.9\n")
    project.models.script["write"] = ["one", "two", failure("broken")]
    facts = await project.run("each", input=str(list(range(10))))
    state = await project.state(facts[0]["runId"])
    assert (state["status"], state["reason"], state["exitCode"]) == ("failed", "error", 4)
    project.models._asked.clear()
    project.models.script["write"] = [*["fine"] * 8, failure("broken")]
    facts = await project.run("most", input=str(list(range(10))))
    state = await project.state(facts[0]["runId"])
    assert (state["status"], state["reason"], state["exitCode"]) == ("failed", "success_rate_not_met", 4)
    assert "8 of 10" in state["error"]["message"]
