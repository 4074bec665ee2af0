"""The JSON contract: keys, order, places, one object and one line break."""

from __future__ import annotations

import json
from typing import Any

from loop_ls.report.as_json import as_json
from loop_ls.report.checked import Checked, CheckedFile
from loop_ls.rules.engine.finding import Finding, Fix, Severity, Tier
from loop_ls.text.position import Span, span


def finding(place: Span, rule: str = "WF006", **more: Any) -> Finding:
    return Finding(rule, more.pop("severity", Severity.ERROR), place, more.pop("message", "m"), "unknown-key", **more)


def read(*files: CheckedFile, count: int = 1) -> Any:
    text = as_json(Checked(files, count))
    assert text.endswith("}\n")
    assert text.count("\n") == 1
    return json.loads(text)


def test_every_key_of_the_contract_is_there() -> None:
    data = read(
        CheckedFile("a/b.yaml", ["steps:", "  nmae: x"], (finding(span(1, 2, 1, 6), message="no key"),)), count=7
    )
    assert data == {
        "version": 1,
        "findings": [
            {
                "path": "a/b.yaml",
                "line": 2,
                "column": 3,
                "end_line": 2,
                "end_column": 7,
                "rule": "WF006",
                "name": "unknown-key",
                "severity": "error",
                "message": "no key",
                "fixable": False,
            }
        ],
        "files": 7,
    }


def test_findings_are_ordered_by_path_place_and_rule() -> None:
    lines = ["abcdef"] * 3
    late, early = finding(span(2, 0, 2, 1)), finding(span(0, 3, 0, 4))
    twin = finding(span(2, 0, 2, 1), rule="WF005")
    data = read(CheckedFile("b.yaml", lines, (late, early, twin)), CheckedFile("a.yaml", lines, (late,)))
    order = [(f["path"], f["line"], f["rule"]) for f in data["findings"]]
    assert order == [("a.yaml", 3, "WF006"), ("b.yaml", 1, "WF006"), ("b.yaml", 3, "WF005"), ("b.yaml", 3, "WF006")]


def test_no_place_lies_behind_the_end_of_its_line() -> None:
    one, two = read(
        CheckedFile("a.yaml", ["abc", ""], (finding(span(0, 1, 0, 99)), finding(span(0, 9, 5, 0)))),
    )["findings"]
    assert (one["column"], one["end_line"], one["end_column"]) == (2, 1, 4)
    assert (two["column"], two["end_line"], two["end_column"]) == (4, 2, 1)


def test_columns_count_code_points() -> None:
    (one,) = read(CheckedFile("a.yaml", ["🦊🦊é {{x}}"], (finding(span(0, 4, 0, 9)),)))["findings"]
    assert (one["column"], one["end_column"]) == (5, 10)


def test_only_safe_fixes_count_as_fixable() -> None:
    review, safe = (Fix("t", lambda _: (), tier) for tier in (Tier.REVIEW, Tier.SAFE))
    data = read(
        CheckedFile(
            "a.yaml", ["x"], (finding(span(0, 0, 0, 1), fixes=(review,)), finding(span(0, 0, 0, 1), fixes=(safe,)))
        )
    )
    assert [f["fixable"] for f in data["findings"]] == [False, True]


def test_a_message_is_one_line_and_any_text_can_be_written() -> None:
    (one,) = read(CheckedFile("a.yaml", [], (finding(span(0, 0, 0, 0), message="a\n  b\ud800"),)))["findings"]
    assert one["message"] == "a b?"


def test_nothing_found() -> None:
    assert read(count=0) == {"version": 1, "findings": [], "files": 0}
