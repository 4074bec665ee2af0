"""`loop-ls test` and `loop-ls run --check` through the installed command: ids, reasons, reports, exit codes."""

from __future__ import annotations

import json
import signal
import time
import xml.etree.ElementTree as ElementTree

import pytest

from tests.cli.conftest import ANSWERS as DRAFTS
from tests.cli.conftest import DEVELOP, ONLY_LOOP, CliProject

HEAD = '$schema: "workflow/v2.0"\nname: summary\nversion: 1.0.0\nexecution: {provider: scripted, model: m}\n'
SUMMARY = f'{HEAD}steps: [{{name: write, run: "Sum up {{{{input}}}} for {{{{reader}}}}"}}]\n'
ANSWERS = 'answers:\n  - when: {contains: the sea}\n    say: "# Summary of waves"\n  - say: "no heading"\n'
CHECKS = 'assert:\n  - {name: heading, type: starts-with, value: "#"}\n'
CASES = """\
tests:
  - {name: sea, vars: {input: the sea, reader: all}}
  - {name: long, vars: {input: "file://texts/long.txt", reader: all}}
  - {name: plain, vars: {input: x, reader: all}, without: [heading], assert: [{type: contains, value: no}]}
  - {name: late, skip: not written yet}
"""


def filled(project: CliProject) -> None:
    project.write("summary.yaml", SUMMARY)
    project.write("summary.answers.yaml", ANSWERS)
    project.write("summary.checks.yaml", CHECKS)
    project.write("summary.cases.yaml", CASES)
    project.write("texts/long.txt", "a long text")


def test_a_provider_that_is_down_is_an_error_and_no_failure(shared: CliProject) -> None:
    filled(shared)
    shared.write("summary.answers.yaml", "answers: [{say: {fail: auth}}]\n")
    assert shared.call("test", "summary.yaml", "-k", "sea", "--junit", "report.xml").returncode == 1
    suite = ElementTree.parse(shared.root / "report.xml").getroot()[0]
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")


def test_each_case_is_run_and_a_failed_check_is_told(shared: CliProject) -> None:
    filled(shared)
    done = shared.call("test", "summary.yaml", "--junit", "report.xml")
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    endings = {line.split()[0]: line.split()[1] for line in lines if line.startswith("summary.cases.yaml::")}
    assert endings == {
        "summary.cases.yaml::sea": "passed",
        "summary.cases.yaml::long": "failed",
        "summary.cases.yaml::plain": "passed",
        "summary.cases.yaml::late": "skipped",
    }
    assert "  heading (result): the output does not start with `#`" in lines
    assert lines[-1] == "2 passed, 1 failed, 1 skipped"
    suite = ElementTree.parse(shared.root / "report.xml").getroot()[0]
    assert {name: suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")} == {
        "name": "summary.cases.yaml",
        "tests": "4",
        "failures": "1",
        "errors": "0",
        "skipped": "1",
    }
    assert [one.get("name") for one in suite if one.find("failure") is not None] == ["summary.cases.yaml::long"]


def test_cases_are_chosen_by_name_and_repeated(shared: CliProject) -> None:
    filled(shared)
    done = shared.call("test", "summary.yaml", "-k", "SEA", "--repeat", "2", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["ok"]) == (0, True)
    ids = [one["id"] for one in found["trials"]]
    assert ids == ["summary.cases.yaml::sea[1/2]", "summary.cases.yaml::sea[2/2]"]
    assert len({one["run_id"] for one in found["trials"]}) == 2


def test_what_cannot_be_tested_is_refused(shared: CliProject) -> None:
    filled(shared)
    none = shared.call("test", "develop.yaml")
    assert (none.returncode, none.stdout) == (2, "")
    assert "develop.cases.yaml not found" in none.stderr
    nobody = shared.call("test", "summary.yaml", "-k", "nobody")
    assert nobody.returncode == 2
    shared.write("summary.checks.yaml", "assert: [{type: contains}]")
    broken = shared.call("test", "summary.yaml", "-k", "sea")
    assert broken.returncode == 2
    assert "summary.checks.yaml:1:17: Missing `value`: `contains` needs a text (CK004)" in broken.stderr
    shared.write("summary.checks.yaml", "assert: [{on: step.wriet, type: is-json}]")
    astray = shared.call("test", "summary.yaml", "-k", "sea")
    assert astray.returncode == 2
    assert "did you mean `write`?" in astray.stderr


@pytest.mark.parametrize("kind", ["cases", "checks"])
def test_the_file_of_the_cases_or_checks_names_its_loop_file_too(shared: CliProject, kind: str) -> None:
    filled(shared)
    done = shared.call("test", f"summary.{kind}.yaml", "-k", "sea")
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["1 passed"]), done.stderr
    run = shared.call("run", f"summary.{kind}.yaml", "--input", "x")
    assert (run.returncode, run.stderr) == (
        2,
        f"loop-ls: summary.{kind}.yaml belongs to summary.yaml; name that file.\n",
    )


