"""Keys: what is missing at the place, with the indentation of its siblings."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from loop_ls.features.complete.completion import describe
from loop_ls.formats.workflow.keys import MODES, SHAPES


def test_D_top_level_keys_that_are_not_there_yet(ask: Any) -> None:
    asked = ask("$schema: workflow/v2.0\nname: x\n$0\nsteps:\n  - {name: a, run: b}\n")
    assert asked.labels[0] == "version"
    assert {"description", "execution", "env", "loops"} <= set(asked.labels)
    assert not {"$schema", "name", "steps"} & set(asked.labels)


def test_D_the_schema_key_comes_with_its_value(ask: Any) -> None:
    asked = ask("$0\nname: x\nexecution: {}\nsteps:\n  - {name: a, run: b}\n", head=False)
    assert asked.labels == ["$schema"], "a look-alike lacks just this"
    assert asked.accepted_line("$schema") == "$schema: workflow/v2.0"
    assert asked.item("$schema").snippet == "\\$schema: workflow/v2.0"


@pytest.mark.parametrize(
    ("source", "there", "gone"),
    [
        ("execution:\n  provider: x\n  $0", {"model", "temperature", "on_error"}, {"provider", "run"}),
        ("steps:\n  - name: a\n    run: b\n    $0", {"needs", "if", "timeout"}, {"name", *MODES}),
        ("steps:\n  - name: a\n    $0", {*MODES, "needs"} - {"run"}, {"name", "until"}),
        ("steps:\n  - name: a\n    loop:\n      workflow: w\n      $0", {"until", "max_iterations"}, {"name", "needs"}),
        ("steps:\n  - name: a\n    consensus:\n      $0", {"executions", "require"}, {"query"}),
        ("steps:\n  - name: a\n    rag:\n      query: x\n      $0", {"server", "top_k", "fusion"}, {"query", "prompt"}),
        ("steps:\n  - name: a\n    embeddings:\n      $0", {"input", "input_file", "dimensions"}, {"query"}),
        ("steps:\n  - name: a\n    template:\n      $0", {"name", "with"}, {"workflow"}),
        (
            "steps:\n  - name: a\n    consensus:\n      executions:\n        - provider: x\n          $0",
            {"model", "temperature", "timeout"},
            {"provider"},
        ),
        ("execution:\n  providers:\n    - provider: x\n      $0", {"model"}, {"provider", "temperature"}),
        (
            "loops:\n  - name: l\n    $0",
            {"workflow", "max_iterations", "until", "with", "accumulate"},
            {"name", "needs"},
        ),
    ],
)
def test_D_keys_of_every_shape(ask: Any, source: str, there: set[str], gone: set[str]) -> None:
    labels = set(ask(source).labels)
    assert there <= labels
    assert not gone & labels


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ["  - name: a\n    {}: x\n    $0", "  - {{name: a, {}: x, $0}}", "  - $0\n    {}: x"])
def test_D_a_step_with_a_mode_is_offered_no_other(ask: Any, mode: str, form: str) -> None:
    labels = set(ask("steps:\n" + form.format(mode)).labels)
    assert "needs" in labels and not {*MODES, "run: |"} & labels


def test_D_required_keys_come_first(ask: Any) -> None:
    labels = ask("loops:\n  - $0").labels
    keys = [label for label in labels if label in SHAPES["loop"].keys]
    assert keys[:4] == ["name", "workflow", "max_iterations", "until"]


@pytest.mark.parametrize(
    ("written", "offered", "left_out"),
    [
        ("steps:\n  - name: a\n    run: b\n    $0", {"needs", "max_tokens"}, {"input", "no_color"}),
        (
            "loops:\n  - name: l\n    until: It says DONE\n    $0",
            {"with", "mode"},
            {"items", "parallel", "max_workers", "min_success_rate"},
        ),
        ("loops:\n  - name: l\n    mode: iterate\n    $0", {"items", "parallel"}, {"max_workers", "until"}),
        ("loops:\n  - name: l\n    mode: iterate\n    parallel: true\n    $0", {"max_workers"}, {"parallel"}),
        ("execution:\n  $0", {"parallel", "provider", "providers"}, {"max_workers"}),
        ("execution:\n  parallel: false\n  $0", {"provider"}, {"max_workers"}),
        ("execution:\n  provider: ollama\n  $0", {"model"}, {"providers"}),
        ("steps:\n  - name: a\n    providers: []\n    $0", {"run"}, {"provider", "model"}),
        ("steps:\n  - name: a\n    embeddings:\n      input_file: a\n      $0", {"overlap"}, {"input"}),
        ("loops:\n  - name: l\n    on_failure: retry\n    $0", {"max_retries", "retry_delay"}, set()),
        ("loops:\n  - name: l\n    on_failure: halt\n    $0", {"with"}, {"max_retries", "retry_delay"}),
    ],
)
def test_what_a_rule_would_criticise_at_once_is_not_offered(
    ask: Any, written: str, offered: set[str], left_out: set[str]
) -> None:
    labels = set(ask(written).labels)
    assert offered <= labels and not left_out & labels


def test_retries_come_behind_what_makes_them_count(ask: Any) -> None:
    labels = ask("loops:\n  - name: l\n    mode: refine\n    $0").labels
    assert labels.index("on_failure") < labels.index("accumulate") < labels.index("max_retries")


def test_keys_of_the_other_loop_mode_are_left_out(ask: Any) -> None:
    labels = ask("loops:\n  - name: l\n    mode: iterate\n    $0").labels
    assert "until" not in labels and labels[0:2] == ["workflow", "items"]
    assert "items" not in ask("loops:\n  - name: l\n    mode: refine\n    $0").labels


STYLES = {
    "dash at 2": "steps:\n  - name: draft\n    run: one\n{}\n  - name: next\n    run: two\n",
    "dash at 0": "steps:\n- name: draft\n  run: one\n{}\n- name: next\n  run: two\n",
    "four blanks": "execution:\n    provider: ollama\n    model: x\nsteps:\n    - name: draft\n      run: one\n{}\n"
    "    - name: next\n      run: two\n",
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("blank", ["$0", "  $0", "    $0", "      $0", "            $0"])
def test_UP_20_every_insertion_between_steps_lines_up_and_parses(ask: Any, style: str, blank: str) -> None:
    asked = ask(STYLES[style].format(blank))
    assert asked.labels
    for label in asked.labels:
        steps = asked.parsed(label)["steps"]
        assert steps[0]["name"] == "draft" and steps[-1]["name"] == "next", asked.accepted(label)
        assert len(steps) == 2 or steps[1].keys() <= SHAPES["step"].keys.keys()


@pytest.mark.parametrize("label", ["with", "needs", "template", "consensus", "providers", "run: |"])
def test_UP_20_blocks_go_one_level_deeper_than_their_key(ask: Any, label: str) -> None:
    asked = ask("execution:\n    provider: a\n    model: b\nsteps:\n    - name: draft\n      $0\n", head=True)
    if label == "with":
        asked = ask("loops:\n    - name: l\n      workflow: w\n      $0\n")
    item = asked.item(label)
    lines = (item.snippet or item.text).split("\n")
    assert all(len(line) - len(line.lstrip()) > 6 for line in lines[1:] if line.strip())


def test_keys_in_flow_collections_stay_on_the_line(ask: Any) -> None:
    asked = ask("steps:\n  - {name: a, $0}\n")
    assert asked.accepted_line("needs") == "  - {name: a, needs: }"
    assert asked.item("needs").snippet == "needs: [$0]"
    assert all("\n" not in item.text for item in asked.items)
    assert asked.item("template").snippet == "template: {$0}"


def test_only_the_word_is_replaced_where_a_colon_is_there(ask: Any) -> None:
    asked = ask('steps:\n  - name: a\n    r$0un: "x"\n')
    assert asked.accepted_line("template") == '    template: "x"'
    assert "run" in asked.labels


@pytest.mark.parametrize(
    ("source", "key", "line"),
    [
        ("steps:\n  - $0: greet\n    run: x\n", "name", "  - name: greet"),
        ("steps:\n  - name: a\n    $0: 'x'\n", "run", "    run: 'x'"),
        ("execution:\n  $0: ollama\n", "provider", "  provider: ollama"),
        ("$0: 1.0.0\nsteps: []\n", "version", "version: 1.0.0"),
        ("steps:\n  - name: a\n    loop:\n      $0: draft\n", "workflow", "      workflow: draft"),
    ],
)
def test_a_key_that_was_taken_away_comes_back_before_its_value(ask: Any, source: str, key: str, line: str) -> None:
    assert ask(f"$schema: workflow/v2.0\nname: x\n{source}").accepted_line(key) == line


def test_half_a_key_is_replaced_whole(ask: Any) -> None:
    asked = ask("steps:\n  - name: a\n    run: b\n    nee$0\n")
    assert asked.accepted_line("needs") == "    needs: "
    assert asked.items[0].filter or asked.items[0].label


def test_keys_where_other_parts_of_the_file_are_broken(ask: Any) -> None:
    asked = ask('steps:\n  - name: "a\n    needs: [x\n  - name: b\n    $0\n  - {name: [\n')
    assert "run" in asked.labels


@pytest.mark.parametrize(
    "source",
    [
        "steps:\n  - name: a\n    run: |\n      some $0text\n",
        "steps:\n  - name: a # comment $0\n",
        "steps:\n  - name: a\n    run: 'plain $0 text'\n",
        "steps:\n  - name: a\n    unknown:\n      $0\n",
        "env:\n  $0\n",
    ],
)
def test_no_keys_in_prose_comments_and_unknown_places(ask: Any, source: str) -> None:
    assert ask(source).labels == []


def test_an_empty_file_may_become_a_workflow(ask: Any) -> None:
    asked = ask("$0", head=False)
    assert asked.labels == ["workflow", "workflow with a loop", "$schema"]
    for label in asked.labels:
        assert asked.parsed(label)["$schema"] == "workflow/v2.0"


def test_other_files_are_left_alone(ask: Any) -> None:
    assert ask("apiVersion: v1\n$0\n", head=False).labels == []


def test_UP_19_every_key_explains_itself(ask: Any) -> None:
    asked = ask("x: 1")
    for shape in SHAPES.values():
        for key in shape.keys.values():
            text = describe(asked.workspace, asked.document, ("key", shape.name, key.name))
            assert text is not None and key.text in text and key.name in text


@pytest.mark.parametrize(
    ("source", "labels"),
    [
        ("steps:\n  - $0\n", ["step", "template step", "loop step", "consensus step", "rag step", "embeddings step"]),
        ("loops:\n  - $0\n", ["loop", "complete loop", "iterate loop"]),
        ("loops:\n$0\n", ["loop", "complete loop", "iterate loop"]),
        ("loops:\n    $0\n", ["loop", "complete loop", "iterate loop"]),
        ("execution:\n  providers:\n    - $0\n", ["provider and model"]),
    ],
)
def test_D_whole_elements(ask: Any, source: str, labels: list[str]) -> None:
    asked = ask(source)
    assert [label for label in asked.labels if label in labels] == labels
    for label in labels:
        assert yaml.safe_load(asked.accepted(label))


def test_D_the_loop_snippets_have_the_keys_of_the_guide(ask: Any) -> None:
    asked = ask("loops:\n  - $0\n")
    assert list(asked.parsed("loop")["loops"][0]) == ["name", "workflow", "max_iterations", "until"]
    complete = asked.parsed("complete loop")["loops"][0]
    assert list(complete) == ["name", "workflow", "with", "max_iterations", "until", "on_failure", "accumulate"]
    assert asked.parsed("iterate loop")["loops"][0]["mode"] == "iterate"
    consensus = ask("steps:\n  - $0\n").parsed("consensus step")["steps"][0]["consensus"]
    assert len(consensus["executions"]) == 2


@pytest.mark.parametrize(
    ("source", "gone"),
    [
        ("execution:\n$0\n  provider: a\n  model: b\n", {"provider", "model"}),
        ("execution:\n  $0\n  # why\n  provider: a\n\n  model: b\n", {"provider", "model"}),
        ("steps:\n  - name: a\n    template:\n    $0\n      name: b\n", {"name"}),
    ],
)
def test_keys_that_stand_below_are_not_offered_again(ask: Any, source: str, gone: set[str]) -> None:
    labels = set(ask(source).labels)
    assert labels and not gone & labels


def test_no_keys_where_the_file_is_a_list(ask: Any) -> None:
    assert ask("- $schema: workflow/v2.0\n  name: a\n$0", head=False).labels == []
