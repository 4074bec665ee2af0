"""`loop-ls enhance`: rounds around a workflow without an editor; the file itself is mended."""

from __future__ import annotations

import json

from tests.cli.conftest import CliProject

BROKEN = """\
# A report.
$schema: "workflow/v2.0"
name: report
version: 1.0.0
execution: {provider: scripted, model: m}
steps:
  # the first words
  - {name: draft, run: "Write about {{input}}"}
  - name: review   # refused without a tone
    needs: [draft]
    run: Review {{draft}}
  - name: publish
    needs: [review]
    run: 'Publish {{review}}'
"""
MENDED = BROKEN.replace("run: Review {{draft}}", "run: Review {{draft}} kindly")
ANSWERS = """\
answers:
  - when: {purpose: planner}
    say: |
      {"rationale": "No tone is named.",
       "ops": [{"op": "set_instructions", "target": "review", "run": "Review {{draft}} kindly", "reason": "a tone"}]}
  - when: {step: review, contains: kindly}
    say: A good review.
  - when: {step: review}
    say: {fail: bad_answer}
  - when: {step: publish}
    say: the report
  - say: fine
"""


def test_EB_123_a_broken_workflow_converges_in_round_2_and_its_file_is_mended(alone: CliProject) -> None:
    file = alone.write("report.yaml", BROKEN)
    alone.write("report.answers.yaml", ANSWERS)
    done = alone.call("enhance", "report.yaml", "--input", "tea")
    assert (done.returncode, done.stdout) == (0, "the report\n"), done.stderr
    assert "✓ converged in round 2" in done.stderr
    assert "round 1: failed review, publish; set_instructions review" in done.stderr
    assert "NO   review: bad output; publish: skipped" in done.stderr
    assert file.read_text() == MENDED
    [run_id] = [one["runId"] for one in json.loads(alone.call("runs", "--json").stdout)["runs"]]
    told = alone.call("enhance", "--timeline", run_id).stdout
    parts = ["## Round 1: failed", "### What failed", "### Proposed", "### Applied", "### Why", "No tone is named."]
    assert [
        part for part in [*parts, "+    run: Review {{draft}} kindly", "## Round 2: converged"] if part not in told
    ] == []


def test_feedback_from_a_file_that_is_not_there_is_refused(alone: CliProject) -> None:
    done = alone.call("enhance", "--feedback", "no-such-run", "--text", "@nofile")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "the input @nofile cannot be read" in done.stderr


def test_a_failing_check_is_not_passed_over_whatever_the_planner_proposes(alone: CliProject) -> None:
    checked = BROKEN.replace(
        "  - name: publish", "  - {name: check, run: 'Look at {{draft}}: PASS or FAIL?'}\n  - name: publish"
    )
    file = alone.write("report.yaml", checked)
    passes_over = '{"op": "set_on_failure", "target": "check", "on_failure": "continue"}'
    answers = ANSWERS.replace(
        '{"op": "set_instructions", "target": "review", "run": "Review {{draft}} kindly", "reason": "a tone"}',
        passes_over,
    ).replace("  - say: fine", "  - when: {step: check}\n    say: {fail: bad_answer}\n  - say: fine")
    alone.write("report.answers.yaml", answers)
    done = alone.call("enhance", "report.yaml", "--input", "tea")
    assert done.returncode != 0
    assert "converged" not in done.stderr
    assert file.read_text() == checked
    [run_id] = [one["runId"] for one in json.loads(alone.call("runs", "--json").stdout)["runs"]]
    told = alone.call("enhance", "--timeline", run_id).stdout
    assert "`set_on_failure` `check`: " in told
    assert "(hides_failure)" in told.replace("\\", "")


CASES = """\
tests:
  - {name: sea, vars: {input: the sea}}
  - {name: hills, vars: {input: the hills}}
"""


def test_cases_beside_the_file_are_what_the_command_tries_plans_on(alone: CliProject) -> None:
    file = alone.write("report.yaml", BROKEN)
    alone.write("report.answers.yaml", ANSWERS)
    alone.write("report.cases.yaml", CASES)
    alone.write(".loop-ls.yaml", "enhance: {minPassRate: 0.5}\n")
    done = alone.call("enhance", "report.yaml")
    assert (done.returncode, done.stdout) == (0, "the report\n"), done.stderr
    assert "! Up to 60 real runs on 2 cases and 0 held out, for at most $5.00." in done.stderr
    assert "6 of 6 trials passed" in done.stderr
    assert file.read_text() == MENDED
    [run_id] = [one["runId"] for one in json.loads(alone.call("runs", "--json").stdout)["runs"]]
    shown = alone.call("runs", "show", run_id).stdout
    assert "  remark    6 of 6 trials passed" in shown, shown


