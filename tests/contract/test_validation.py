"""What is wrong with an object is said in one sentence that names the field."""

from __future__ import annotations

import pytest

from loop_ls.contract.validation import problem_of


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("Start", 5, "The request must be an object."),
        ("Start", {"path": 7}, "`path` must be a text."),
        ("Start", {"target": 4}, "`target` must be a text or an object."),
        ("Start", {"texts": {"a": 4}}, "`texts.a` must be a text."),
        ("Start", {"idempotencyKey": "x" * 256}, "`idempotencyKey` must have at most 255 characters."),
        ("Fork", {"iteration": 0}, "`iteration` must be at least 1."),
        ("Fork", {"iteration": True}, "`iteration` must be an integer."),
        ("Fork", {"iteration": 1.0}, "`iteration` must be an integer."),
        ("Choose", {"choice": "wait"}, "`choice` must be one of `continue`, `skip`, `stop`."),
        ("Choose", {}, "The request needs `choice`."),
        ("Change", {"status": "x"}, "`status` is unknown."),
        ("Change", {"labels": ["a", ""]}, "`labels.1` must be a non-empty string."),
        ("RunCommand", {"mock": "yes"}, "`mock` must be true or false."),
        ("RunCommand", {"target": {"kind": "loop"}}, "Missing `target.name`: the loop."),
    ],
)
def test_the_sentence(name: str, given: object, message: str) -> None:
    problem = problem_of(name, given)
    assert problem is not None
    assert problem.message == message


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Start", {"path": None, "unheard": 1}),
        ("Start", {"input": "half of a pair: \ud800", "texts": {"\ud800": "\ud800"}}),
        ("Change", {"max_iterations": None}),
        ("ExportedRun", {"kind": "run", "facts": [{"deep": [1]}]}),
    ],
)
def test_nothing_is_wrong_with_what_is_null_unheard_of_or_half_a_character(name: str, given: object) -> None:
    assert problem_of(name, given) is None
