"""A prompt becomes a workflow of its own: the step calls it, and the same text reaches the same model."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from loop_ls.features.actions.extract_workflow import extract
from loop_ls.features.answers import ActionKind
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker

FLOW = """
#- flow.yaml
$schema: workflow/v2.0
name: flow
version: 1.0.0
description: A fixture
execution:
  provider: ollama
  model: llama3.2
  parallel: true # drafts and facts at once
env: {TONE: friendly}
steps:
  - name: facts
    run: "Facts on {{input}}"
  - name: review
    # The judge of the loop reads its first line.
    needs: [facts]
    if: "{{facts}} != ''"
    model: qwen3
    run: |
      $0Review {{ step.facts }} in a {{env.TONE}} tone.

        Indented, and {"json": 1}: {{input}} {{topic}} {{facts}}
    temperature: 0.1
    # what follows

  - name: last
    run: "Say {{review}}"
"""


def extracted(ask: Any, text: str = FLOW, taken: set[str] | None = None) -> tuple[str, str] | None:
    """The caller and the new file."""
    asked = ask(text)
    found = extract(asked.workspace, asked.document, asked.at, (taken or set()).__contains__)
    if not found:
        return None
    [action] = found
    assert action.kind is ActionKind.EXTRACT
    assert action.edits is not None
    edits = action.edits()
    document = asked.document
    for edit in reversed(edits[document.uri]):
        document = document.edit(edit.span, edit.text)
    [new] = edits[action.creates]
    assert f"`{action.creates.rpartition('/')[2]}`" in action.title
    return str(document.text), new.text


def test_the_prompt_and_its_model_move_and_variables_become_arguments(ask: Any) -> None:
    found = extracted(ask)
    assert found is not None
    caller, callee = found
    assert (
        """
    # The judge of the loop reads its first line.
    needs: [facts]
    if: "{{facts}} != ''"
    template:
      name: review
      with:
        facts: "{{step.facts}}"
        input: "{{input}}"
        topic: "{{topic}}"
        TONE: "{{env.TONE}}"
    # what follows

  - name: last
"""
        in caller
    )
    assert (
        callee
        == """\
$schema: workflow/v2.0
name: review
version: 1.0.0
description: "The prompt of review in flow"
execution:
  provider: ollama
  model: llama3.2
steps:
  - name: review
    model: qwen3
    run: |
      Review {{facts}} in a {{TONE}} tone.

        Indented, and {"json": 1}: {{input}} {{topic}} {{facts}}
    temperature: 0.1
"""
    )


def test_both_files_are_as_sound_as_the_one_was(ask: Any) -> None:
    found = extracted(ask)
    assert found is not None
    asked = ask(FLOW)
    checker = Checker()
    before = {(one.rule, one.name) for one in checker.findings(asked.workspace, asked.document)}
    caller = Document.open(asked.document.uri, found[0])
    callee = Document.open(asked.document.uri.replace("flow.yaml", "review.yaml"), found[1])
    workspace: Workspace = asked.workspace.with_document(caller).with_document(callee)
    after = {
        (one.rule, one.name) for one in (*checker.findings(workspace, caller), *checker.findings(workspace, callee))
    }
    assert after <= before, after - before


def test_a_name_that_is_taken_gets_a_number(ask: Any) -> None:
    found = extracted(ask, FLOW + "#- review.yaml\n$schema: workflow/v2.0\nname: other\nversion: 1.0.0\n")
    assert found is not None
    assert yaml.safe_load(found[1])["name"] == "review_2"
    found = extracted(ask, FLOW, {"/w/review.yaml", "/w/review_2.yaml"})
    assert found is not None
    assert yaml.safe_load(found[0])["steps"][1]["template"]["name"] == "review_3"


@pytest.mark.parametrize(
    ("prompt", "call", "run"),
    [
        ("run: $0Hello", {"name": "one"}, "Hello"),
        ('run: "$0{{loop.output}}"', {"name": "one", "with": {"loop_output": "{{loop.output}}"}}, "{{loop_output}}"),
        ('run: "$0{{one}}"', {"name": "one", "with": {"one": "{{one}}"}}, "{{one}}"),
        (
            'run: "$0{{env.A}} {{A}}"',
            {"name": "one", "with": {"A": "{{A}}", "env_A": "{{env.A}}"}},
            "{{env_A}} {{A}}",
        ),
        ("run: >-\n      $0Folded {{x}}\n      text", {"name": "one", "with": {"x": "{{x}}"}}, "Folded {{x}} text"),
    ],
)
def test_what_the_call_hands_over(ask: Any, prompt: str, call: dict[str, Any], run: str) -> None:
    head = "#- flow.yaml\n$schema: workflow/v2.0\nname: flow\nversion: 1.0.0\nenv: {A: a}\n"
    found = extracted(ask, f"{head}steps:\n  - name: one\n    {prompt}\n")
    assert found is not None
    assert yaml.safe_load(found[0])["steps"][0]["template"] == call
    [step] = yaml.safe_load(found[1])["steps"]
    assert step["run"] == run
    assert step["name"] not in call.get("with", {})


@pytest.mark.parametrize(
    "step",
    [
        "- {name: one, run: $0Hello}",
        "- name: one\n    run: $0Say {{{x}}}",
        "- name: one\n    run: $0Say {{x",
        "- name: one\n    run: &p $0Hello\n  - name: two\n    run: *p",
        "- model: x\n    name: one\n    run: $0Hello",
        "- name: one/two\n    run: $0Hello",
        "- name: one\n    consensus: {prompt: $0Hello}",
    ],
)
def test_nothing_is_offered_where_it_cannot_be_done_for_certain(ask: Any, step: str) -> None:
    assert (
        extracted(ask, f"#- flow.yaml\n$schema: workflow/v2.0\nname: flow\nversion: 1.0.0\nsteps:\n  {step}\n") is None
    )


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
def test_line_ends_stay_as_they_are(ask: Any, eol: str) -> None:
    asked = ask(FLOW)
    text = str(asked.document.text).replace("\n", eol)
    document = Document.open(asked.document.uri, text)
    [action] = extract(asked.workspace.with_document(document), document, asked.at)
    assert action.edits is not None
    for edits in action.edits().values():
        assert any(eol in edit.text for edit in edits)
        assert not any({"\n", "\r"} & set(edit.text.replace(eol, "")) for edit in edits)


@pytest.mark.parametrize(
    "step", ["- name: on$0e\n    run: Hello", "$0- name: one\n    run: Hello", "- name: one\n    run: He$0llo"]
)
def test_it_is_offered_on_the_prompt_and_on_the_name_of_its_step(ask: Any, step: str) -> None:
    found = extracted(ask, f"#- flow.yaml\n$schema: workflow/v2.0\nname: flow\nversion: 1.0.0\nsteps:\n  {step}\n")
    assert found is not None


def test_it_is_not_offered_on_other_keys_of_the_step(ask: Any) -> None:
    step = "- name: one\n    run: Hello\n    time$0out: 3s"
    head = "#- flow.yaml\n$schema: workflow/v2.0\nname: flow\nversion: 1.0.0\nsteps:\n  "
    assert extracted(ask, f"{head}{step}\n") is None


@pytest.mark.parametrize("key", ["runn", "Run", "prompt"])
def test_a_step_whose_run_is_misspelt_has_no_such_action(ask: Any, key: str) -> None:
    assert extracted(ask, f'steps:\n  - name: draft\n    {key}: "$0Write {{{{input}}}}"\n') is None
