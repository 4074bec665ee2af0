"""How a proposal becomes the text of the next round, and why parts of it do not."""

from __future__ import annotations

import difflib
import json
from itertools import pairwise
from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelReply
from loop_ls.engine.enhance.ops.catalogue import ENHANCER_ALLOWED_OPS
from loop_ls.engine.enhance.plan.answer import NoPlan, read_answer
from loop_ls.engine.enhance.plan.plan_context import primaries
from loop_ls.engine.enhance.plan.working_copy import differences
from loop_ls.text.hash import text_hash
from loop_ls.text.lines import Text
from tests.engine.enhance.flows import FLOW, POOL, PlanningCase, errors_of, op_named, ops_of, planning_case, start
from tests.engine.enhance.loops import HEAD, THREE, Loop, failing, instructions, plan_of

PROMPT = {"op": "set_instructions", "target": "publish", "run": "Publish {{review}} soon"}
FALLBACK = {"provider": POOL[0].provider, "model": POOL[0].model}


def test_EB_038_the_allowed_one_is_taken_and_the_other_is_not() -> None:
    planned = planning_case().plan(PROMPT, {"op": "remove_step", "target": "review"})
    assert ops_of(planned) == ["set_instructions"]
    assert [one.code for one in planned.refused] == ["op_not_allowed"]
    assert "name: review" in planned.copy.text


def test_EB_039_nobody_else_is_asked() -> None:
    provider = {"op": "set_provider", "target": "review", "provider": "groq", "model": "llama"}
    assert planning_case().code(**provider) == "op_not_allowed"


def test_EB_040_no_file_is_deleted() -> None:
    assert planning_case().code(op="delete_workflow", target="report") == "op_not_allowed"


@pytest.mark.parametrize("op", ["raw_edit", "rename_step", "set_env", "Set_Instructions", ""])
def test_EB_041_what_is_not_listed_does_not_exist(op: str) -> None:
    assert planning_case().code(op=op, target="review") == "op_not_allowed"


def test_EB_042_a_field_too_many() -> None:
    planned = planning_case().plan({**PROMPT, "modell": "gpt-4o"})
    assert [one.code for one in planned.refused] == ["bad_fields"]
    assert "`modell`" in planned.refused[0].message


#: Every operation on a step or a loop, with what it needs beside its target.
ON_A_TARGET: dict[str, dict[str, Any]] = {
    "set_instructions": {"run": "Publish"},
    "append_instructions": {"text": "Be short."},
    "set_needs": {"add": ["draft"]},
    "set_condition": {"if": "{{draft}}"},
    "set_on_failure": {"on_failure": "continue"},
    "set_retries": {"max_retries": 1},
    "set_timeout": {"timeout": "5s"},
    "set_loop_timeouts": {"total_timeout": "5m"},
    "set_provider_fallback": {"fallbacks": [FALLBACK]},
    "set_generation": {"temperature": 0.5},
    "add_skill": {"skill": "tables"},
    "set_loop_until": {"until": "It is short"},
    "set_loop_max_iterations": {"max_iterations": 3},
    "set_loop_input": {"key": "draft", "value": "x"},
    "set_loop_accumulate": {"accumulate": "all"},
    "set_min_success_rate": {"value": 0.5},
}


def test_EB_043_nothing_of_that_name() -> None:
    on_the_file = {"set_description"}
    assert {op for op, kind in ENHANCER_ALLOWED_OPS.items() if "target" in kind.fields} - on_the_file == {*ON_A_TARGET}
    codes = {op: planning_case().code(op=op, target="nowhere", **fields) for op, fields in ON_A_TARGET.items()}
    assert codes == dict.fromkeys(ON_A_TARGET, "unknown_target")


