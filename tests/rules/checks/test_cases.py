"""Rules about test cases: what a case hands over, who checks it, and which are held out."""

from __future__ import annotations

import pytest

from loop_ls.rules.engine.finding import Finding, Severity
from loop_ls.testing.call_count import calls_in
from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import findings_of

WORKFLOW = 'steps: [{name: write, run: "Write about {{input}} in {{tone}}"}]'


def told(cases: str, *files: str) -> list[tuple[str, str]]:
    """Rule and marked text of what is found in the cases of a workflow, without those about other things."""
    lines, found = cases.split("\n"), findings(cases, *files)
    return [(one.rule, lines[one.span.start.line][one.span.start.column : one.span.end.column]) for one in found]


def findings(cases: str, *files: str) -> tuple[Finding, ...]:
    source = "\n".join(("#- report.cases.yaml", cases, "#- report.yaml", WORKFLOW, *files))
    return findings_of(read_fixture(source))["report.cases.yaml"]


CHECK = "assert: [{type: is-json}]"


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (f"{{name: sea, vars: {{input: sea, tone: dry}}, {CHECK}}}", []),
        (f"{{name: sea, vars: {{input: sea, tone: dry, more: x}}, {CHECK}}}", [("CK015", "more")]),
        (f"{{name: sea, vars: {{input: sea}}, {CHECK}}}", [("CK016", "{")]),
        (f"{{name: sea, {CHECK}}}", [("CK016", "sea")]),
        (f"{{name: sea, vars: {{inptu: sea, tone: dry}}, {CHECK}}}", [("CK015", "inptu")]),
        (f"{{name: sea, vars: {{inptu: sea}}, {CHECK}}}", [("CK016", "{"), ("CK015", "inptu")]),
        (f"{{name: sea, vras: {{input: sea}}, {CHECK}}}", [("CK002", "vras")]),
        ("{name: sea, vars: {input: sea, tone: dry}, asesrt: [{type: is-json}]}", [("CK002", "asesrt")]),
        (f"{{name: sea, vars: {{input: sea}}, skip: later, {CHECK}}}", []),
        ("{name: sea, vars: {input: sea, tone: dry}}", [("CK019", "sea")]),
        ("{name: sea, vars: {input: sea, tone: dry}, assert: []}", [("CK019", "sea")]),
    ],
)
def test_a_case_hands_over_what_the_workflow_reads_and_is_checked(case: str, expected: list[tuple[str, str]]) -> None:
    assert told(f"tests: [{case}]") == expected


READ_BY_A_CHECK = "tests: [{name: sea, vars: {input: sea, tone: dry, more: x}, assert: [{type: is-json}%s]}]"
MORE = "{type: icontains, value: '{{more}}'}"
OF_ALL = ("#- report.checks.yaml", "assert: [{type: contains-all, value: [a, '{{ more }} b']}]")


@pytest.mark.parametrize(
    ("own", "files", "expected"),
    [
        ("", (), ["CK015"]),
        (f", {MORE}", (), []),
        ("", OF_ALL, []),
        (", {type: command, value: [test, '{{more}}']}", (), ["CK015"]),
    ],
)
def test_CK015_a_variable_that_only_a_check_reads_is_read(
    own: str, files: tuple[str, ...], expected: list[str]
) -> None:
    assert [one.rule for one in findings(READ_BY_A_CHECK % own, *files) if one.rule == "CK015"] == expected


@pytest.mark.parametrize(
    ("given", "severity"),
    [
        ("inptu: sea, tone: dry}", Severity.ERROR),
        ("inptu: sea, tone: dry}, skip: later", Severity.WARNING),
        ("input: sea, inptu: sea, tone: dry}", Severity.WARNING),
        ("input: sea, colour: red, tone: dry}", Severity.WARNING),
    ],
)
def test_CK015_a_misspelt_variable_is_an_error_where_the_run_is_refused(given: str, severity: Severity) -> None:
    [found] = findings(f"tests: [{{name: sea, vars: {{{given}, {CHECK}}}]")
    assert (found.rule, found.severity) == ("CK015", severity)


