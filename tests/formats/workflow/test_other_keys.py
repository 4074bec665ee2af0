"""The tables of role loops and assistants are complete and agree with themselves."""

from __future__ import annotations

import pytest

from loop_ls.formats.assistant.keys import ASSISTANT_SHAPES, CRITERIA, CRITERIA_TYPES
from loop_ls.formats.common.key_table import Key, Shape, Type
from loop_ls.formats.role_loop.keys import DEFINITION, EVALUATION_VALUE, ROLE_LOOP_SHAPES, TERMINATIONS, VALUES
from loop_ls.formats.role_loop.model import REVIEW_ROUNDS, REWORK_ATTEMPTS

EVERY: list[Shape] = [*ROLE_LOOP_SHAPES.values(), *ASSISTANT_SHAPES.values()]
ROWS = [pytest.param(shape, key, id=f"{shape.name}.{key.name}") for shape in EVERY for key in shape.keys.values()]


@pytest.mark.parametrize(("shape", "key"), ROWS)
def test_UP_19_every_key_says_what_it_does_in_a_sentence(shape: Shape, key: Key) -> None:
    assert key.text.endswith(".")
    assert key.text[0].isupper() or key.text[0] == "`"


@pytest.mark.parametrize(("shape", "key"), ROWS)
def test_a_default_is_one_of_the_choices(shape: Shape, key: Key) -> None:
    if key.choices and key.default is not None:
        assert key.default == key.choices[0], "the default is offered first"


@pytest.mark.parametrize(("shape", "key"), ROWS)
def test_blocks_have_shapes_and_nothing_else_has(shape: Shape, key: Key) -> None:
    assert (key.shape is not None) == (key.type in (Type.BLOCK, Type.BLOCKS, Type.BLOCK_MAP))


@pytest.mark.parametrize("shape", EVERY, ids=lambda shape: shape.name)
def test_advice_for_wrong_keys_names_keys_that_exist_and_are_not_wrong(shape: Shape) -> None:
    for written, advice in shape.wrong_keys.items():
        assert written not in shape.keys
        assert set(advice.instead) <= set(shape.keys), written


def test_types_of_ends_and_criteria() -> None:
    assert set(VALUES) < set(TERMINATIONS)
    assert set(CRITERIA.keys["type"].choices) == set(CRITERIA_TYPES)


def test_the_table_and_the_values_that_run_know_the_same_defaults() -> None:
    assert EVALUATION_VALUE.keys["max_review_rounds"].default == str(REVIEW_ROUNDS)
    assert DEFINITION.keys["max_rework_attempts"].default == str(REWORK_ATTEMPTS)