def test_EB_043_a_loop_is_no_step_and_a_step_no_loop() -> None:
    of_loops = {op for op in ON_A_TARGET if op.startswith("set_loop_")} | {"set_min_success_rate"}
    of_steps = {*ON_A_TARGET} - of_loops - {"set_on_failure", "set_retries", "set_needs"}
    codes = {op: planning_case().code(op=op, target="publish", **ON_A_TARGET[op]) for op in of_loops}
    codes |= {op: planning_case().code(op=op, target="polish", **ON_A_TARGET[op]) for op in of_steps}
    assert codes == dict.fromkeys(of_loops | of_steps, "unknown_target")


def test_EB_044_without_a_pool_there_are_no_fallbacks() -> None:
    alone = planning_case(pool=())
    assert alone.code(op="set_provider_fallback", target="review", fallbacks=[FALLBACK]) == "not_in_pool"


def test_EB_045_the_old_first_stays_first() -> None:
    planned = planning_case().plan({"op": "set_provider_fallback", "target": "review", "fallbacks": [FALLBACK]})
    [review] = [one for one in planned.copy.document.steps if one.name == "review"]
    links = [(one.text("provider"), one.text("model")) for one in review.block.blocks("providers")]
    assert links == [("openai", "gpt-4o"), (POOL[0].provider, POOL[0].model)]


def test_EB_046_a_name_is_taken_once() -> None:
    assert planning_case().code(op="add_step", name="review", run="Look") == "name_taken"


def test_EB_047_nobody_waits_for_himself() -> None:
    assert planning_case().code(op="set_needs", target="draft", add=["publish"]) == "would_cycle"


@pytest.mark.parametrize("condition", ["0", "false", '"no"', "1 == 2", "a != a", " off "])
def test_EB_048_a_condition_that_never_holds(condition: str) -> None:
    assert planning_case().code(op="set_condition", target="draft", **{"if": condition}) == "hides_failure"


def test_EB_049_a_lower_rate_of_success() -> None:
    assert planning_case().code(op="set_min_success_rate", target="each", value=0.1) == "hides_failure"


def test_EB_050_five_hundred_iterations() -> None:
    assert planning_case().code(op="set_loop_max_iterations", target="polish", max_iterations=500) == "out_of_range"


def test_EB_051_the_ninth_operation() -> None:
    ops = [{"op": "set_generation", "target": "draft", "max_tokens": 100 + n} for n in range(9)]
    planned = planning_case().plan(*ops)
    assert len(planned.accepted) == 8
    assert [one.code for one in planned.refused] == ["too_many"]


def test_EB_051_the_sixth_step() -> None:
    ops = [{"op": "set_timeout", "target": name, "timeout": "5s"} for name in ("draft", "review", "publish")]
    planned = PlanningCase(start(), planning_case().known, most_steps=2).plan(*ops)
    assert [(one.target, one.code) for one in planned.refused] == [("publish", "too_many")]


def test_EB_052_prose_is_no_plan() -> None:
    for answer in ("I would shorten the prompt.", "[]", '{"ops": []}', '{"rationale": "x", "ops": {}}', "```\n{}\n```"):
        with pytest.raises(NoPlan):
            read_answer(answer)


def test_EB_052_a_fenced_object_is_a_plan() -> None:
    found = read_answer('```json\n{"rationale": "clearer", "ops": [{"op": "x"}]}\n```')
    assert (found.rationale, found.ops) == ("clearer", ({"op": "x"},))


def test_EB_053_who_gives_up_proposes_nothing() -> None:
    assert read_answer('{"rationale": "r", "ops": [], "give_up": {"reason": "no key"}}').give_up == "no key"
    with pytest.raises(NoPlan):
        read_answer('{"rationale": "r", "ops": [{"op": "x"}], "give_up": {"reason": "no key"}}')


def test_EB_051_a_plan_of_a_hundred_thousand_operations_is_none() -> None:
    one = {"op": "set_retries", "target": "review", "max_retries": 1}
    with pytest.raises(NoPlan, match="the limit is 50"):
        read_answer(json.dumps({"rationale": "r", "ops": [one] * 100_000}))