def test_what_cases_may_cost_is_what_the_start_allows(alone: CliProject) -> None:
    alone.write("report.yaml", BROKEN)
    alone.write("report.answers.yaml", ANSWERS)
    alone.write("report.cases.yaml", CASES)
    alone.write(".loop-ls.yaml", "enhance: {minPassRate: 0.5}\n")
    done = alone.call("enhance", "report.yaml", "--budget-usd", "0.5")
    assert "! Up to 60 real runs on 2 cases and 0 held out, for at most $0.50." in done.stderr
    [run_id] = [one["runId"] for one in json.loads(alone.call("runs", "--json").stdout)["runs"]]
    assert " of $0.50" in alone.call("enhance", "--status", run_id).stdout
    mock = alone.call("enhance", "report.yaml", "--mock")
    assert "! Up to 60 mock runs on 2 cases and 0 held out, at no cost." in mock.stderr


CALLING = """\
$schema: workflow/v2.0
name: report
version: 1.0.0
execution: {provider: scripted, model: m}
steps:
  - {name: draft, template: {name: part, with: {input: "{{input}}"}}}
  - {name: publish, run: "Publish {{draft}}"}
"""
PART = """\
$schema: workflow/v2.0
name: part
version: 1.0.0
execution: {provider: scripted, model: m}
steps:
  - {name: words, run: "Write about {{input}}"}
"""
PLAN_FOR_PART = (
    '{"rationale": "a tone", "ops": [{"op": "set_instructions", "target": "words", "file": "parts/part.yaml", '
    '"run": "Write kindly about {{input}}", "reason": "a tone"}, '
    '{"op": "set_instructions", "target": "nobody", "run": "x", "reason": "y"}]}'
)


def test_EB_133_the_command_changes_a_called_file_that_the_settings_allow(alone: CliProject) -> None:
    main, called = alone.write("report.yaml", CALLING), alone.write("parts/part.yaml", PART)
    answers = (
        "answers:\n  - when: {step: words, contains: kindly}\n    say: kind words\n"
        "  - when: {step: words}\n    say: {fail: bad_answer}\n"
        f"  - when: {{purpose: planner}}\n    say: '{PLAN_FOR_PART}'\n  - say: the report\n"
    )
    alone.write("report.answers.yaml", answers)
    alone.write(".loop-ls.yaml", "workflowRoots: [parts]\nenhance: {files: [parts/part.yaml]}\n")
    done = alone.call("enhance", "report.yaml", "--input", "tea")
    assert (done.returncode, done.stdout) == (0, "the report\n"), done.stderr
    assert "  One clean run with one input and no test cases.\n" in done.stderr
    assert "! Plans may also edit `parts/part.yaml` (`enhance.files`)." in done.stderr
    assert called.read_text() == PART.replace("Write about", "Write kindly about")
    said = ("    why: a tone", "    refused: set_instructions nobody: unknown step or loop `nobody`")
    assert [line for line in done.stderr.splitlines() if line in said] == list(said)
    assert main.read_text() == CALLING
    [run_id] = [one["runId"] for one in json.loads(alone.call("runs", "--json").stdout)["runs"]]
    told = alone.call("enhance", "--timeline", run_id).stdout
    assert "words in parts/part.yaml" in told.replace("\\", "")
    assert "parts/part.yaml (after)" in told
    called.write_text(changed := f"{called.read_text()}# mine\n")
    refused = alone.call("enhance", "--revert", run_id)
    assert (refused.returncode, called.read_text()) == (2, changed)
    assert f"{called} was changed after the loop, so nothing was restored." in refused.stderr
    called.write_text(changed.removesuffix("# mine\n"))
    assert alone.call("enhance", "--revert", run_id).returncode == 0
    assert (called.read_text(), main.read_text()) == (PART, CALLING)


def test_EB_136_a_file_that_is_half_typed_in_a_pause_is_told_where_one_answers(alone: CliProject) -> None:
    file = alone.write("report.yaml", BROKEN)
    alone.write("report.answers.yaml", ANSWERS)
    alone.write(".loop-ls.yaml", "enhance: {pauseBetweenRounds: true}\n")
    run_id = json.loads(alone.call("enhance", "report.yaml", "--input", "tea", "--detach", "--json").stdout)["runId"]
    status(alone, run_id, "awaiting user")
    file.write_text(typed := BROKEN + "  - name: [\n")
    assert alone.call("enhance", "--continue", run_id).returncode == 0
    told = status(alone, run_id, "conflict")
    assert "`report.yaml` cannot be run: line 15: Unclosed `[`" in told
    assert "Fix it and continue, or continue without it" in told
    assert file.read_text() == typed
    file.write_text(BROKEN + "# mine\n")
    assert alone.call("enhance", "--continue", run_id).returncode == 0
    status(alone, run_id, "converged")
    assert file.read_text() == MENDED + "# mine\n"


def status(alone: CliProject, run_id: str, wanted: str) -> str:
    for _ in range(100):
        told = alone.call("enhance", "--status", run_id).stdout
        if told.startswith(wanted):
            return told
    raise AssertionError(told)