def test_a_check_of_the_file_that_a_case_does_without_checks_nothing() -> None:
    checks = ("#- report.checks.yaml", "assert: [{name: heading, type: contains, value: x}]")
    given = "vars: {input: sea, tone: dry}"
    assert told(f"tests: [{{name: sea, {given}}}]", *checks) == []
    assert told(f"tests: [{{name: sea, {given}, without: [heading]}}]", *checks) == [("CK019", "sea")]


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        (("", ""), []),
        (("", "holdout: true, "), [("CK018", "holdout")]),
        (("holdout: true, ", "holdout: true, "), [("CK017", "holdout")]),
        (("holdout: false, ", "holdout: true, "), [("CK018", "holdout")]),
    ],
)
def test_what_is_held_out_is_not_handed_over_by_a_case_that_is_not(
    held: tuple[str, str], expected: list[tuple[str, str]]
) -> None:
    given = f"vars: {{input: sea, tone: dry}}, {CHECK}"
    cases = "\n".join(f"  - {{name: n{number}, {out}{given}}}" for number, out in enumerate(held))
    assert told(f"tests:\n{cases}") == expected


def test_of_one_case_that_is_held_out_and_of_different_ones_nothing_proves_nothing() -> None:
    cases = (
        f"tests:\n  - {{name: a, vars: {{input: sea, tone: dry}}, {CHECK}}}\n"
        f"  - {{name: b, vars: {{input: land, tone: dry}}, holdout: true, {CHECK}}}"
    )
    assert told(cases) == []
    assert told("tests: []") == [("CK004", "[]")]


def test_CK011_a_loop_is_looked_for_among_loops_alone() -> None:
    flow = 'steps: [{name: polish_all, run: "{{input}}"}]\n'
    flow += "loops: [{name: polish, workflow: flow, max_iterations: 2, until: It says READY}]"
    checks = "assert: [{{on: {}, type: is-json}}]"

    def said(target: str) -> list[str]:
        source = "\n".join(("#- report.checks.yaml", checks.format(target), "#- report.yaml", flow))
        return [one.message for one in findings_of(read_fixture(source))["report.checks.yaml"] if one.rule == "CK011"]

    assert [said(target) for target in ("loop.polish", "step.polish", "step.polish_all")] == [[], [], []]
    assert said("loop.polish_all") == ["`report` has no loop `polish_all`"]
    assert said("loop.polihs") == ["`report` has no loop `polihs`; did you mean `polish`?"]


def test_CK011_says_nothing_where_no_workflow_stands_beside() -> None:
    checks = "#- other.checks.yaml\nassert: [{on: step.wriet, type: is-json}]\nverifiers: [wriet]\n#- report.yaml\n"
    assert [one.rule for one in findings_of(read_fixture(checks + WORKFLOW))["other.checks.yaml"]] == []
    beside = findings_of(read_fixture(checks.replace("other", "report") + WORKFLOW))["report.checks.yaml"]
    assert [one.rule for one in beside if one.rule == "CK011"] == ["CK011", "CK011"]


def test_CK011_what_is_no_text_is_no_name_of_a_step() -> None:
    checks = "#- report.checks.yaml\nverifiers: [{}, write]\nassert: [{{type: is-json}}]\n#- report.yaml\n"
    for odd in ("5", "[a]", "", "{a: b}"):
        found = findings_of(read_fixture(checks.format(odd) + WORKFLOW))["report.checks.yaml"]
        assert [one.rule for one in found if one.rule == "CK011"] == []


def test_cases_without_a_workflow_have_no_variables_to_read() -> None:
    cases = f"#- other.cases.yaml\ntests: [{{name: sea, vars: {{more: x}}, {CHECK}}}]\n#- report.yaml\n{WORKFLOW}"
    found = findings_of(read_fixture(cases))["other.cases.yaml"]
    assert [one.rule for one in found if one.rule in ("CK015", "CK016")] == []


