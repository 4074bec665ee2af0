"""Checks and test cases from text to values, and what is said against a file that means nothing."""

from __future__ import annotations

import pytest

from loop_ls.formats.checks.file_format import cases_paths, checks_paths, loop_stem, subject_stem
from loop_ls.formats.checks.model import AS_STARTED, Case, Check, Checks, Target, checks_of, held_out
from loop_ls.formats.checks.read import read_cases, read_checks

REPORT = """\
verifiers: [review]
assert:
  - {name: heading, type: icontains, value: "# summary"}
  - {on: step.draft, type: is-json, value: {type: object, required: [title]}}
  - {on: step.rate, type: number, path: score, min: 0.8}
  - {on: loop.develop, every: true, type: not-contains, value: TODO}
  - {type: llm-rubric, value: "Names each risk of {{input}}.", threshold: 0.7, hint: risks missing}
  - {on: step.build, type: command, value: [pytest, -q], timeout: 90s, severity: warn}
  - {on: run, type: cost, threshold: 0.05}
  - {type: latency, threshold: 500, weight: 2}
  - {type: not-contains, value: FIXME}
"""


def checks(text: str) -> Checks:
    found = read_checks(text)
    assert isinstance(found, Checks), found
    return found


def cases(text: str) -> tuple[Case, ...]:
    found = read_cases(text)
    assert isinstance(found, tuple), found
    return found


def test_a_file_is_read_into_values() -> None:
    found = checks(REPORT)
    assert found.verifiers == ("review",)
    by_name = {one.name: one for one in found.checks}
    assert list(by_name) == [
        *("heading", "is-json", "number", "not-contains", "llm-rubric", "command", "cost", "latency", "not-contains-2"),
    ]
    assert by_name["is-json"].on == Target("step", "draft")
    assert by_name["is-json"].value == {"type": "object", "required": ["title"]}
    assert (by_name["number"].path, by_name["number"].minimum, by_name["number"].maximum) == ("score", 0.8, None)
    assert by_name["not-contains"] == Check(
        "not-contains", "contains", negated=True, value="TODO", on=Target("loop", "develop", every=True)
    )
    assert (by_name["llm-rubric"].threshold, by_name["llm-rubric"].hint) == (0.7, "risks missing")
    command = by_name["command"]
    assert (command.words, command.timeout, command.severity) == (("pytest", "-q"), 90.0, "warn")
    assert by_name["cost"].on == by_name["latency"].on == Target("run")
    assert by_name["latency"].weight == 2.0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("- a", "CK001"),
        ("assert: nothing", "CK003"),
        ("assert: [nothing]", "CK003"),
        ("assert: [{value: a}]", "CK004"),
        ("assert: [{type: contains}]", "CK004"),
        ("assert: [{type: contains, value: ''}]", "CK004"),
        ("assert: [{type: contains-all, value: a}]", "CK003"),
        ("assert: [{type: contains-any, value: [a, '']}]", "CK004"),
        ("assert: [{type: command, value: pytest -q}]", "CK003"),
        ("assert: [{type: command, value: []}]", "CK004"),
        ("assert: [{type: command, value: [sleep, 5]}]", "CK003"),
        ("assert: [{type: command, value: [a], timeout: 5}]", "CK003"),
        ("assert: [{type: number}]", "CK004"),
        ("assert: [{type: number, min: high}]", "CK003"),
        ("assert: [{type: number, min: 3, max: 2}]", "CK003"),
        ("assert: [{type: cost}]", "CK004"),
        ("assert: [{type: llm-rubric, value: good, threshold: 7}]", "CK003"),
        ("assert: [{type: llm-rubric, value: good, votes: 2}]", "CK003"),
        ("assert: [{type: javascript, value: 'true'}]", "CK006"),
        ("assert: [{type: contain, value: a}]", "CK006"),
        ("assert: [{name: a, type: is-json}, {name: a, type: contains-json}]", "CK007"),
        ("assert: [{type: regex, value: '('}]", "CK008"),
        ("assert: [{type: is-json, value: {type: objekt}}]", "CK010"),
        ("assert: [{type: is-json, value: 5}]", "CK010"),
        ("assert: [{type: is-json, on: draft}]", "CK011"),
        ("assert: [{type: contains, value: a, on: run}]", "CK011"),
        ("assert: [{type: cost, threshold: 1, on: result}]", "CK011"),
        ("assert: [{type: contains, value: a, severity: fatal}]", "CK003"),
    ],
)
def test_what_means_nothing_is_refused(text: str, code: str) -> None:
    found = read_checks(text)
    assert isinstance(found, list), found
    assert [one.code for one in found] == [code]


