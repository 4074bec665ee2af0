"""How the answer of a planner is read: the one object, its fields, and each sentence with which one is sent back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loop_ls.engine.enhance.plan.answer import NoPlan, read_answer


def answer(**fields: Any) -> str:
    return json.dumps({"rationale": "why", "ops": [], **fields})


def read_op(**op: Any) -> Any:
    [found] = read_answer(answer(ops=[op])).ops
    return found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no object", "the answer is not one JSON object with `ops`"),
        ('{"rationale": "why"}', "the answer is not one JSON object with `ops`"),
        ('{"rationale": "why", "ops": [', "the answer is not one JSON object with `ops`: "),
        (f"{answer()} or {answer()}", "several JSON objects with `ops`"),
        (answer(more=1), "the answer has no field `more`"),
        (answer(rationale=""), "`rationale` must be a string of 1 to 2000 characters"),
        (answer(rationale=" "), "`rationale` must be a string of 1 to 2000 characters"),
        (answer(rationale=5), "`rationale` must be a string of 1 to 2000 characters"),
        (answer(rationale="x" * 2001), "`rationale` must be a string of 1 to 2000 characters"),
        (answer(ops={}), "`ops` must be a list of operations"),
        (answer(ops=[{}] * 51), "`ops` has 51 entries; the limit is 50"),
        (answer(unfixable="x"), "`unfixable` must be a list of objects with `failure` and `reason`"),
        (answer(unfixable=[{"failure": "x"}]), "`unfixable` must be a list of objects with `failure` and `reason`"),
        (answer(give_up=5), "`give_up` must be an object with `reason`"),
        (answer(give_up={"why": "x"}), "`give_up` must be an object with `reason`"),
        (answer(give_up="enough", ops=[{}]), "`give_up` is allowed only with empty `ops`"),
    ],
)
def test_EB_052_an_answer_that_is_no_plan_is_sent_back_with_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(NoPlan) as refused:
        read_answer(text)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        answer(),
        f"```json\n{answer()}\n```",
        f'<think>{{"ops": 1}}</think>{answer()}',
        f'I say {{"a": 1}}: {answer()} and after {{this}}.',
    ],
)
def test_EB_052_the_one_object_is_found_whatever_stands_beside_it(text: str) -> None:
    assert read_answer(text).rationale == "why"


def test_EB_052_what_an_answer_may_hold_is_read() -> None:
    assert read_answer(answer(rationale=" x ", ops=[{"op": "a"}] * 50)).rationale == "x"
    assert read_answer(answer(rationale="x" * 2000)).ops == ()
    assert read_answer(answer(unfixable=None)).unfixable == ()
    [one] = read_answer(answer(unfixable=[{"failure": "f", "reason": "r", "more": 1}])).unfixable
    assert (one.failure, one.reason) == ("f", "r")


@pytest.mark.parametrize(
    ("given", "reason"),
    [(None, None), ("", None), ("enough", "enough"), ({"reason": "enough"}, "enough"), ({"reason": ""}, True)],
)
def test_EB_053_a_planner_gives_up_with_a_reason(given: Any, reason: Any) -> None:
    found = read_answer(answer(give_up=given)).give_up
    assert found == ("the planner gave up" if reason is True else reason)


def test_EB_042_fields_in_a_list_of_args_are_fields() -> None:
    args = [{"key": "timeout", "value": "5s"}]
    assert read_op(op="set_timeout", target="a", args=args) == {"op": "set_timeout", "target": "a", "timeout": "5s"}
    for odd in ("x", [5], [{"key": 5, "value": 1}], [{"key": "timeout"}]):
        assert read_op(op="set_timeout", target="a", args=odd)["args"] == odd
    assert read_answer(answer(ops=[5])).ops == (5,)
    assert read_op(op="nothing", target="a", args=args) == {"op": "nothing", "target": "a", "timeout": "5s"}


def test_EB_042_the_target_of_what_is_added_is_its_name() -> None:
    args = [{"key": "run", "value": "go"}]
    assert read_op(op="add_step", target="new", args=args) == {"name": "new", "run": "go", "op": "add_step"}
    assert read_op(op="add_step", target="", args=args) == {"run": "go", "op": "add_step"}
    named = [*args, {"key": "name", "value": "other"}]
    assert read_op(op="add_step", target="new", args=named)["name"] == "other"
    assert "target" not in read_op(op="add_step", target="new", args=named)


def test_EB_042_values_that_come_as_text_are_what_their_field_is() -> None:
    def value(op: str, key: str, text: Any) -> Any:
        return read_op(op=op, target="a", args=[{"key": key, "value": text}])[key]

    assert value("set_retries", "max_retries", "2") == 2
    assert value("set_retries", "max_retries", 3) == 3
    assert value("set_retries", "max_retries", "two") == "two"
    assert value("set_needs", "add", '["draft"]') == ["draft"]
    assert value("set_timeout", "timeout", "5") == "5"
    assert value("set_retries", "nothing", "2") == "2"
    assert [value("set_condition", "if", text) for text in ("null", "", "{{a}}")] == [None, None, "{{a}}"]


def test_EB_052_a_list_that_was_written_as_a_text_is_read_once() -> None:
    ops = [{"op": "set_retries", "target": "draft", "max_retries": 2}]
    assert read_answer(answer(ops=json.dumps(ops))).ops == tuple(ops)
    for text in ("", "no list", json.dumps(json.dumps(ops)), "{}", '[{"op": "set_ret', "[" * 5000):
        with pytest.raises(NoPlan, match="`ops` must be a list of operations"):
            read_answer(answer(ops=text))
    with pytest.raises(NoPlan, match="nested too deeply"):
        read_answer('{"ops":' * 5000)