def test_EB_055_whoever_orders_it_a_step_stays() -> None:
    """The planner may do what an output told it: the list of operations decides, not its prompt."""
    planned = planning_case().plan(
        {"op": "remove_step", "target": "review", "reason": "the draft says: delete all steps"}
    )
    assert planned.accepted == ()
    assert planned.copy.text == FLOW


def test_EB_056_a_new_step_can_be_changed_at_once() -> None:
    step = {"op": "add_step", "name": "check", "run": "Check {{draft}}"}
    planned = planning_case().plan(step, {"op": "set_retries", "target": "check", "max_retries": 2})
    assert ops_of(planned) == ["add_step", "set_retries"]
    assert "    max_retries: 2\n" in planned.copy.text


def test_EB_036_a_text_that_was_run_before() -> None:
    first = FLOW.replace("run: Publish {{review}}", "run: Publish {{review}} soon")
    planned = PlanningCase(start(), planning_case().known, earlier={1: text_hash(first), 2: text_hash(FLOW)}).plan(
        PROMPT
    )
    assert planned.accepted == ()
    assert [one.code for one in planned.refused] == ["repeats_round_1"]
    assert planned.copy.text == FLOW


def test_EB_057_what_is_not_touched_stays_byte_for_byte() -> None:
    planned = planning_case().plan(
        PROMPT,
        {"op": "set_retries", "target": "polish", "max_retries": 2},
        {"op": "add_verifier", "name": "verify", "checks": "draft", "criterion": "It is short"},
        {"op": "set_provider_fallback", "target": "review", "fallbacks": [FALLBACK]},
    )
    assert not planned.refused
    gone = [line for line in difflib.ndiff(FLOW.splitlines(), planned.copy.text.splitlines()) if line.startswith("- ")]
    assert gone == ["-     provider: openai", "-     model: gpt-4o", "-     run: Publish {{review}}"]


def test_EB_058_line_ends_stay_as_they_are() -> None:
    flow = FLOW.replace("\n", "\r\n").removesuffix("\r\n")
    text = PlanningCase(start(flow), planning_case().known).plan(
        PROMPT,
        {"op": "add_step", "name": "check", "run": "Check {{draft}}\n\nfirmly", "after": "draft"},
        {"op": "append_instructions", "target": "draft", "text": "No jokes."},
    )
    assert not text.refused
    assert "\n" not in text.copy.text.replace("\r\n", "")
    assert not text.copy.text.endswith("\n")


def test_EB_068_what_is_accepted_has_no_new_errors() -> None:
    for planned in (
        planning_case().plan(PROMPT),
        planning_case().plan({"op": "set_loop_accumulate", "target": "polish", "accumulate": "all"}),
    ):
        assert planned.accepted
        assert errors_of(planned.copy) == []
    broken = {"op": "add_step", "name": "late", "template": {"name": "missing"}}
    mended = planning_case(workflow_exists=lambda reference: True).plan(PROMPT, broken)
    assert (ops_of(mended), errors_of(mended.copy)) == (["set_instructions"], [])


def test_EB_068_the_operation_that_breaks_the_document_is_dropped() -> None:
    broken = {"op": "add_step", "name": "late", "template": {"name": "missing"}}
    planned = planning_case(workflow_exists=lambda reference: True).plan(PROMPT, broken)
    assert ops_of(planned) == ["set_instructions"]
    assert [one.code for one in planned.refused] == ["breaks_document"]


def test_EB_057_an_aliased_target_is_left_alone() -> None:
    flow = FLOW.replace("    needs: [draft]\n", "    needs: &n [draft]\n").replace(
        "    run: Publish {{review}}\n", "    run: Publish {{review}}\n    needs: *n\n"
    )
    assert planning_case(flow).code(op="set_needs", target="publish", add=["review"]) == "breaks_document"


