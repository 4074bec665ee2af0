"""A renamed step keeps its checks: the files of checks and test cases beside the workflow follow."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.features.highlight import highlight
from loop_ls.features.hover.hover import hover
from loop_ls.features.language_support import support_of
from loop_ls.features.references import references
from loop_ls.features.rename.answers import Refused, Renamable, Rename
from loop_ls.features.rename.rename import rename
from loop_ls.rules.fixes.apply import applied

FLOW = """
    #- flow.yaml
    $schema: workflow/v2.0
    name: flow
    version: 1.0.0
    steps:
      - {name: dra$0ft, run: "Write about {{input}}"}
      - {name: draft_two, run: "Better than {{draft}}"}
    #- flow.checks.yaml
    verifiers: [draft_two, "draft"]
    assert:
      - {on: step.draft, type: contains, value: draft}
      - {on: "step.draft_two", type: is-json}
      - {on: 'step.draft', type: contains, value: step.draft}
    #- flow.cases.yaml
    tests:
      - {name: draft, vars: {input: draft}, assert: [{on: step.draft, type: is-json}]}
    #- other.checks.yaml
    verifiers: [draft]
    #- other.yaml
    $schema: workflow/v2.0
    name: other
    version: 1.0.0
    steps:
      - {name: draft, run: "Write about {{input}}"}
"""


def test_checks_of_a_step_follow_its_new_name(ask: Any) -> None:
    asked = ask(FLOW)
    found = rename(asked.workspace, asked.document, asked.at, "text")
    assert isinstance(found, Rename)
    texts = {
        uri.rpartition("/")[2]: str(applied(asked.workspace.documents[uri], edits).text)
        for uri, edits in found.edits.items()
    }
    assert sorted(texts) == ["flow.cases.yaml", "flow.checks.yaml", "flow.yaml"]
    assert texts["flow.checks.yaml"].splitlines() == [
        'verifiers: [draft_two, "text"]',
        "assert:",
        "  - {on: step.text, type: contains, value: draft}",
        '  - {on: "step.draft_two", type: is-json}',
        "  - {on: 'step.text', type: contains, value: step.draft}",
    ]
    assert "{name: draft, vars: {input: draft}, assert: [{on: step.text, type: is-json}]}" in texts["flow.cases.yaml"]


def test_verifiers_in_the_settings_follow_too(ask: Any) -> None:
    asked = ask(f"""{FLOW}
    #- .loop-ls.yaml
    enhance:
      workflows:
        flow: {{verifiers: [draft_two, draft]}}
        other: {{verifiers: [draft]}}
""")
    found = rename(asked.workspace, asked.document, asked.at, "text")
    assert isinstance(found, Rename)
    [text] = [
        str(applied(asked.workspace.documents[uri], edits).text)
        for uri, edits in found.edits.items()
        if uri.endswith(".loop-ls.yaml")
    ]
    assert "flow: {verifiers: [draft_two, text]}" in text
    assert "other: {verifiers: [draft]}" in text


LOOP = """
    #- loops/pair.json
    {"name": "pair", "roles": [{"name": "write", "role": "coder", "prompt": "Write of {{to$0pic}}."}],
     "parameters": [{"name": "topic"}], "termination_condition": {"type": "iteration_bound", "value": 1}}
    #- loops/pair.checks.yaml
    assert:
      - {type: contains, value: "{{topic}} and {{ topic }}, not {{topics}}"}
      - {type: command, value: [grep, "{{topic}}"]}
    #- loops/pair.cases.yaml
    tests:
      - {name: topic, vars: {input: topic, topic: the sea}}
"""


def test_a_renamed_parameter_is_still_given_by_its_cases_and_read_by_its_checks(ask: Any) -> None:
    asked = ask(LOOP)
    found = support_of(asked.document).rename(asked.workspace, asked.document, asked.at, "subject")
    assert isinstance(found, Rename)
    texts = {
        uri.rpartition("/")[2]: str(applied(asked.workspace.documents[uri], edits).text)
        for uri, edits in found.edits.items()
    }
    assert texts["pair.checks.yaml"].splitlines()[1:] == [
        '  - {type: contains, value: "{{subject}} and {{ subject }}, not {{topics}}"}',
        '  - {type: command, value: [grep, "{{topic}}"]}',  # the words of a command are literal
    ]
    assert texts["pair.cases.yaml"].splitlines()[1] == "  - {name: topic, vars: {input: topic, subject: the sea}}"


@pytest.mark.parametrize(
    ("written", "marked"),
    [
        ("{on: step.draft, type: contains", "{on: step.dr$0aft, type: contains"),
        ('verifiers: [draft_two, "draft"]', 'verifiers: [draft_two, "dra$0ft"]'),
        ("assert: [{on: step.draft, type: is-json}]", "assert: [{on: step.draft$0, type: is-json}]"),
    ],
)
def test_a_step_is_found_and_renamed_from_its_checks(ask: Any, written: str, marked: str) -> None:
    path = "flow.cases.yaml" if "assert: [" in written else "flow.checks.yaml"
    source = FLOW.replace("dra$0ft", "draft").replace(written, marked, 1)
    at_step, here = ask(FLOW), ask(source, None, False, path)
    assert [one.split(" ")[0] for one in here.targets] == ["flow.yaml:5"]
    support = support_of(here.document)
    found = support.prepare_rename(here.workspace, here.document, here.at)
    assert isinstance(found, Renamable)
    assert found.name == "draft"
    there = rename(at_step.workspace, at_step.document, at_step.at, "text")
    assert rename(here.workspace, here.document, here.at, "text") == there
    clash = rename(here.workspace, here.document, here.at, "draft_two")
    assert isinstance(clash, Refused)


def test_nothing_is_named_elsewhere_in_checks(ask: Any) -> None:
    source = FLOW.replace("dra$0ft", "draft").replace("type: is-json}", "type: is$0-json}", 1)
    here = ask(source, None, False, "flow.checks.yaml")
    assert (here.targets, rename(here.workspace, here.document, here.at, "text")) == ([], None)


PLACES = [
    ("flow.cases.yaml", 1),
    ("flow.checks.yaml", 0),
    ("flow.checks.yaml", 2),
    ("flow.checks.yaml", 4),
    ("flow.yaml", 5),
]


def at_check(written: str, marked: str) -> str:
    """The flow, with the cursor in its checks file."""
    return FLOW.replace("dra$0ft", "draft").replace(written, marked, 1)


@pytest.mark.parametrize(
    "text",
    [
        FLOW,
        at_check("step.draft, type: contains, value: draft}", "step.dr$0aft, type: contains, value: draft}"),
        at_check('"draft"]', '"dr$0aft"]'),
    ],
    ids=["the step", "on", "verifiers"],
)
def test_a_step_is_referred_to_by_its_checks(ask: Any, text: str) -> None:
    asked = ask(text)
    found = references(asked.workspace, asked.document, asked.at, declaration=False)
    assert sorted((one.uri.rpartition("/")[2], one.span.start.line) for one in found) == PLACES
    for one in found:
        assert str(asked.workspace.documents[one.uri].text.slice(one.span)) == "draft"


def test_checks_highlight_and_explain_the_step_that_they_name(ask: Any) -> None:
    asked = ask(at_check('"draft"]', '"dr$0aft"]'))
    assert [one.span.start.line for one in highlight(asked.workspace, asked.document, asked.at)] == [0, 2, 4]
    told = hover(asked.workspace, asked.document, asked.at)
    assert told is not None
    assert "Write about" in told.text
