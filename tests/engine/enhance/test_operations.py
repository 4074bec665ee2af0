"""One accepted and one refused example of every operation that a planner may ask for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loop_ls.formats.workflow.model import Step, Workflow
from loop_ls.formats.workflow.read import read_workflow
from tests.engine.enhance.flows import FLOW, added, planning_case, start


def test_EB_092_a_step_is_added_behind_another() -> None:
    step = {"op": "add_step", "name": "check", "after": "draft", "run": "Check {{draft}}", "needs": ["draft"]}
    text = planning_case().taken(**step)
    assert "  - name: check\n    needs: [draft]\n    run: Check {{draft}}\n" in text
    assert len(added(FLOW, text)) == 3
    assert text.index("name: draft") < text.index("name: check") < text.index("name: review")
    assert planning_case().code(**step, model="gpt-4o") == "bad_fields"


def test_EB_093_a_prompt_is_replaced() -> None:
    text = planning_case().taken(op="set_instructions", target="review", run="Look at {{draft}} twice")
    assert "    run: Look at {{draft}} twice   # strictly\n" in text
    assert planning_case().code(op="set_instructions", target="review", run="Look at {{nosuch}}") == "bad_fields"


def test_EB_093_a_prompt_of_several_lines_becomes_a_block() -> None:
    text = planning_case().taken(op="set_instructions", target="publish", run="Publish {{review}}.\n\nAdd a title.")
    assert "    run: |-\n      Publish {{review}}.\n\n      Add a title.\n" in text


@pytest.mark.parametrize(
    "prompt", ["Review {{draft}}.\nSay why.", "Review {{draft}}\n...\n---\nname: other", "? k {{draft}}\n: v\n"]
)
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_EB_057_a_comment_behind_a_prompt_that_becomes_a_block_stays_a_comment(prompt: str, eol: str) -> None:
    """It was taken for the last words of the prompt."""
    flow = FLOW.replace("\n", eol)
    text = planning_case(flow).taken(op="set_instructions", target="review", run=prompt)
    [header] = [line for line in text.split(eol) if "# strictly" in line]
    assert header.rstrip(" ") == f"    run: {'|' if prompt.endswith(chr(10)) else '|-'}   # strictly"
    read = read_workflow(text)
    assert isinstance(read, Workflow)
    [review] = [each for each in read.elements if each.name == "review"]
    assert isinstance(review, Step)
    assert review.mode == prompt
    assert [line for line in flow.split(eol) if line not in text.split(eol)] == [
        "    run: Review {{draft}}   # strictly"
    ]


def test_EB_093_a_prompt_keeps_what_later_steps_get_through_it() -> None:
    alone = (
        FLOW.replace("    needs: [draft]\n", "")
        .replace('    if: "{{input}}"\n', "")
        .replace('with: {draft: "{{draft}}"}', 'with: {draft: "{{review}}"}')
        .replace('items: "{{draft}}"', 'items: "{{review}}"')
    )
    assert planning_case(alone).code(op="set_instructions", target="review", run="Review.") == "bad_fields"
    assert planning_case().code(op="set_instructions", target="review", run="Review.") == "changes_result"


def test_EB_093_a_prompt_may_lose_what_is_waited_for_anyway() -> None:
    flow = """\
$schema: workflow/v2.0
name: flow
version: 1.0.0
description: A flow
execution: {provider: ollama, model: llama3.2}
steps:
  - {name: draft, run: "Draft {{input}}"}
  - {name: review, run: "Review {{draft}}"}
  - {name: publish, needs: [draft, review], run: "Publish {{draft}} {{review}}"}