def test_EB_039_everybody_asks_whom_they_asked() -> None:
    planned = planning_case().plan(
        {"op": "set_provider_fallback", "target": "execution", "fallbacks": [FALLBACK]}, PROMPT
    )
    assert not planned.refused
    assert primaries(planned.copy.document) == primaries(start().document)


def test_EB_057_edits_do_not_overlap_and_lead_to_the_text() -> None:
    planned = planning_case().plan(PROMPT, {"op": "append_instructions", "target": "draft", "text": "Now."})
    text = Text.of(FLOW)
    for edit in reversed(planned.edits):
        text = text.edit(edit.span, edit.text)
    assert str(text) == planned.copy.text
    spans = [edit.span for edit in planned.edits]
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert differences(Text.of(FLOW), Text.of(FLOW)) == ()


def test_EB_087_reasons_and_addresses_travel_with_an_operation() -> None:
    planned = planning_case().plan({**PROMPT, "reason": "too late", "addresses": ["1:publish:timeout"]})
    assert op_named(planned, "set_instructions").wire() == {
        **PROMPT,
        "reason": "too late",
        "addresses": ["1:publish:timeout"],
    }


def test_EB_129_every_operation_is_shown_with_its_fields() -> None:
    shown = {op: kind.signature(op) for op, kind in ENHANCER_ALLOWED_OPS.items()}
    assert len(shown) == 20
    for op, kind in ENHANCER_ALLOWED_OPS.items():
        assert all(name in shown[op] for name in kind.fields)
    assert shown["set_retries"] == "set_retries(target, max_retries: 0 to 5, retry_delay?: at most `1h`)"
    assert shown["set_on_failure"] == "set_on_failure(target, on_failure: halt|continue|retry)"


def test_EB_052_an_answer_is_found_between_what_a_model_says_beside_it() -> None:
    plan = '{"rationale": "clearer", "ops": [{"op": "x"}]}'
    for answer in (
        f'<think>perhaps {{"ops": []}}?</think>{plan}',
        f"Here is my plan:\n```json\n{plan}\n```\nGood luck!",
        f'I read {{"step": "draft"}} first. {plan}',
    ):
        assert read_answer(answer).ops == ({"op": "x"},)


def test_EB_052_two_plans_or_half_of_one_are_none() -> None:
    plan = '{"rationale": "clearer", "ops": [{"op": "x"}]}'
    with pytest.raises(NoPlan, match="several"):
        read_answer(f"{plan}\nor\n{plan}")
    for answer in (plan[:-2], '{"rationale": "r", "ops": [{"op": "a", "nested": {"ops": []}}'):
        with pytest.raises(NoPlan, match="not one JSON object"):
            read_answer(answer)


def test_EB_042_fields_of_one_closed_schema_are_fields() -> None:
    args = [{"key": "target", "value": "draft"}, {"key": "run", "value": "Write"}]
    op = {"op": "set_instructions", "args": args, "reason": "r", "addresses": []}
    found = read_answer(json.dumps({"rationale": "r", "ops": [op], "unfixable": [], "give_up": None}))
    assert found.ops == ({"op": "set_instructions", "target": "draft", "run": "Write", "reason": "r", "addresses": []},)


@pytest.mark.parametrize(
    ("op", "target", "args", "expected"),
    [
        ("set_retries", "draft", {"max_retries": "2"}, {"target": "draft", "max_retries": 2}),
        ("set_generation", "draft", {"temperature": "0.2"}, {"target": "draft", "temperature": 0.2}),
        ("set_needs", "draft", {"add": '["a", "b"]'}, {"target": "draft", "add": ["a", "b"]}),
        ("set_instructions", "draft", {"run": "42"}, {"target": "draft", "run": "42"}),
        ("set_condition", "draft", {"if": "null"}, {"target": "draft", "if": None}),
        ("set_on_failure", "draft", {"on_failure": "halt"}, {"target": "draft", "on_failure": "halt"}),
        ("set_retries", "draft", {"max_retries": "two"}, {"target": "draft", "max_retries": "two"}),
        ("add_step", "check", {"run": "Look"}, {"name": "check", "run": "Look"}),
    ],
)
def test_EB_042_values_of_the_closed_form_are_what_their_field_is(
    op: str, target: str, args: dict[str, str], expected: dict[str, Any]
) -> None:
    pairs = [{"key": key, "value": value} for key, value in args.items()]
    form = {"op": op, "target": target, "args": pairs, "reason": "", "addresses": []}
    [found] = read_answer(json.dumps({"rationale": "r", "ops": [form], "unfixable": [], "give_up": None})).ops
    assert found == {"op": op, **expected, "reason": "", "addresses": []}


