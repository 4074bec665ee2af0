"""Placeholders in prompts, as the models receive them."""

from __future__ import annotations

import json

import pytest

from loop_ls.engine.context.interpolation import interpolate
from loop_ls.engine.context.scope import Scope
from loop_ls.syntax.nodes import Scalar
from loop_ls.syntax.placeholders import islands
from loop_ls.syntax.tree import read_yaml
from loop_ls.testing.workflows import run
from loop_ls.text.lines import Text

V = Scope(input="V", env={"A": "{{input}}"})


async def test_WB_001_blanks_inside_the_braces_do_not_count() -> None:
    ran = await run("steps: [{name: a, run: '{{input}} and {{ input }}'}]", input="V")
    assert ran.prompt("a") == "V and V"


async def test_WB_002_names_are_case_sensitive() -> None:
    ran = await run("steps: [{name: a, run: '{{Input}}'}]", input="V")
    assert ran.prompt("a") == "{{Input}}"
    assert any("Input" in warning for warning in ran.warnings)


async def test_WB_003_an_inserted_value_is_not_looked_at_again() -> None:
    main = """
        steps:
          - {name: other, run: "say something"}
          - {name: b, run: "{{input}} then {{other}}"}
    """
    ran = await run(main, {"other": "SECRET"}, input="{{other}}")
    assert ran.prompt("b") == "{{other}} then SECRET"


async def test_WB_004_an_unknown_name_stays_and_is_warned_of_once() -> None:
    ran = await run("steps: [{name: a, run: '{{nobody}} and {{ nobody }} and {{nobody}}'}]", {"a": "done"})
    assert ran.prompt("a") == "{{nobody}} and {{ nobody }} and {{nobody}}"
    assert len(ran.warnings) == 1
    assert "{{nobody}}" in ran.warnings[0]
    assert ran.output == "done"


@pytest.mark.parametrize("written", ["{{input.key}}", "{{input|upper}}", "{{x[0]}}", "{{a ? b : c}}"])
async def test_WB_005_there_is_no_nested_access_and_no_expression(written: str) -> None:
    ran = await run(f"steps: [{{name: a, run: 'see {written}'}}]", input='{"key": "inside"}')
    assert ran.prompt("a") == f"see {written}"


@pytest.mark.parametrize("written", ["{}", "{{}}", '{"a": {"b": 1}}', '{"deep": {"er": [1, {"x": 2}]}}'])
async def test_WB_006_json_and_empty_braces_are_text(written: str) -> None:
    ran = await run(f"steps: [{{name: a, run: 'use {written}'}}]", input="V")
    assert ran.prompt("a") == f"use {written}"
    assert ran.warnings == []


async def test_WB_007_a_backslash_has_no_effect() -> None:
    ran = await run("steps: [{name: a, run: '\\{{input}}'}]", input="V")
    assert ran.prompt("a") == "\\V"


async def test_WB_008_hyphens_and_letters_of_any_script_are_names() -> None:
    main = """
        steps:
          - {name: draft-2, run: one}
          - {name: überblick, run: two}
          - {name: both, run: "{{draft-2}} {{überblick}}"}
    """
    ran = await run(main, {"draft-2": "D", "überblick": "Ü"})
    assert ran.prompt("both") == "D Ü"


@pytest.mark.parametrize("written", ["{% if x %}", "{# note #}"])
async def test_WB_009_template_tags_are_text_for_the_model(written: str) -> None:
    ran = await run(f"steps: [{{name: a, run: 'before {written} after'}}]")
    assert ran.prompt("a") == f"before {written} after"


async def test_WB_015_the_input_arrives_character_for_character() -> None:
    text = "first\r\n  second\t\n\nlast \u2028 line\n"
    ran = await run("steps: [{name: a, run: '[{{input}}]'}]", input=text)
    assert ran.prompt("a") == f"[{text}]"


async def test_WB_016_values_of_env_are_not_interpolated() -> None:
    main = """
        env: {A: "{{input}}"}
        steps: [{name: a, run: "{{env.A}}"}]
    """
    ran = await run(main, input="V")
    assert ran.prompt("a") == "{{input}}"


async def test_WB_017_env_expands_the_process_environment() -> None:
    main = """
        env: {HOME_DIR: "${NAME}/data", GONE: "[${MISSING}]"}
        steps: [{name: a, run: "{{env.HOME_DIR}} {{env.GONE}}"}]
    """
    ran = await run(main, environment={"NAME": "/home/ada"})
    assert ran.prompt("a") == "/home/ada/data []"
    assert len(ran.warnings) == 1
    assert "${MISSING}" in ran.warnings[0]
    assert ":env" in ran.recorder.entries


async def test_WB_017_nothing_is_told_where_every_name_is_set() -> None:
    ran = await run("env: {A: '${NAME}'}\nsteps: [{name: a, run: '{{env.A}}'}]", environment={"NAME": "ada"})
    assert (ran.prompt("a"), ran.warnings) == ("ada", [])
    assert ":env" not in ran.recorder.entries


async def test_WB_018_the_process_environment_is_not_visible_by_itself() -> None:
    ran = await run("steps: [{name: a, run: '{{env.NAME}}'}]", environment={"NAME": "leaked"})
    assert ran.prompt("a") == "{{env.NAME}}"


@pytest.mark.parametrize(
    "written",
    [
        *("{{input}}", "{{{input}}}", "{{{{input}}}}", "{{{{{input}}}}}", "{{{input}}", "{{input}}}"),
        *('{"n": {"m": {{input}}}}', "{{ {{input}} }}", "{{a {{input}}", "${{input}}", "{{input }}", "{{input", "{{"),
        *("{{\tinput\n}}", "{{in put}}", "{{input}}{{input}}", "{{1input}}", "{{input.}}", "{{-input}}"),
    ],
)
def test_WB_005_a_run_and_the_checker_see_the_same_placeholders(written: str) -> None:
    text = Text.of(f"description: {json.dumps(written)}\n")
    (piece,) = read_yaml(text).pieces
    assert isinstance(piece.node, Scalar)
    variables = [island for island in islands(text, piece.node) if island.kind == "variable"]
    assert interpolate(written, V).text.count("V") == len(variables)


@pytest.mark.parametrize(
    ("written", "ours"),
    [
        ("{{input}} {{ input }}", "V V"),
        ("{{Input}}", "{{Input}}"),
        ("{{input.x}}", "{{input.x}}"),
        ("{{input|up}}", "{{input|up}}"),
        ("{{env.A}} next to {{input}}", "{{input}} next to V"),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        ("{{}}", "{{}}"),
    ],
)
def test_C5_interpolation(written: str, ours: str) -> None:
    assert interpolate(written, V).text == ours


def test_C5_only_names_are_reported_as_unknown() -> None:
    assert interpolate("{{Input}} {{input.x}} {{input|up}} {{}}", V).unknown == ("Input", "input.x")