"""
    lost = {"op": "set_instructions", "target": "review", "run": "Review {{input}}"}
    assert "Review {{input}}" in planning_case(flow).taken(**lost), "the last step waits for both by itself"
    hangs = flow.replace("needs: [draft, review]", "needs: [review]").replace("{{draft}} {{review}}", "{{review}}")
    assert planning_case(hangs).code(**lost) == "bad_fields", "the last step gets it through this one"
    needed = hangs.replace('review, run: "Review {{draft}}"', 'review, needs: [draft], run: "Review {{draft}}"')
    assert planning_case(needed).code(**lost) == "changes_result", "it still waits, but what it waits for is lost"


def test_EB_094_a_paragraph_is_added_to_a_prompt() -> None:
    words = "x" * 200
    text = planning_case().taken(op="append_instructions", target="draft", text=words)
    assert f"      Keep it short.\n\n      {words}\n" in text
    assert planning_case().code(op="append_instructions", target="draft", text="x" * 2001) == "out_of_range"
    assert planning_case().code(op="append_instructions", target="draft", text="Of {{nosuch}}") == "bad_fields"


def test_EB_095_a_step_waits_for_another() -> None:
    text = planning_case().taken(op="set_needs", target="publish", add=["draft"])
    assert added(FLOW, text) == ["    needs: [draft]"]
    assert planning_case().code(op="set_needs", target="publish", add=["publish"]) == "would_cycle"
    [refused] = planning_case().plan({"op": "set_needs", "target": "publish", "add": ["drafd"]}).refused
    assert (refused.code, refused.message) == (
        "bad_fields",
        "unknown step or loop `drafd`, did you mean `draft`",
    )


def test_EB_095_a_step_goes_on_waiting_for_what_it_uses() -> None:
    assert planning_case().code(op="set_needs", target="review", remove=["draft"]) == "bad_fields"


def test_EB_095_a_need_in_a_block_list_goes_with_its_line() -> None:
    flow = FLOW.replace("    needs: [draft]\n", "    needs:\n      - draft\n      - publish  # first\n").replace(
        "run: Publish {{review}}", "run: Publish"
    )
    case = planning_case(flow)
    first = start(flow.replace("      - publish  # first\n", "")).document
    assert case.code(op="set_needs", target="review", remove=["publish"]) == "hides_failure"
    text = replace(case, baseline={"first": first}).taken(op="set_needs", target="review", remove=["publish"])
    assert "    needs:\n      - draft\n    if:" in text


def test_EB_096_the_condition_of_a_step_is_its_authors_and_that_of_a_new_one_is_not() -> None:
    for given in (None, "{{draft}}", "0"):
        assert planning_case().code(op="set_condition", target="review", **{"if": given}) == "hides_failure"
    assert planning_case().code(op="set_condition", target="draft", **{"if": "{{input}}"}) == "hides_failure"
    step = {"op": "add_step", "name": "check", "run": "Check {{draft}}"}
    planned = planning_case().plan(step, {"op": "set_condition", "target": "check", "if": "{{draft}}"})
    assert not planned.refused
    assert '    if: "{{draft}}"\n' in planned.copy.text
    planned = planning_case(planned.copy.text).plan({"op": "set_condition", "target": "check", "if": None})
    assert [one.code for one in planned.refused] == ["hides_failure"]


def test_EB_097_going_on_hides_no_check() -> None:
    text = planning_case().taken(op="set_on_failure", target="publish", on_failure="continue")
    assert added(FLOW, text) == ["    on_failure: continue"]
    failed = replace(planning_case(), baseline={"failed": frozenset({"review", "polish"})})
    for target in ("review", "polish"):
        assert failed.code(op="set_on_failure", target=target, on_failure="continue") == "hides_failure"


def test_EB_098_trying_again_needs_a_number_of_tries() -> None:
    retry = {"op": "set_on_failure", "target": "publish", "on_failure": "retry"}
    assert planning_case().code(**retry) == "bad_fields"
    planned = planning_case().plan(retry, {"op": "set_retries", "target": "publish", "max_retries": 2})
    assert not planned.refused


def test_EB_098_retries_and_their_delay() -> None:
    text = planning_case().taken(op="set_retries", target="polish", max_retries=2, retry_delay="5s")
    assert added(FLOW, text) == ["    max_retries: 2", "    retry_delay: 5s"]
    assert planning_case().code(op="set_retries", target="polish", max_retries=6) == "out_of_range"
    assert planning_case().code(op="set_retries", target="draft", max_retries=1, retry_delay="5s") == "bad_fields"


def test_EB_099_a_time_limit() -> None:
    assert added(FLOW, planning_case().taken(op="set_timeout", target="draft", timeout="90s")) == ["    timeout: 90s"]
    assert planning_case().code(op="set_timeout", target="draft", timeout="45m") == "out_of_range"
    assert planning_case().code(op="set_timeout", target="polish", timeout="90s") == "unknown_target"


def test_EB_100_time_limits_of_a_loop() -> None:
    text = planning_case().taken(op="set_loop_timeouts", target="polish", timeout_per_item="2m", total_timeout="1h")
    assert added(FLOW, text) == ["    timeout_per_item: 2m", "    total_timeout: 1h"]
    assert planning_case().code(op="set_loop_timeouts", target="polish", total_timeout="7h") == "out_of_range"


def test_EB_101_a_fallback_stands_behind_the_first() -> None:
    fallback = {"provider": "anthropic", "model": "claude-haiku-4-5"}
    text = planning_case().taken(op="set_provider_fallback", target="review", fallbacks=[fallback])
    chain = "      - {provider: openai, model: gpt-4o}\n      - {provider: anthropic, model: claude-haiku-4-5}\n"
    assert f"    providers:\n{chain}" in text
    assert "    provider: openai" not in text
    other = {"provider": "groq", "model": "llama"}
    assert planning_case().code(op="set_provider_fallback", target="review", fallbacks=[other]) == "not_in_pool"


def test_EB_102_how_a_model_is_asked() -> None:
    text = planning_case().taken(op="set_generation", target="draft", temperature=0.2, max_tokens=2000)
    assert added(FLOW, text) == ["    temperature: 0.2", "    max_tokens: 2000"]
    assert planning_case().code(op="set_generation", target="draft", temperature=2.5) == "out_of_range"


def test_EB_103_a_skill_comes_to_those_that_are_there() -> None:
    skills = planning_case(skills=frozenset({"tables", "charts"}))
    text = skills.taken(op="add_skill", target="draft", skill="charts")
    assert added(FLOW, text) == ["    skills: [tables, charts]"]
    assert skills.code(op="add_skill", target="draft", skill="magic") == "bad_fields"


def test_EB_104_a_loop_gets_another_criterion() -> None:
    until = {"op": "set_loop_until", "target": "polish", "until": "The review says PASS"}
    assert planning_case().code(**until) == "hides_failure"
    text = replace(planning_case(), baseline={"reviewed": True}).taken(**until)
    assert "    until: The review says PASS\n" in text
    assert planning_case().code(op="set_loop_until", target="polish", until="{{loop.output}} is good") == "bad_fields"
    assert planning_case().code(op="set_loop_until", target="each", until="The review says PASS") == "bad_fields"


def test_EB_105_iterations_grow_to_three_times_the_first_number() -> None:
    text = planning_case().taken(op="set_loop_max_iterations", target="polish", max_iterations=15)
    assert "    max_iterations: 15\n" in text
    assert planning_case().code(op="set_loop_max_iterations", target="polish", max_iterations=16) == "out_of_range"


def test_EB_106_one_argument_of_a_loop() -> None:
    value = {"op": "set_loop_input", "target": "polish", "key": "previous", "value": "{{loop.last.output}}"}
    text = planning_case().taken(**value)
    assert '    with: {draft: "{{draft}}", previous: "{{loop.last.output}}"}\n' in text
    assert planning_case().code(**{**value, "value": "{{nosuch}}"}) == "bad_fields"


@pytest.mark.parametrize("name", ["topic", "facts", "tone", "input", "env", "loop", "step"])
def test_EB_046_a_new_name_takes_the_place_of_no_variable(name: str) -> None:
    """What the caller gives there would be replaced by what a model says."""
    flow = FLOW.replace(
        "Write about {{input}}.", "Write about {{input}}, {{topic}}, {{step.facts}} and {{tone.results}}."
    )
    case = planning_case(flow)
    loop = {"workflow": "shorten", "max_iterations": 2, "until": "It is short"}
    for op in (
        {"op": "add_step", "name": name, "before": "draft", "run": "Name one"},
        {"op": "add_loop", "name": name, **loop},
        {"op": "add_loop", "name": "more", "accumulate": name, **loop},
        {"op": "add_verifier", "name": name, "checks": "draft", "criterion": "It is short"},
        {"op": "set_loop_accumulate", "target": "polish", "accumulate": name},
    ):
        assert case.code(**op) == "name_taken", op


def test_EB_107_a_name_for_all_outputs() -> None:
    text = planning_case().taken(op="set_loop_accumulate", target="polish", accumulate="drafts")
    assert added(FLOW, text) == ["    accumulate: drafts"]
    assert planning_case().code(op="set_loop_accumulate", target="polish", accumulate="review") == "name_taken"


def test_EB_108_the_success_rate_only_rises() -> None:
    assert "min_success_rate: 0.9\n" in planning_case().taken(op="set_min_success_rate", target="each", value=0.9)
    assert planning_case().code(op="set_min_success_rate", target="each", value=0.7) == "hides_failure"


def test_EB_109_a_loop_is_added() -> None:
    loop = {"op": "add_loop", "name": "again", "workflow": "shorten", "max_iterations": 3, "until": "It says DONE"}
    text = planning_case().taken(**loop, **{"with": {"draft": "{{draft}}", "item": ""}})
    assert text.startswith(FLOW)
    assert "  - name: again\n    workflow: shorten\n" in text[len(FLOW) :]
    assert planning_case().code(**{**loop, "workflow": "nowhere"}) == "bad_fields"


def test_EB_110_a_check_follows_what_it_checks() -> None:
    check = {"op": "add_verifier", "name": "verify", "checks": "draft", "criterion": "It names the subject"}
    text = planning_case().taken(**check)
    new = "\n".join(added(FLOW, text))
    assert "PASS" in new
    assert "FAIL" in new
    assert "It names the subject" in new
    assert text.index("name: draft") < text.index("name: verify") < text.index("name: review")
    assert planning_case().code(**{**check, "checks": "nowhere"}) == "unknown_target"
    planned = planning_case().plan(check, {**check, "name": "verify_again"})
    assert [one.code for one in planned.refused] == ["bad_fields"]


def test_EB_111_the_description() -> None:
    described = {"op": "set_description", "target": "workflow", "text": "y" * 80}
    planned = planning_case().plan(described, {"op": "set_timeout", "target": "draft", "timeout": "90s"})
    assert f"description: {'y' * 80}\n" in planned.copy.text
    assert planning_case().code(**described) == "no_change"
    assert planning_case().code(op="set_description", target="workflow", text="y" * 501) == "out_of_range"
