"""`loop-ls run --start-from` and `--end-at`: a part of a workflow, on what an earlier run or the command gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import ANSWERS, CALLEE, DEVELOP, CliProject

PLANNED = DEVELOP.replace('topic: "{{input}}"', 'topic: "{{plan}}"').replace(
    "steps:\n", 'steps:\n  - {name: plan, run: "Plan {{input}}"}\n'
    "  - {name: aside, needs: [plan], if: \"{{plan}} == 'no'\", run: 'Aside'}\n"
).replace("    max_iterations: 5\n", "    max_iterations: 5\n    accumulate: drafts\n").replace(
    "Report on {{develop}}", "Report on {{develop}} of {{loop.iteration}}: {{drafts}} as {{plan}}{{aside}}"
)  # fmt: skip
#: Nothing but the report is answered, and only where it is asked about what the steps before it gave.
REPORT = """\
answers:
  - when: {step: report, contains: "Report on draft three of 3: draft one---draft two---draft three as the plan"}
    say: another report
  - when: {step: report, contains: "Report on mine"}
    say: "a report on mine"
  - say: {fail: bad_answer}
"""


@pytest.fixture
def project(shared: CliProject, tmp_path: Path) -> CliProject:
    root = tmp_path / "project"
    root.mkdir()
    own = CliProject(root, shared.data)
    own.write("draft.yaml", CALLEE)
    own.write("develop.yaml", PLANNED)
    own.write("develop.answers.yaml", ANSWERS + "  - say: the plan\n")
    return own


def ran(project: CliProject) -> str:
    done = project.call("run", "develop.yaml", "--input", "ships")
    assert (done.returncode, done.stdout) == (0, "the report\n"), done.stderr
    project.write("develop.answers.yaml", REPORT)
    return newest(project)


def newest(project: CliProject) -> str:
    return str(json.loads(project.call("runs", "--json").stdout)["runs"][0]["runId"])


def kinds(project: CliProject, run_id: str) -> list[str]:
    lines = project.call("runs", "events", run_id, "--json").stdout.splitlines()
    facts = [json.loads(line) for line in lines]
    return [str(fact.get("step")) for fact in facts if fact["kind"] == "step_started"]


def test_WB_169_a_run_begins_at_a_step_with_what_the_others_gave_before(project: CliProject) -> None:
    first = ran(project)
    done = project.call("run", "develop.yaml", "--start-from", "report")
    assert (done.returncode, done.stdout) == (0, "another report\n"), done.stderr
    assert kinds(project, newest(project)) == ["report"]
    named = project.call("run", "develop.yaml", "--start-from", "report", "--outputs-of", first)
    assert named.stdout == "another report\n", named.stderr
    again = project.call("runs", "replay", newest(project))
    assert again.returncode == 0, again.stderr
    assert kinds(project, newest(project)) == ["report"]


def test_WB_169_a_pinned_output_stands_for_a_step(project: CliProject) -> None:
    ran(project)
    words = ("run", "develop.yaml", "--start-from", "report", "--pin", "develop=mine")
    assert project.call(*words).stdout == "a report on mine\n"
    project.write("other.yaml", PLANNED.replace("develop_it", "other_it"))
    project.write("other.answers.yaml", REPORT)
    alone = project.call("run", "other.yaml", "--start-from", "report", "--pin", "develop=mine", "--input", "x")
    assert alone.returncode == 2
    assert "The output of `plan` is needed, but this file has no earlier run." in alone.stderr
    pins = ("--pin", "develop=mine", "--pin", "plan=p", "--pin", "aside=")
    given = project.call("run", "other.yaml", "--start-from", "report", *pins)
    assert (given.returncode, given.stdout) == (0, "a report on mine\n"), given.stderr


def test_a_part_can_be_run_again_and_again_and_from_further_up(project: CliProject) -> None:
    ran(project)
    for _ in range(2):
        done = project.call("run", "develop.yaml", "--start-from", "report")
        assert (done.returncode, done.stdout) == (0, "another report\n"), done.stderr
    project.write("develop.answers.yaml", ANSWERS + "  - say: the plan\n")
    above = project.call("run", "develop.yaml", "--start-from", "develop")
    assert (above.returncode, above.stdout) == (0, "the report\n"), above.stderr
    assert "report" in kinds(project, newest(project))


def test_a_typed_output_stays_for_the_next_part(project: CliProject) -> None:
    ran(project)
    typed = project.call("run", "develop.yaml", "--start-from", "report", "--pin", "develop=mine")
    assert typed.stdout == "a report on mine\n", typed.stderr
    again = project.call("run", "develop.yaml", "--start-from", "report")
    assert (again.returncode, again.stdout) == (0, "a report on mine\n"), again.stderr


def test_outputs_of_a_run_are_refused_where_all_steps_run(project: CliProject) -> None:
    first = ran(project)
    done = project.call("run", "develop.yaml", "--input", "x", "--outputs-of", first)
    assert (done.returncode, "`outputsOf` is for steps that are not run" in done.stderr) == (2, True), done.stderr
    assert newest(project) == first


def test_WB_170_a_run_ends_at_a_step(project: CliProject) -> None:
    done = project.call("run", "develop.yaml", "--input", "ships", "--end-at", "plan")
    assert (done.returncode, done.stdout) == (0, "the plan\n"), done.stderr
    assert kinds(project, newest(project)) == ["plan"]
    both = project.call("run", "develop.yaml", "--input", "ships", "--start-from", "develop", "--end-at", "develop")
    assert (both.returncode, both.stdout) == (0, "draft three\n"), both.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--start-from", "reprot"), "has no step or loop `reprot`; did you mean `report`?"),
        (("--start-from", "report", "--end-at", "plan"), "`report` runs after `plan`"),
        (("--start-from", "report", "--pin", "nobody=x"), "unknown step or loop: `nobody`"),
        (("--start-from", "report", "--pin", "nobody"), "`--pin nobody`: use the form name=value"),
        (("--start-from", "report", "--outputs-of", "f0f0f0f0"), "f0f0f0f0"),
        (("--pin", "plan=p"), "`pinned` is for steps that are not run, and without `startFrom` all of them are run."),
        (("--end-at", "plan", "--pin", "plan=p"), "Pass `startFrom` (`--start-from NAME`), or leave `pinned` out."),
        (("--outputs-of", "f0f0f0f0", "--end-at", "plan"), "f0f0f0f0"),
        (("--start-from", "report", "--pin", "report=r"), "`report` is run, so its output cannot be pinned."),
        (("--start-from", "report", "--loop", "develop"), "work on a whole workflow"),
    ],
)
def test_what_is_no_part_is_refused(project: CliProject, words: tuple[str, ...], told: str) -> None:
    done = project.call("run", "develop.yaml", "--input", "x", *words)
    assert done.returncode == 2, done.stderr
    assert told in done.stderr
