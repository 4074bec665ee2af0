"""What each iteration is told, and what is learned from the last one."""

from __future__ import annotations

from loop_ls.engine.assistants.message import ONCE_MORE, composed, learning_of
from tests.engine.assistants.support.project import EngineProject


async def test_AB_018_the_first_message_is_the_original_byte_for_byte(project: EngineProject) -> None:
    message = "  Fix  it\n\n## Progress Log\r\n\tplease "
    project.write(maxIterations=1)
    await project.run(message)
    assert project.agent.messages == [message]


async def test_AB_019_the_second_message_starts_with_the_original_and_has_the_log(project: EngineProject) -> None:
    project.agent.say({"text": "tried"})
    await project.run("Make it pass.\n")
    second = project.agent.messages[1]
    assert second.startswith("Make it pass.\n")
    assert "\n\n## Progress Log" in second
    assert "\n- Iteration 1: tried\n" in second


async def test_AB_020_the_third_of_ten_says_so_and_lists_two_learnings(project: EngineProject) -> None:
    project.write(maxIterations=10)
    project.criterion("regex", "STOP")
    project.agent.say({"text": "first"}, {"text": "second"}, {"text": "STOP"})
    await project.run()
    third = project.agent.messages[2]
    assert "Iteration 3 of 10" in third
    bullets = [line for line in third.splitlines() if line.startswith("- ")]
    assert bullets == ["- Iteration 1: first", "- Iteration 2: second"]
    assert len(project.agent.messages) == 3


def test_AB_021_the_instruction_stands_on_its_own_line() -> None:
    lines = composed("m", 2, 3, ["x"]).splitlines()
    assert lines[lines.index("## Iteration 2 of 3") + 1] == ONCE_MORE


def test_AB_023_a_learning_has_at_most_300_characters() -> None:
    assert learning_of("a" * 400, 1) == "a" * 300


def test_AB_024_line_feeds_become_one_blank() -> None:
    assert learning_of("a\n\n\nb", 1) == "a b"
    assert learning_of("a\r\n\r\nb  c\td", 1) == "a b  c\td"


def test_AB_025_no_output_is_said_with_the_number() -> None:
    assert learning_of("", 7) == "Iteration 7 produced no output"


def test_AB_026_blanks_are_cut_before_they_are_cleaned() -> None:
    assert learning_of(" " * 301 + "text", 2) == "Iteration 2 produced no output"
    assert learning_of(" " * 299 + "text", 2) == "t"


async def test_AB_027_the_log_of_three_iterations_has_three_entries_in_order(project: EngineProject) -> None:
    project.agent.say({"text": "one"}, {"text": "two"}, {"text": "three"})
    run_id = await project.started()
    await project.ended(run_id)
    assert (await project.state(run_id))["progressLog"] == ["one", "two", "three"]


async def test_AB_028_a_failed_iteration_teaches_nothing(project: EngineProject) -> None:
    project.agent.say({"text": "one"}, {"exit": 1, "stderr": "broken"})
    run_id = await project.started()
    facts = await project.ended(run_id)
    assert facts.end["kind"] == "failed"
    assert (await project.state(run_id))["progressLog"] == ["one"]


def test_AB_067_feedback_and_test_output_have_headings_of_their_own() -> None:
    text = composed("m", 2, 3, ["x"], feedback="shorter", check="1 failed")
    assert "\n\n## Reviewer Feedback\nshorter\n\n" in text
    assert "\n\n## Test Output\n```\n1 failed\n```\n\n" in text