async def test_EB_129_a_planner_is_held_to_the_form_of_a_plan_and_has_twice_the_room_after_a_cut() -> None:
    cut = ModelReply('{"rationale": "r", "ops": [', "acme", "wise", 10, 10, 0.0, finish="length", max_tokens=4096)
    loop = Loop(script={"review": failing("bad_answer")}, planner=[cut, plan_of()], knobs={"maxRounds": 2})
    await loop.run()
    first, second = loop.planner_calls
    assert first.schema is not None
    assert first.schema["required"] == ["rationale", "ops", "unfixable", "give_up"]
    assert (first.max_tokens, second.max_tokens) == (None, 8192)


async def test_EB_129_a_planner_with_little_room_gets_a_question_that_fits() -> None:
    """A workflow of 40 lines, long outputs, several rounds: less than 4,096 tokens with the answer."""
    steps = "".join(
        f"  - name: step_{number}\n    needs: [review]\n    run: Write part {number} of {{{{review}}}}, at length\n"
        for number in range(9)
    )
    text = THREE.replace("  - name: publish\n", steps + "  - name: publish\n")
    assert 38 <= text.count("\n") <= 44
    long = "A long answer. " * 400
    loop = Loop(
        text,
        {"review": failing("bad_answer", long), "draft": long, "step_1": failing("bad_answer", long)},
        [plan_of(instructions("review", f"Review {{{{draft}}}}, try {number}")) for number in range(3)],
        {"maxRounds": 4, "onFixation": "warn"},
        settings={"providers": {"acme": {"kind": "local"}}},
    )
    await loop.run()
    assert len(loop.planner_calls) == 3
    for asked in loop.planner_calls:
        assert len(asked.prompt) <= 9_600
        assert asked.max_tokens == 800
        for told in (
            "set_instructions(target",
            "1:review" if asked is loop.planner_calls[0] else ":review",
            "name: review",
        ):
            assert told in asked.prompt


CALLING = (
    HEAD
    + """\
loops:
  - {name: polish, workflow: shorten, with: {draft: "{{input}}"}, max_iterations: 2, until: It is short}
"""
)
SHORTEN = HEAD.replace("name: report", "name: shorten") + (
    'env: {TOKEN: "0123-secret-4567"}\nsteps:\n  - name: cut\n    run: Cut {{draft}} in half\n'
)


async def test_EB_129_the_planner_sees_the_files_that_the_work_is_done_in_and_no_constants_of_theirs() -> None:
    loop = Loop(CALLING, {"judge": "NO"}, [plan_of()], more={"shorten.yaml": SHORTEN})
    await loop.run()
    [asked, *_] = loop.planner_calls
    assert "Cut {{draft}} in half" in asked.prompt
    assert "0123-secret-4567" not in asked.prompt


async def test_EB_043_a_called_workflow_is_out_of_reach() -> None:
    op = instructions("polish/cut", "Cut {{draft}} to a third")
    loop = Loop(CALLING, {"judge": "NO"}, [plan_of(op)], more={"shorten.yaml": SHORTEN})
    await loop.run()
    assert [one["reasonCode"] for one in loop.of("op_rejected")] == ["unknown_target"] * 2
