"""The table of keys is complete and agrees with itself."""

import re

from loop_ls.formats.assistant.keys import ASSISTANT_SHAPES
from loop_ls.formats.common.key_table import Shape, Type
from loop_ls.formats.role_loop.keys import ROLE_LOOP_SHAPES
from loop_ls.formats.settings.keys import SETTINGS
from loop_ls.formats.workflow.keys import LOOP, MODES, SHAPES, STEP, STEP_LOOP, WORKFLOW
from loop_ls.formats.workflow.model import Embeddings, Execution, Rag


def shapes_of(top: Shape) -> list[Shape]:
    return [top, *(inner for key in top.keys.values() if key.shape for inner in shapes_of(key.shape))]


EVERY = [*SHAPES.values(), *shapes_of(SETTINGS), *ROLE_LOOP_SHAPES.values(), *ASSISTANT_SHAPES.values()]
ROWS = [(f"{shape.name}.{key.name}", key) for shape in EVERY for key in shape.keys.values()]


def test_there_are_tables() -> None:
    assert len(ROWS) > 300
    assert sum(key.default is not None and bool(key.choices) for _, key in ROWS) > 20
    assert sum(bool(shape.wrong_keys) for shape in EVERY) > 5


def test_UP_19_every_key_says_what_it_does_in_a_sentence() -> None:
    assert not [name for name, key in ROWS if not re.fullmatch(r"[A-Z`].*\.", key.text, re.DOTALL)]


def test_what_another_program_does_stands_in_the_reference() -> None:
    assert not [name for name, key in ROWS if "mcp-cli" in key.text]


def test_the_default_is_the_first_choice_since_that_is_offered_first() -> None:
    chosen = [(name, key) for name, key in ROWS if key.choices and key.default is not None]
    assert not [name for name, key in chosen if key.default != key.choices[0]]


def test_blocks_have_shapes_and_nothing_else_has() -> None:
    blocks = (Type.BLOCK, Type.BLOCKS, Type.BLOCK_MAP)
    assert not [name for name, key in ROWS if (key.shape is not None) != (key.type in blocks)]


def test_advice_for_wrong_keys_names_keys_that_exist_and_are_not_wrong() -> None:
    assert not [
        f"{shape.name}.{written}"
        for shape in EVERY
        for written, advice in shape.wrong_keys.items()
        if written in shape.keys or not {*advice.instead} <= {*shape.keys}
    ]


def test_advice_that_renames_names_one_key() -> None:
    advised = [(shape.name, written, one) for shape in EVERY for written, one in shape.wrong_keys.items()]
    assert not [(name, written) for name, written, one in advised if one.rename and len(one.instead) != 1]


def test_every_shape_is_reached_from_the_workflow() -> None:
    assert {shape.name for shape in shapes_of(WORKFLOW)} == set(SHAPES)


def test_a_step_does_one_of_six_things() -> None:
    assert STEP.one_of == MODES
    assert set(MODES) <= set(STEP.keys)


def test_a_loop_inside_a_step_has_every_key_but_the_name() -> None:
    assert list(STEP_LOOP.keys) == [name for name in LOOP.keys if name != "name"]


def test_usual_slips_have_advice() -> None:
    expected = {
        "loop": {"workfow", "max_iteration", "pass_env", "input", "execution", "needs", "inputs", "outputs", "output"},
        "step": {"output_var", "for_each", "item_name", "condition", "on_error", "prompt", "llm"},
        "embeddings": {"texts"},
        "consensus execution": {"servers", "skills"},
        "provider": {"temperature", "max_tokens", "timeout"},
        "template": {"workflow", "steps"},
    }
    for name, keys in expected.items():
        assert keys <= set(SHAPES[name].wrong_keys), name


def test_strict_fields_are_those_of_the_loop_and_the_search() -> None:
    strict = {(shape.name, key.name) for shape in EVERY for key in shape.keys.values() if key.strict}
    loops = {(shape, key) for shape in ("loop", "step loop") for key in ("with", "items", "until")}
    assert strict == loops | {("rag", "query")}


def test_interpolated_fields_are_these() -> None:
    found = {(shape.name, key.name) for shape in SHAPES.values() for key in shape.keys.values() if key.interpolated}
    assert {pair for pair in found if "loop" not in pair[0]} == {
        *(("step", "run"), ("step", "if"), ("template", "with"), ("consensus", "prompt"), ("rag", "query")),
        *(("embeddings", "input"), ("embeddings", "input_file"), ("embeddings", "output_file")),
    }


def test_keys_without_effect_are_those_of_WF119() -> None:
    found = {(shape.name, key.name) for shape in SHAPES.values() for key in shape.keys.values() if key.idle}
    assert found == {
        ("step", "logging"),
        *(("step", "input"), ("step", "no_color"), ("consensus", "allow_partial"), ("embeddings", "output_format")),
        *(("rag", "query_vector"), ("rag", "query_variants"), ("rag", "servers"), ("execution", "no_color")),
    }


def test_the_table_and_the_values_that_run_know_the_same_defaults() -> None:
    table = SHAPES["embeddings"].keys
    value = Embeddings()
    assert table["max_chunk_size"].default == str(value.max_chunk_size)
    assert table["chunk_strategy"].default == value.chunk_strategy
    assert table["overlap"].default == str(value.overlap)
    assert SHAPES["rag"].keys["output_format"].default == Rag("q").output_format
    assert set(Execution.__dataclass_fields__) == set(SHAPES["execution"].keys) - {"no_color"}