@pytest.mark.parametrize(
    "text",
    [
        "",  # nothing is checked
        "assert: [{type: is-json, min: 5}]",  # a key that the type passes over
        "assert: [{type: equals, value: ''}]",
        "assert: [{type: equals, value: 42}]",
        "assert: [{type: command, value: [pytest], on: run}]",
    ],
)
def test_what_is_only_odd_is_taken(text: str) -> None:
    checks(text or "assert: []")


def test_cases_are_read_and_merged_with_the_checks_of_the_file() -> None:
    sea, empty, late = cases(
        "tests:\n"
        "  - {name: sea, vars: {input: the sea, size: 3}}\n"
        '  - {name: empty, vars: {input: ""}, assert: [{type: icontains, value: no input}], without: [heading]}\n'
        "  - {name: late, skip: not ready, holdout: true,"
        " assert: [{name: heading, type: equals, value: x}, {name: own, type: is-json}]}\n"
    )
    assert sea.variables == {"input": "the sea", "size": 3}
    assert (late.skip, late.holdout, sea.holdout) == ("not ready", True, None)
    declared = checks('assert: [{name: heading, type: icontains, value: "#"}, {name: body, type: is-json}]')
    assert [one.name for one in checks_of(declared)] == ["heading", "body"]
    assert [one.name for one in checks_of(declared, sea)] == ["heading", "body"]
    assert [one.name for one in checks_of(declared, empty)] == ["body", "icontains"]
    replaced = checks_of(declared, late)
    assert [(one.name, one.type) for one in replaced] == [
        ("heading", "equals"),
        ("body", "is-json"),
        ("own", "is-json"),
    ]
    assert checks_of(declared, AS_STARTED) == declared.checks


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{}", "CK004"),
        ("tests: [{vars: {}}]", "CK004"),
        ("tests: [{name: a}, {name: a}]", "CK007"),
        ("tests: [{name: a, vars: text}]", "CK003"),
        ("tests: [{name: a, holdout: maybe}]", "CK003"),
        ("tests: [{name: a, assert: [{type: contains}]}]", "CK004"),
    ],
)
def test_cases_that_mean_nothing_are_refused(text: str, code: str) -> None:
    found = read_cases(text)
    assert isinstance(found, list), found
    assert [one.code for one in found] == [code]


def test_every_fifth_case_is_held_out_where_nobody_says_which() -> None:
    listed = [Case(f"case {number}") for number in range(11)]
    held = held_out(listed)
    assert len(held) == 2
    assert held_out(reversed(listed)) == held
    assert held_out(listed[:4]) == frozenset()
    assert held_out([*listed, Case("own", holdout=True)]) == {"own"}


@pytest.mark.parametrize("loop", ["/a/report.yaml", "/a/report.yml", "/a/report.json", "/a/report.assistant.yaml"])
def test_a_file_is_about_the_loop_of_its_name(loop: str) -> None:
    assert loop_stem(loop) == "/a/report"
    assert [subject_stem(path) for path in (*checks_paths(loop), *cases_paths(loop))] == ["/a/report"] * 4


def test_other_names_are_about_nothing() -> None:
    assert subject_stem("/a/checks.yaml") is subject_stem("/a/.checks.yaml") is None
    assert loop_stem("/a/report.checks.yaml") is loop_stem("/a/report.py") is None
