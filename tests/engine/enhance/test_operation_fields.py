"""What the fields of an operation take: the last value that is right, and the first that is not."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.engine.enhance.ops.catalogue import ENHANCER_ALLOWED_OPS, read_operation
from loop_ls.engine.enhance.ops.operations import Rejected

PAIR = {"provider": "ollama", "model": "m"}
#: An operation of each kind, as short as it may be.
SHORT: dict[str, dict[str, Any]] = {
    "add_step": {"name": "a", "run": "x"},
    "set_instructions": {"target": "a", "run": "x"},
    "append_instructions": {"target": "a", "text": "x"},
    "set_needs": {"target": "a", "add": ["b"]},
    "set_condition": {"target": "a", "if": None},
    "set_on_failure": {"target": "a", "on_failure": "halt"},
    "set_retries": {"target": "a", "max_retries": 1},
    "set_timeout": {"target": "a", "timeout": "5s"},
    "set_loop_timeouts": {"target": "a", "total_timeout": "5m"},
    "set_provider_fallback": {"target": "a", "fallbacks": [PAIR]},
    "set_generation": {"target": "a", "temperature": 1},
    "add_skill": {"target": "a", "skill": "s"},
    "set_loop_until": {"target": "a", "until": "x"},
    "set_loop_max_iterations": {"target": "a", "max_iterations": 2},
    "set_loop_input": {"target": "a", "key": "k", "value": ""},
    "set_loop_accumulate": {"target": "a", "accumulate": "all"},
    "set_min_success_rate": {"target": "a", "value": 0.5},
    "add_loop": {"name": "a", "workflow": "w", "max_iterations": 2, "until": "x"},
    "add_verifier": {"name": "a", "checks": "b", "criterion": "x"},
    "set_description": {"target": "workflow", "text": "x"},
}
TEXTS = {
    "add_step": {"run": 8000},
    "set_instructions": {"run": 8000},
    "append_instructions": {"text": 2000},
    "set_loop_until": {"until": 500},
    "set_loop_input": {"value": 8000},
    "add_loop": {"until": 500},
    "add_verifier": {"criterion": 2000},
    "set_description": {"text": 500},
}
#: The least and the most of a number or a duration, and what lies right outside.
RANGES: list[tuple[str, str, tuple[Any, Any], tuple[Any, Any]]] = [
    ("add_step", "max_retries", (0, 5), (-1, 6)),
    ("set_retries", "max_retries", (0, 5), (-1, 6)),
    ("set_retries", "retry_delay", ("0s", "1h"), ("0s", "3601s")),
    ("set_timeout", "timeout", ("1s", "30m"), ("999ms", "1801s")),
    ("set_loop_timeouts", "timeout_per_item", ("1s", "6h"), ("999ms", "21601s")),
    ("set_loop_timeouts", "total_timeout", ("1s", "6h"), ("999ms", "21601s")),
    ("set_generation", "temperature", (0, 2.0), (-0.1, 2.1)),
    ("set_generation", "max_tokens", (1, 200_000), (0, 200_001)),
    ("set_loop_max_iterations", "max_iterations", (1, 50), (0, 51)),
    ("add_loop", "max_iterations", (1, 50), (0, 51)),
    ("set_min_success_rate", "value", (0, 1), (-0.1, 1.1)),
    ("set_provider_fallback", "fallbacks", ([PAIR], [PAIR] * 3), ([], [PAIR] * 4)),
]


def code(op: str, **fields: Any) -> str:
    """Why such an operation is refused; empty where it is not."""
    try:
        read_operation({"op": op, **SHORT[op], **fields})
    except Rejected as rejected:
        return rejected.rejection.code
    return ""


def test_EB_042_every_operation_is_read() -> None:
    assert {op: code(op) for op in ENHANCER_ALLOWED_OPS} == dict.fromkeys(SHORT, "")


@pytest.mark.parametrize(
    ("op", "key", "wrong"),
    [
        ("add_step", "template", ["x", {}, {"name": ""}, {"name": 1}, {"name": "w", "more": 1}]),
        ("add_step", "needs", ["x", [1], [""]]),
        ("add_step", "name", ["", "1 a", 1, None]),
        ("set_condition", "if", ["", " ", 1]),
        ("set_on_failure", "on_failure", ["stop", None, 1]),
        ("set_instructions", "run", ["", " ", 1, None]),
        ("set_retries", "max_retries", ["1", True, 1.0, None]),
        ("set_retries", "retry_delay", [5, "soon", None]),
        ("set_generation", "temperature", ["1", True, None]),
        ("set_provider_fallback", "fallbacks", ["x", [[]], [{"provider": "p"}], [{**PAIR, "model": ""}]]),
        ("set_provider_fallback", "fallbacks", [[{**PAIR, "provider": 1}], [{**PAIR, "more": "x"}]]),
        ("add_loop", "with", [[], "x", {"a": []}, {"a": None}]),
        ("set_loop_input", "value", [1, None]),
        ("set_description", "target", ["report", "", 1]),
        ("set_timeout", "reason", ["x" * 301, 1, None]),
        ("set_timeout", "addresses", ["x", [1], None]),
    ],
)
def test_EB_042_a_field_of_another_kind_rejects_an_operation(op: str, key: str, wrong: list[Any]) -> None:
    if key == "template":
        assert code(op, template={"name": "w", "with": {}}) == "bad_fields", "it is there beside `run`"
        for value in [{"name": "w"}, {"name": "w", "with": {"a": 1}}]:
            read_operation({"op": op, "name": "a", "template": value})
        for value in [*wrong, {"name": "w", "with": []}]:
            with pytest.raises(Rejected, match="an object with `name`"):
                read_operation({"op": op, "name": "a", "template": value})
        return
    assert [code(op, **{key: value}) for value in wrong] == ["bad_fields"] * len(wrong)


@pytest.mark.parametrize("op", ["set_needs", "set_loop_timeouts", "set_generation"])
def test_EB_042_an_operation_that_would_change_nothing_is_rejected(op: str) -> None:
    with pytest.raises(Rejected, match=r"needs `\w+` or `\w+`"):
        read_operation({"op": op, "target": "a"})
    both = {key: SHORT[op].get(key, ["b"]) for key in ENHANCER_ALLOWED_OPS[op].some if op == "set_needs"}
    assert code(op, **both) == ""


def test_EB_042_what_is_said_about_an_operation_is_kept() -> None:
    said = read_operation({"op": "set_condition", **SHORT["set_condition"], "reason": "x" * 300, "addresses": ["1:a"]})
    assert (said.reason, said.addresses, said.fields) == ("x" * 300, ("1:a",), SHORT["set_condition"])
    plain = read_operation({"op": "set_condition", **SHORT["set_condition"]})
    assert (plain.reason, plain.addresses) == ("", ())
    for value in ("x", [], {"op": 1}, {}):
        with pytest.raises(Rejected, match="an object with `op`"):
            read_operation(value)


@pytest.mark.parametrize(("op", "key", "right", "wrong"), RANGES)
def test_EB_050_the_bounds_of_each_number_are_taken_and_what_lies_outside_is_not(
    op: str, key: str, right: tuple[Any, Any], wrong: tuple[Any, Any]
) -> None:
    assert [code(op, **{key: value}) for value in right] == ["", ""]
    outside = [value for value in wrong if value not in right]
    assert [code(op, **{key: value}) for value in outside] == ["out_of_range"] * len(outside)


@pytest.mark.parametrize(("op", "key", "most"), [(op, key, most) for op in TEXTS for key, most in TEXTS[op].items()])
def test_EB_050_a_text_has_a_greatest_length(op: str, key: str, most: int) -> None:
    assert (code(op, **{key: "x" * most}), code(op, **{key: "x" * (most + 1)})) == ("", "out_of_range")


def test_EB_129_the_planner_is_shown_every_operation_with_what_its_fields_take() -> None:
    shown = {op: kind.signature(op).removeprefix(op) for op, kind in ENHANCER_ALLOWED_OPS.items()}
    assert shown["set_retries"] == "(target, max_retries: 0 to 5, retry_delay?: at most `1h`)"
    assert shown["set_generation"] == "(target, temperature?: 0.0 to 2.0, max_tokens?: 1 to 200000)"
    assert shown["set_provider_fallback"] == "(target, fallbacks: [{provider, model}])"
    assert shown["set_on_failure"] == "(target, on_failure: halt|continue|retry)"
    assert shown["set_needs"] == "(target, add?: [names], remove?: [names])"
    assert shown["set_condition"] == "(target, if)"
    assert shown["append_instructions"] == "(target, text: text up to 2000)"
    assert shown["add_step"].startswith(
        "(name, run?: text up to 8000, template?: {name, with}, after?, before?, needs?"
    )
    assert shown["add_loop"].endswith("with?, on_failure?: halt|continue|retry, accumulate?)")