def test_cases_of_an_assistant_have_its_message_to_read() -> None:
    def found(variable: str) -> list[str]:
        source = f"#- report.cases.yaml\ntests: [{{name: sea, vars: {{{variable}: x}}, {CHECK}}}]\n"
        source += "#- report.assistant.yaml\nname: Report\npersona: You report.\n"
        every = findings_of(read_fixture(source))["report.cases.yaml"]
        return [one.rule for one in every if one.rule in ("CK015", "CK016")]

    assert found("input") == []
    assert found("more") == ["CK016", "CK015"]


def test_verifiers_that_are_no_list_name_no_step() -> None:
    checks = "#- report.checks.yaml\nverifiers: wriet\nassert: [{type: is-json}]\n#- report.yaml\n"
    found = findings_of(read_fixture(checks + WORKFLOW))["report.checks.yaml"]
    assert "CK011" not in [one.rule for one in found]
    assert found


def test_CK014_a_secret_is_found_in_variables_and_in_checks() -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"

    def secrets(case: str) -> list[str]:
        return [mark for rule, mark in told(f"tests: [{case}]") if rule == "CK014"]

    assert secrets(f"{{name: sea, vars: {{input: {key}, tone: dry}}, {CHECK}}}") == [key]
    assert secrets(f"{{name: sea, vars: {{input: [sea, {key}], tone: dry}}, {CHECK}}}") == [key]
    assert secrets(f"{{name: sea, vars: {{input: sea, tone: dry}}, assert: [{{type: contains, value: {key}}}]}}") == [
        key
    ]
    assert secrets(f"{{name: sea, {CHECK}}}") == []


def test_CK011_a_verifier_that_resembles_no_step_has_no_fix() -> None:
    def fixes(name: str) -> list[int]:
        checks = f"#- report.checks.yaml\nverifiers: [{name}]\nassert: [{{type: is-json}}]\n#- report.yaml\n{WORKFLOW}"
        found = findings_of(read_fixture(checks))["report.checks.yaml"]
        return [len(one.fixes) for one in found if one.rule == "CK011"]

    assert fixes("wriet") == [1]
    assert fixes("unrelated") == [0]
    assert fixes("write") == []


def test_twice_the_cases_are_twice_the_work() -> None:
    def work(number: int) -> int:
        cases = (f"  - {{name: c{one}, vars: {{input: x{one}, tone: dry}}, {CHECK}}}" for one in range(number))
        fixture = read_fixture("\n".join(("#- report.cases.yaml", "tests:", *cases, "#- report.yaml", WORKFLOW)))
        return calls_in(lambda: findings_of(fixture))

    work(10)
    assert work(200) < 2.2 * work(100)


@pytest.mark.parametrize(
    ("value", "marked"),
    [
        ("{type: icontains, value: '{{input}}, {{ tone }} and {{own}}'}", []),
        ("{type: icontains, value: 'about {{inptu}}'}", ["{{inptu}}"]),
        ("{type: contains-any, value: [a, '{{nosuch}}']}", ["{{nosuch}}"]),
        ("{type: command, value: [grep, '{{nosuch}}']}", []),
        ("{type: icontains, value: '{{}} and {\"a\": {}}'}", []),
    ],
)
def test_a_variable_that_nothing_fills_in_is_told(value: str, marked: list[str]) -> None:
    case = f"{{name: sea, vars: {{input: sea, tone: dry, own: x}}, assert: [{value}]}}"
    assert [text for rule, text in told(f"tests: [{case}]") if rule == "CK022"] == marked
    beside = "\n".join(("#- report.checks.yaml", f"assert: [{value}]"))
    found = findings_of(
        read_fixture("\n".join((beside, "#- report.cases.yaml", f"tests: [{case}]", "#- report.yaml", WORKFLOW)))
    )
    assert len([one for one in found["report.checks.yaml"] if one.rule == "CK022"]) == len(marked)
