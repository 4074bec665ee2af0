"""Formats that build servers read: SARIF, GitHub annotations, JUnit."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from loop_ls.report.as_github import as_github
from loop_ls.report.as_junit import as_junit
from loop_ls.report.as_sarif import as_sarif
from loop_ls.report.checked import Checked, CheckedFile
from loop_ls.rules.engine.finding import Finding, Fix, Related, Severity, TextEdit, Tier
from loop_ls.rules.engine.registry import all_rules
from loop_ls.text.position import Span, span

NASTY = 'a \x1b[31m\x00 <b> & "q" 50%\r\n\ud800\uffff ]]> end'


FIRST = span(0, 0, 0, 1)


def finding(place: Span = FIRST, severity: Severity = Severity.ERROR, **more: Any) -> Finding:
    return Finding("WF006", severity, place, more.pop("message", "no such key"), "unknown-key", **more)


def checked(
    *found: Finding, path: str = "a b/ü#1.yaml", lines: tuple[str, ...] = ("abcdef", "🦊x"), **more: Any
) -> Checked:
    return Checked((CheckedFile(path, lines, found, **more),), 3)


def run_of(one: Checked) -> Any:
    text = as_sarif(one)
    text.encode()
    return json.loads(text)["runs"][0]


# -- SARIF --------------------------------------------------------------------------------------


def test_sarif_names_the_rule_with_its_page_as_help() -> None:
    run = run_of(checked(finding(), finding(span(1, 0, 1, 1))))
    (rule,) = run["tool"]["driver"]["rules"]
    known = all_rules()["WF006"]
    assert rule["id"] == "WF006"
    assert rule["name"] == "UnknownKey"
    assert rule["shortDescription"]["text"] == known.title
    assert known.page.bad.splitlines()[-1] in rule["help"]["markdown"]
    assert known.page.good.splitlines()[-1] in rule["help"]["text"]
    assert [result["ruleIndex"] for result in run["results"]] == [0, 0]


def test_sarif_says_of_a_rule_whether_it_is_on_by_itself_and_in_which_profile() -> None:
    pedantic = next(rule for rule in all_rules().values() if rule.profile == "pedantic")
    found = Finding(pedantic.code, Severity.HINT, FIRST, "told", pedantic.name)
    both = run_of(checked(finding(), found))["tool"]["driver"]["rules"]
    told = {one["id"]: (one["properties"]["tags"], one["defaultConfiguration"]["enabled"]) for one in both}
    assert told == {"WF006": (["ai-loops"], True), pedantic.code: (["ai-loops", "pedantic"], False)}


def test_sarif_places_are_relative_and_count_code_points_from_1() -> None:
    run = run_of(checked(finding(span(1, 1, 1, 2))))
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20b/%C3%BC%231.yaml", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 2, "startColumn": 2, "endLine": 2, "endColumn": 3}
    assert run["columnKind"] == "unicodeCodePoints"


def test_sarif_a_file_outside_of_the_root_is_absolute() -> None:
    (result,) = run_of(checked(finding(), path="/else where/x.yaml"))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "file:///else%20where/x.yaml"}


def test_sarif_carries_the_edits_of_fixes_and_leaves_out_fixes_without_any() -> None:
    fix = Fix("Change it", lambda _: (), Tier.SAFE)
    empty = Fix("Nothing to do", lambda _: (), Tier.REVIEW)
    edits = (TextEdit(span(0, 1, 0, 3), "new"), TextEdit(span(0, 0, 0, 0), "x", "file:///ws/other.yaml"))
    one = checked(finding(fixes=(fix, empty)), edits=lambda which: edits if which is fix else ())
    (result,) = run_of(replace(one, path_of=lambda uri: uri.rpartition("/")[2]))["results"]
    (written,) = result["fixes"]
    assert written["description"]["text"] == "Change it (safe)"
    first, second = written["artifactChanges"]
    assert first["replacements"] == [
        {
            "deletedRegion": {"startLine": 1, "startColumn": 2, "endLine": 1, "endColumn": 4},
            "insertedContent": {"text": "new"},
        }
    ]
    assert second["artifactLocation"]["uri"] == "other.yaml"


def test_sarif_levels_related_places_and_fingerprints() -> None:
    related = Related(span(0, 2, 0, 4), "the first is here")
    other = Related(span(7, 0, 7, 1), "called here", "file:///ws/other.yaml")
    found = [finding(severity=level, related=(related, other)) for level in Severity]
    one = Checked((CheckedFile("a.yaml", ["abcdef"], tuple(found)),), 1, 0, lambda uri: uri.rpartition("/")[2])
    results = run_of(one.below("sub"))["results"]
    assert [result["level"] for result in results] == ["error", "warning", "note", "note"]
    places = [place["physicalLocation"] for place in results[0]["relatedLocations"]]
    assert [place["artifactLocation"]["uri"] for place in places] == ["sub/a.yaml", "sub/other.yaml"]
    assert places[1]["region"]["startLine"] == 8
    prints = [result["partialFingerprints"]["loopLsFinding/v1"] for result in results]
    assert len(set(prints)) == 4
    moved = Checked((CheckedFile("sub/a.yaml", ["", "  abcdef"], (finding(span(1, 2, 1, 3)),)),), 1)
    assert run_of(moved)["results"][0]["partialFingerprints"]["loopLsFinding/v1"] == prints[0]


def test_sarif_without_findings_and_with_any_text() -> None:
    assert run_of(Checked((), 0))["results"] == []
    assert "50%" in run_of(checked(finding(message=NASTY)))["results"][0]["message"]["text"]


# -- GitHub -------------------------------------------------------------------------------------


def test_github_annotations_escape_what_the_runner_reads() -> None:
    (line,) = as_github(checked(finding(message="50% of a:b, c\nd"), path="a,b:c%.yaml")).splitlines()
    assert line == (
        "::error file=a%2Cb%3Ac%25.yaml,line=1,endLine=1,col=1,endColumn=2,title=WF006 unknown-key"
        "::50%25 of a:b, c d [WF006 unknown-key]"
    )


def test_github_levels_and_marks_over_several_lines() -> None:
    lines = as_github(checked(*(finding(span(0, 2, 1, 1), level) for level in Severity))).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::notice", "::notice"]
    assert "line=1,endLine=2,title=" in lines[0]


def test_github_a_file_cannot_give_commands_of_its_own() -> None:
    text = as_github(
        checked(finding(message="x\n::set-output name=a::b\r\n::error::\x1b[0m"), path="a\n::error::b.yaml")
    )
    assert text.count("\n") == 1
    assert "\x1b" not in text
    assert "\r" not in text


# -- JUnit --------------------------------------------------------------------------------------


def test_junit_a_finding_is_a_case_and_fails_as_the_command_does() -> None:
    one = checked(finding(), finding(span(1, 0, 1, 1), Severity.WARNING, message="well"))
    for failing, number in ((Severity.ERROR, 1), (Severity.WARNING, 2), (None, 0)):
        root = ElementTree.fromstring(as_junit(one, failing))
        assert (root.get("tests"), root.get("failures")) == ("2", str(number))
        assert len(root.findall(".//failure")) == number
        assert len(root.findall(".//system-out")) == 2 - number
    (suite,) = root
    assert suite.get("name") == "a b/ü#1.yaml"
    assert suite[1].get("line") == "2"


@pytest.mark.parametrize("text", [NASTY, "\x00", "\x0b\x0c\x1f\x7f\x9f", "\ufffe\ud800", "<![CDATA[ ]]>", "'\"&lt;"])
def test_junit_is_well_formed_whatever_a_file_holds(text: str) -> None:
    one = checked(finding(span(0, 0, 0, len(text)), message=text), path=f"{text}.yaml", lines=(text,))
    for failing in (Severity.ERROR, None):
        root = ElementTree.fromstring(as_junit(one, failing).encode("utf-8"))
        assert root.get("tests") == "1"


def test_junit_without_findings_is_one_case_that_passes() -> None:
    root = ElementTree.fromstring(as_junit(Checked((), 3)))
    assert (root.get("tests"), root.get("failures")) == ("1", "0")
    assert "no findings in 3 files" in ElementTree.tostring(root, "unicode")
