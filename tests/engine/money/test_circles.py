"""Loops that go round in circles: seen at once, said seldom, and ended where somebody wants that."""

from __future__ import annotations

from tests.engine.control.support.project import Project


async def test_UP_47_empty_rounds_respect_the_limit_and_are_warned_about(project: Project) -> None:
    project.models.script["write"] = [""]
    project.write(polish=(project.root / "polish.yaml").read_text().split("\n", 3)[3].replace(": 5", ": 3"))
    facts = await project.run()
    assert project.models.order.count("write") == 3
    assert [fact["output"] for fact in facts if fact["kind"] == "iteration"] == ["", "", ""]
    (warning,) = [fact for fact in facts if fact["kind"] == "unchanged_output_warning"]
    assert (warning["iteration"], warning["repeated"], warning["empty"]) == (2, 2, True)
    assert facts[-1]["reason"] == "max_iterations"
    assert facts[-1]["because"] == "`polish` reached its `max_iterations` of 3; its last 3 outputs were empty."


async def test_UP_46_equal_outputs_end_the_loop_where_the_project_says_so(project: Project) -> None:
    project.settings("limits: {unchanged: 3}\n")
    facts = await project.run()
    end = facts[-1]
    assert (end["kind"], end["reason"], end["totalIterations"]) == ("completed", "unchanged", 3)
    assert end["because"] == "`polish` produced the same output 3 times in a row."
    assert (await project.state(end["runId"]))["exitCode"] == 3


async def test_a_condition_that_is_met_wins_over_a_repetition(project: Project) -> None:
    project.models.script["judge"] = ["NO", "YES"]
    facts = await project.run(limits={"unchanged": 2})
    assert facts[-1]["reason"] == "condition_met"


async def test_without_the_setting_a_repetition_is_only_a_warning(project: Project) -> None:
    facts = await project.run()
    warnings = [fact["repeated"] for fact in facts if fact["kind"] == "unchanged_output_warning"]
    assert warnings == [2, 4]
    assert facts[-1]["reason"] == "max_iterations"
