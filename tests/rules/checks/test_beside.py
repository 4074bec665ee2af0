"""Checks and test cases count beside the loop file of their name; anywhere else such a file is somebody else's."""

from __future__ import annotations

import pytest

from loop_ls.features.complete.completion import complete
from loop_ls.features.hover.hover import hover
from loop_ls.testing.fixture import read_fixture
from loop_ls.text.position import Position
from tests.rules.checking import document_of, findings_of, workspace_of

BAD = "assert: [{type: nothing}]"
CASES = "tests: [{nam: a}]"
WORKFLOW = 'steps: [{name: write, run: "Write about {{input}}"}]'


def codes(*files: str) -> dict[str, list[str]]:
    found = findings_of(read_fixture("\n".join(files)))
    return {path: [one.rule for one in every] for path, every in found.items()}


@pytest.mark.parametrize("name", ["report.checks.yaml", "report.checks.yml"])
def test_beside_a_workflow_they_are_checked(name: str) -> None:
    assert codes(f"#- {name}", BAD, "#- report.yaml", WORKFLOW)[name] == ["CK006"]
    assert "CK002" in codes("#- report.cases.yaml", CASES, "#- report.yaml", WORKFLOW)["report.cases.yaml"]


def test_beside_other_loops_they_are_checked() -> None:
    assistant = "name: Fixer\npersona: You repair failing tests."
    found = codes("#- fixer.checks.yaml", BAD, "#- fixer.assistant.yaml", assistant)
    assert found["fixer.checks.yaml"] == ["CK006"]


@pytest.mark.parametrize("neighbour", ["other.yaml", "deeper/report.yaml"])
def test_elsewhere_nothing_is_said_and_nothing_offered(neighbour: str) -> None:
    source = f"#- report.checks.yaml\n{BAD}\n#- {neighbour}\n{WORKFLOW}"
    assert codes(source)["report.checks.yaml"] == []
    workspace = workspace_of(read_fixture(source))
    document = document_of(workspace, "report.checks.yaml")
    assert complete(workspace, document, Position(0, 0)).items == ()
    assert hover(workspace, document, Position(0, 2)) is None


def test_keys_are_completed_and_told() -> None:
    workspace = workspace_of(
        read_fixture(f"#- report.checks.yaml\nassert:\n  - type: is-json\n    se\n#- report.yaml\n{WORKFLOW}")
    )
    document = document_of(workspace, "report.checks.yaml")
    assert "severity" in [one.label for one in complete(workspace, document, Position(2, 6)).items]
    shown = hover(workspace, document, Position(1, 6))
    assert shown is not None and "Type of check." in shown.text


def test_a_workflow_of_such_a_name_stays_a_workflow() -> None:
    workspace = workspace_of(read_fixture(f"#- nightly.checks.yaml\n{WORKFLOW}"))
    assert document_of(workspace, "nightly.checks.yaml").is_workflow


def test_a_verifier_has_to_be_a_step_of_the_file_beside() -> None:
    review = 'steps: [{name: review, run: "PASS or FAIL: {{input}}"}]'
    found = findings_of(read_fixture(f"#- report.checks.yaml\nverifiers: [review, reviw]\n#- report.yaml\n{review}"))
    [told] = [one for one in found["report.checks.yaml"] if one.rule == "CK011"]
    assert "has no step `reviw`" in told.message
    assert "`review`?" in told.message
    assert told.fixes


def test_a_workflow_without_a_name_is_called_like_its_file() -> None:
    files = ("#- report.checks.yaml", "assert: [{type: is-json, on: step.wriet}]", "#- report.yaml")
    found = findings_of(read_fixture("\n".join((*files, "$schema: workflow/v2.0", WORKFLOW))))["report.checks.yaml"]
    assert [one.message for one in found] == ["`report` has no step `wriet`; did you mean `write`?"]