def runs_of(place: CliProject) -> list[str]:
    return [one["runId"] for one in json.loads(place.call("runs", "--json").stdout)["runs"]]


def test_nothing_is_run_where_the_report_cannot_be_written(shared: CliProject) -> None:
    filled(shared)
    before = runs_of(shared)
    for report, why in (("nowhere/report.xml", "No such file or directory"), (".", "Is a directory")):
        done = shared.call("test", "summary.yaml", "--junit", report)
        assert (done.returncode, f"The report {report} cannot be written: {why}." in done.stderr) == (2, True), done
    shared.write("kept.xml", "what was there")
    assert shared.call("test", "summary.yaml", "-k", "nothing", "--junit", "kept.xml").returncode == 2
    assert (shared.root / "kept.xml").read_text() == "what was there"
    assert runs_of(shared) == before


def test_nothing_is_run_where_a_later_case_is_refused(shared: CliProject) -> None:
    filled(shared)
    before = runs_of(shared)
    shared.write("summary.cases.yaml", "tests:\n  - {name: sea, vars: {input: s, reader: a}}\n  - {name: none}\n")
    done = shared.call("test", "summary.yaml", "--json")
    assert done.returncode == 2, done.stdout
    assert "`none`: " in done.stdout + done.stderr
    assert runs_of(shared) == before


def test_a_selection_of_no_case_is_refused_and_tells_what_there_is(shared: CliProject) -> None:
    filled(shared)
    done = shared.call("test", "summary.yaml", "-k", "nothing")
    told = "No test case in summary.cases.yaml matches `nothing`; there are `sea`, `long`, `plain`, `late`."
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    assert json.loads(shared.call("test", "summary.yaml", "-k", "nothing", "--json").stdout)["message"] == told
    shared.write("summary.cases.yaml", "tests: []\n")
    empty = shared.call("test", "summary.yaml")
    assert (empty.returncode, "`tests` is empty" in empty.stderr) == (2, True), empty.stderr
    assert "None" not in empty.stderr


def test_a_run_is_judged_by_the_checks_beside_its_file(shared: CliProject) -> None:
    filled(shared)
    words = ("run", "summary.yaml", "--input", "x", "--param", "reader=all")
    assert shared.call(*words).returncode == 0
    done = shared.call(*words, "--check")
    assert done.returncode == 4
    assert "1 of 1 check failed: heading: the output does not start with `#`" in done.stderr
    unchecked = shared.call("run", "only_loop.yaml", "--input", "x", "--check")
    assert unchecked.returncode == 2
    assert "only_loop.checks.yaml not found" in unchecked.stderr


@pytest.mark.parametrize("checks", ["assert: []\n", "asserts:\n  - {type: contains, value: x}\n", "{}\n"])
def test_checks_that_check_nothing_pass_nothing(shared: CliProject, checks: str) -> None:
    filled(shared)
    words = ("run", "summary.yaml", "--input", "the sea", "--param", "reader=all", "--check")
    assert shared.call(*words).returncode == 0
    shared.write("summary.checks.yaml", checks)
    refused = shared.call(*words)
    assert (refused.returncode, "summary.checks.yaml has no check" in refused.stderr) == (2, True), refused.stderr


def test_a_verifier_has_to_say_pass_in_a_run_that_is_judged(shared: CliProject) -> None:
    """`verifiers` of the checks file: a step that gives a verdict, and no check of its own."""
    steps = (
        "steps:\n  - {name: review, run: 'PASS or FAIL: {{input}}'}\n  - {name: out, needs: [review], run: 'Say it'}\n"
    )
    shared.write("verdict.yaml", DEVELOP.partition("loops:")[0].replace("develop_it", "verdict") + steps)
    shared.write("verdict.checks.yaml", "verifiers: [review]\n")
    shared.write(
        "verdict.answers.yaml",
        "answers:\n  - when: {step: review, contains: good}\n    say: '**PASS**: fine'\n"
        "  - when: {step: review}\n    say: 'FAIL: bad'\n  - say: out\n",
    )
    assert shared.call("run", "verdict.yaml", "--input", "good", "--check").returncode == 0
    failed = shared.call("run", "verdict.yaml", "--input", "bad", "--check")
    assert failed.returncode == 4
    assert "review says PASS" in failed.stderr
    assert shared.call("run", "verdict.yaml", "--input", "bad").returncode == 0


PAIR = {
    "name": "pair",
    "description": "One writes, one judges.",
    "roles": [
        {"name": "write", "role": "coder", "prompt": "Write."},
        {"name": "judge-it", "role": "reviewer", "prompt": "Judge. Say APPROVED or what is missing."},
    ],
    "termination_condition": {"type": "evaluation_bound", "value": {"criteria": "Good.", "max_review_rounds": 2}},
}
FIXER = "name: Fixer\npersona: You repair.\nloopEnabled: true\nmaxIterations: 2\n"
FAILING = "assert: [{name: whole, type: contains, value: never said}]\n"


