"""The published schemas: valid, current, and of one mind with the checker, by an independent validator."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from loop_ls.cli.commands.schema import file_name, text_of
from loop_ls.cli.main import main
from loop_ls.formats.schema.published import FORMATS, FormatName, schema_of
from loop_ls.formats.workflow.detect_format import recognise
from loop_ls.rules.engine.registry import all_rules
from loop_ls.syntax.tree import read_json, read_yaml
from loop_ls.testing.fixture import read_fixture
from loop_ls.text.lines import Text

TOP = Path(__file__).resolve().parents[3]
SCHEMAS = TOP / "schemas"
VALIDATORS = {name: Draft202012Validator(schema_of(name)) for name in FORMATS}
DEMO = sorted(path for path in (TOP / "loop_ls" / "cli" / "demo_files").rglob("*.yaml") if ".answers." not in path.name)


class Core(yaml.SafeLoader):
    """YAML 1.2 as editors read it: `on` and dates are texts."""


_OLD = ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")
Core.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag not in _OLD]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Core.add_implicit_resolver(_OLD[0], re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))


def faults(path: str, text: str) -> list[str] | None:
    """What the schema of a file's format says; None for a file of no format."""
    tree = read_json(Text.of(text)) if path.endswith(".json") else read_yaml(Text.of(text))
    name = {"role_loop": "role-loop", "lookalike": None}.get(found := str(recognise(path, tree)), found)
    if name not in VALIDATORS:
        return None
    value = yaml.load(text, Core)
    return [f"{fault.json_path}: {fault.message}" for fault in VALIDATORS[name].iter_errors(value)]


@pytest.mark.parametrize("name", FORMATS)
def test_a_schema_is_valid_itself(name: FormatName) -> None:
    Draft202012Validator.check_schema(schema_of(name))
    assert schema_of(name)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("name", FORMATS)
def test_the_folder_schemas_is_current(name: FormatName) -> None:
    written = (SCHEMAS / file_name(name)).read_text("utf-8")
    assert written == text_of(name), "run `loop-ls schema --into schemas`"


def test_the_folder_schemas_has_nothing_else() -> None:
    assert {path.name for path in SCHEMAS.iterdir()} == {file_name(name) for name in FORMATS}


def test_the_command_prints_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "assistant"]) == 0
    assert capfd.readouterr().out == text_of("assistant")
    with pytest.raises(SystemExit) as caught:
        main(["schema", "asistant"])
    assert caught.value.code == 2


@pytest.mark.parametrize("path", DEMO, ids=lambda path: path.name)
def test_demo_files_are_content(path: Path) -> None:
    assert faults(path.as_posix(), path.read_text("utf-8")) == []


GOOD = {
    f"{rule.code} {file.path}": (file.path, text)
    for rule in all_rules().values()
    for fixture in [read_fixture(rule.page.good)]
    for file in fixture.files
    for text in [fixture.texts[file.path]]
}


def test_no_good_example_of_a_rule_is_called_wrong() -> None:
    assert len(GOOD) > 150
    assert {which: found for which, file in GOOD.items() if (found := faults(*file))} == {}


#: Rules about a single file's keys and values: these a schema has to see as well.
SEEN = (
    "WF006",
    "WF007",
    "WF008",
    "WF101",
    "WF201",
    "WF402",
    "WF403",
    "RL011",
    "AL003",
    "AL004",
    "AL005",
    "AL021",
    "LS002",
)


@pytest.mark.parametrize("code", SEEN)
def test_bad_keys_and_values_are_seen(code: str) -> None:
    fixture = read_fixture(all_rules()[code].page.bad)
    assert faults(fixture.main.path, fixture.texts[fixture.main.path])


@pytest.mark.parametrize("name", FORMATS)
def test_every_key_tells_an_editor_what_it_does(name: FormatName) -> None:
    for title, shape in schema_of(name)["$defs"].items():
        for key, value in shape.get("properties", {}).items():
            listed = title == "assistants" or (title == "settings" and key == "rules")
            assert listed or len(value.get("description", "")) > 10, f"{title}.{key}"


def test_choices_and_defaults_are_there_for_completion() -> None:
    step: Any = schema_of("workflow")["$defs"]["step"]["properties"]
    assert step["on_failure"]["enum"] == ["halt", "continue", "retry"]
    assert step["on_failure"]["default"] == "halt"
    assert step["temperature"]["default"] == 0.7
    assert step["input"]["deprecated"] is True
    assert "Default: 3 with" in step["max_retries"]["description"]


def test_the_settings_know_every_rule_by_its_title(capfd: pytest.CaptureFixture[str]) -> None:
    assert all(rule.title in text_of("settings") for rule in all_rules().values())
