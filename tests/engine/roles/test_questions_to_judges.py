"""What a judge of a role loop is asked, and how its answer is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loop_ls.engine.roles.findings import Point
from loop_ls.engine.roles.gate import GateVerdict, gate_question, goal_question, read_gate, read_goal


def test_RB_056_the_judge_of_a_goal_is_told_what_there_is_and_no_more() -> None:
    whole = goal_question("GOAL", "CRITERIA", ["one", "two"], "OUTPUT")
    assert [line for line in whole.splitlines() if line.startswith("#")] == [
        *("## Goal", "## What counts as reached", "## Earlier iterations", "## Output of the last stage"),
    ]
    assert "- one\n- two\n\n## Output of the last stage\n\nOUTPUT\n\nAnswer with ACHIEVED or NOT_ACHIEVED" in whole
    bare = goal_question("GOAL", " ", [], "OUTPUT")
    assert [line for line in bare.splitlines() if line.startswith("#")] == ["## Goal", "## Output of the last stage"]


@pytest.mark.parametrize("answer", ["ACHIEVED", "**Achieved**", "achieved: all is there\nwhy", "> `ACHIEVED`\n\nwhy"])
def test_RB_056_a_goal_is_achieved_by_the_first_line(answer: str) -> None:
    assert read_goal(answer).achieved
    assert read_goal(answer).rationale == ("why" if "why" in answer else "")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("NOT_ACHIEVED\nthe tests are missing", "the tests are missing"),
        ("Not achieved", "Not achieved"),
        ("not-achieved: no tests", "not-achieved: no tests"),
        ("ACHIEVED? Rather NOT ACHIEVED", "ACHIEVED? Rather NOT ACHIEVED"),
        ("ACHIEVEDISH", "ACHIEVEDISH"),
        ("It is ACHIEVED", "It is ACHIEVED"),
        ("Well.\nACHIEVED", "ACHIEVED"),
        ("", "(no output)"),
    ],
)
def test_RB_057_anything_else_is_not_achieved(answer: str, why: str) -> None:
    found = read_goal(answer)
    assert (found.achieved, found.rationale) == (False, why)


def gate(**fields: Any) -> GateVerdict | None:
    return read_gate(f"Here: {json.dumps({'requirements_met': True, 'quality_pass': True, **fields})} so far.")


def test_UP_72_a_gate_approves_where_both_are_met_and_nothing_grave_was_found() -> None:
    minor = {"severity": "minor", "summary": "a name"}
    assert gate() == GateVerdict(True)
    assert gate(findings=[minor], rationale="fine") == GateVerdict(True, (Point("minor", "a name"),), "fine")
    assert gate(requirements_met=False) == gate(quality_pass=False) == gate(quality_pass="yes") == GateVerdict(False)


@pytest.mark.parametrize("severity", ["critical", "Important", "CRITICAL", "Critical ", "**critical**", "important:"])
def test_UP_72_a_verdict_that_its_findings_contradict_approves_nothing(severity: str) -> None:
    findings = [{"summary": "a name"}, {"severity": severity, "summary": "it deletes"}]
    known = severity.lower().strip(" *:")
    told = (Point("minor", "a name"), Point(known, "it deletes"))  # type: ignore[arg-type]
    said = f"the judge approved and found this: {known}: it deletes"
    assert gate(findings=findings) == GateVerdict(False, told, "", said)
    assert gate(findings=findings, quality_pass=False) == GateVerdict(False, told)


@pytest.mark.parametrize(
    "findings",
    [
        [{"severity": "blocker", "summary": "it deletes"}],
        {"severity": "critical", "summary": "it deletes"},
        [{"severity": "critical"}],
        ["critical: it deletes"],
        "[Important] it deletes",
    ],
)
def test_UP_72_grave_findings_count_however_they_are_written(findings: object) -> None:
    found = gate(findings=findings)
    assert found is not None and found.findings
    assert (found.approved, bool(found.contradiction)) == (False, True)


@pytest.mark.parametrize("findings", [[{"severity": "nit", "summary": "a"}], ["a name"], [], None, 7, [None, {}, " "]])
def test_UP_72_small_findings_hold_up_nothing(findings: object) -> None:
    found = gate(findings=findings)
    assert found is not None and found.approved


@pytest.mark.parametrize("answer", ["", "approved", "[]", "{", '{"quality_pass": true}', '{"requirements_met": "yes"}'])
def test_UP_72_what_is_no_such_object_is_no_verdict(answer: str) -> None:
    assert read_gate(answer) is None


def test_UP_72_the_object_is_looked_for_behind_so_many_braces() -> None:
    verdict = '{"requirements_met": true, "quality_pass": true}'
    assert read_gate("{" * 99 + verdict) == GateVerdict(True)
    assert read_gate("{" * 100 + verdict) is None


def test_UP_72_a_gate_is_asked_about_the_review() -> None:
    asked = gate_question("GOAL", "CRITERIA", "REVIEW")
    places = [asked.index(word) for word in ("GOAL", "CRITERIA", "REVIEW", "requirements_met", "quality_pass")]
    assert places == sorted(places)