@pytest.mark.parametrize("what", ["loops/pair.json", "pair", "fixer.assistant.yaml", "fixer"])
def test_role_loops_and_assistants_are_tested_by_file_and_by_name(shared: CliProject, what: str) -> None:
    shared.write("loops/pair.json", json.dumps(PAIR))
    shared.write("fixer.assistant.yaml", FIXER)
    for stem in ("loops/pair", "fixer"):
        shared.write(f"{stem}.checks.yaml", FAILING)
        shared.write(
            f"{stem}.cases.yaml",
            "tests:\n  - {name: sea, vars: {input: the sea}}\n  - {name: any, vars: {input: x}, without: [whole],"
            " assert: [{type: not-contains, value: never said}]}\n",
        )
    done = shared.call("test", what, "--mock")
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert "  whole (result, iteration 2): `never said` is not in the output" in lines
    assert lines[-1] == "1 passed, 1 failed"


@pytest.mark.parametrize("what", ["loops/pair.json", "fixer.assistant.yaml"])
def test_each_iteration_says_which_check_it_fails(shared: CliProject, what: str) -> None:
    shared.write("loops/pair.json", json.dumps(PAIR))
    shared.write("fixer.assistant.yaml", FIXER)
    warned = FAILING.replace("}]", "}, {name: tone, type: contains, value: dry, severity: warn}]")
    shared.write("loops/pair.checks.yaml", warned)
    shared.write("fixer.checks.yaml", warned)
    given = ("--goal", "x") if what.endswith(".json") else ("--input", "x")
    done = shared.call("run", what, *given, "--mock", "--check")
    assert done.returncode == 4
    assert (
        done.stdout.count("    ✗ whole: `never said` is not in the output")
        + done.stderr.count("    ✗ whole: `never said` is not in the output")
        == 2
    )
    assert "! tone: `dry` is not in the output" in done.stdout + done.stderr


SLOW = "answers:\n  - when: {contains: the sea}\n    say: a draft\n  - say: {text: late, delay: 60}\n"
TWO = "tests:\n  - {name: sea, vars: {input: the sea, reader: a}}\n  - {name: long, vars: {input: x, reader: a}}\n"


def test_ctrl_c_stops_the_run_of_a_test_case_and_tells_the_others(alone: CliProject) -> None:
    filled(alone)
    (alone.root / "summary.checks.yaml").unlink()
    alone.write("summary.answers.yaml", SLOW)
    alone.write("summary.cases.yaml", TWO)
    process = alone.popen("test", "summary.yaml", "--junit", "report.xml")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("summary.cases.yaml::sea  passed")
    deadline = time.monotonic() + 60
    while len(runs_of(alone)) < 2:
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGINT)
    told = process.stdout.read()
    assert process.wait(60) == 5, told
    assert "summary.cases.yaml::long  error" in told
    assert told.splitlines()[-1] == "1 passed, 1 without a verdict"
    states = json.loads(alone.call("runs", "--json").stdout)["runs"]
    assert [one["status"] for one in states] == ["cancelled", "completed"]
    suite = ElementTree.parse(alone.root / "report.xml").getroot()[0]
    assert [len(one) for one in suite] == [0, 1]


def test_a_test_case_does_not_wait_for_a_person_who_is_not_there(shared: CliProject) -> None:
    shared.write("asking.assistant.yaml", FIXER.replace("Fixer", "Asking") + "loopCriteria: {type: manual}\n")
    shared.write("asking.checks.yaml", 'assert: [{name: any, type: regex, value: "."}]\n')
    shared.write("asking.cases.yaml", "tests: [{name: one, vars: {input: x}}, {name: two, vars: {input: y}}]\n")
    done = shared.call("test", "asking.assistant.yaml", "--mock")
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    told = "  the run was stopped: it needs a decision, but there is no terminal to ask on"
    assert (lines.count(told), lines[-1]) == (2, "2 without a verdict")


def test_a_limit_is_told_in_the_words_of_a_run(shared: CliProject) -> None:
    shared.write("long.yaml", ONLY_LOOP.replace("only_loop", "long").replace("max_iterations: 5", "max_iterations: 1"))
    shared.write("long.answers.yaml", DRAFTS)
    shared.write("long.cases.yaml", "tests: [{name: one, vars: {input: x}}]\n")
    done = shared.call("test", "long.yaml")
    assert done.returncode == 1, done.stderr
    told = "  the run ended: limit reached, condition not met: `develop` reached its `max_iterations` of 1."
    assert done.stdout.splitlines()[1] == told
