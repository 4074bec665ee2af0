"""One run as a whole: joined blocks, files it does not touch, what refuses it."""

from __future__ import annotations

import pytest

from loop_ls.engine.context.workflow_library import Library
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.runs.preflight import needed_elements, reachable, refusal
from loop_ls.testing.workflows import run, whole

WORK = "steps: [{name: work, run: 'do it'}]"

DEVELOPER = """
    steps:
      - {name: wishes, run: "What is wanted: {{input}}"}
      - {name: checks, needs: [wishes], run: "How to check {{wishes}}"}
    loops:
      - name: develop
        workflow: cycle
        with: {wishes: "{{wishes}}", checks: "{{checks}}", before: "{{loop.last.output}}", number: "{{loop.iteration}}"}
        max_iterations: 5
        until: The review says PASS
        on_failure: continue
        accumulate: story
    steps:
      - name: report
        needs: [develop]
        run: |
          Done after {{loop.iteration}} iterations.
          The code: {{develop}}
"""

CYCLE = """
    steps:
      - {name: write, run: "{{number}}: {{wishes}} / {{checks}} / {{before}}"}
      - {name: review, needs: [write], run: "{{checks}}: {{write}}"}
"""


async def test_WB_045_repeated_steps_are_joined_and_the_report_comes_last() -> None:
    script = {"wishes": "W", "checks": "C", "write": ["code 1", "code 2"], "review": ["FAIL: empty", "PASS"]}
    ran = await run({"main": DEVELOPER, "cycle": CYCLE}, {**script, "judge": ["NO", "YES"]}, input="slugs")
    assert ran.order == ["wishes", "checks", "write", "review", "judge", "write", "review", "judge", "report"]
    assert ran.prompts("write") == ["1: W / C / ", "2: W / C / FAIL: empty"]
    assert ran.prompt("report") == "Done after 2 iterations.\nThe code: PASS\n"
    assert ran.reason == "condition_met"


async def test_WB_046_a_pipeline_with_repeated_blocks_runs_as_it_reads() -> None:
    main = """
        steps: [{name: stage1, run: look around}]
        loops: [{name: develop, workflow: writing, max_iterations: 5, until: The code is there}]
        loops: [{name: test, workflow: testing, max_iterations: 3, until: The tests pass}]
        steps: [{name: deploy, needs: [develop, test], run: "Deploy {{develop}}"}]
    """
    files = {
        "main": main,
        "writing": "steps: [{name: write, run: code}]",
        "testing": "steps: [{name: try_it, run: tests}]",
    }
    ran = await run(files, {"judge": "YES"})
    assert ran.order == ["stage1", "write", "judge", "try_it", "judge", "deploy"]


async def test_WB_049_a_broken_file_that_is_not_called_does_no_harm() -> None:
    files = {"main": "steps: [{name: t, template: {name: work}}]", "work": WORK, "broken": "steps: [{nmae: x"}
    ran = await run(files)
    assert ran.order == ["work"]
    assert refused(files) is None


# -- refusals before the first call ------------------------------------------------------------------


def library(texts: str | dict[str, str]) -> Library:
    named = {"main": texts} if isinstance(texts, str) else texts
    files = {f"{key}.yaml": whole(key, text) for key, text in named.items()}
    return Library(files, {path.removesuffix(".yaml"): path for path in files})


def refused(texts: str | dict[str, str], settings: dict[str, object] | None = None) -> Failure | None:
    return refusal(library(texts), "main", settings or {})


@pytest.mark.parametrize("value", ["[1, 2]", "{a: b}"])
def test_WB_035_a_list_as_input_is_refused(value: str) -> None:
    main = f"steps: [{{name: t, template: {{name: work, with: {{input: {value}}}}}}}]"
    found = refused({"main": main, "work": WORK})
    assert found is not None
    assert found.code == "file_has_errors"
    assert "WF608" in found.message


def test_WB_044_errors_refuse_a_run_wherever_it_could_get_to() -> None:
    calling = "steps: [{name: t, template: {name: work}}]"
    found = refused({"main": calling, "work": "steps: [{name: work, runn: x}]"})
    assert found is not None
    assert found.code == "file_has_errors"
    assert "`work`" in found.message
    assert "WF006" in found.message
    found = refused(calling)
    assert found is not None
    assert (found.code, found.message) == ("file_has_errors", "unknown workflow `work` (WF601)")


def test_WB_047_a_key_repeated_in_a_step_is_refused() -> None:
    found = refused("steps:\n  - name: a\n    run: x\n    run: y\n")
    assert found is not None
    assert "WF005" in found.message


@pytest.mark.parametrize(
    ("main", "path"),
    [
        ("steps: [{name: a, needs: [b], run: x}, {name: b, needs: [a], run: x}]", "`a` → `b` → `a`"),
        (
            "steps: [{name: a, run: '{{c}}'}, {name: b, needs: [a], run: x}, {name: c, run: '{{b}}'}]",
            "`a` → `c` → `b` → `a`",
        ),
    ],
)
def test_WB_059_a_circle_is_refused_and_named(main: str, path: str) -> None:
    found = refused(main)
    assert found is not None
    assert found.code == "file_has_errors"
    assert path in found.message


def test_WB_090_nobody_who_can_judge_is_a_reason_not_to_begin() -> None:
    main = "execution: {}\nloops: [{name: l, workflow: work, max_iterations: 1, until: All is well}]"
    work = "execution: {}\n" + WORK
    found = refused({"main": main, "work": work})
    assert found is not None
    assert found.code == "provider_unavailable"
    assert refused({"main": main, "work": work}, {"assist": {"provider": "a", "model": "b"}}) is None


def test_WB_165_a_run_for_one_element_needs_only_what_it_depends_on() -> None:
    main = """
        steps:
          - {name: a, run: x}
          - {name: b, run: "{{a}}"}
          - {name: c, template: {name: missing}}
    """
    lib = library(main)
    assert needed_elements(lib.workflow("main"), "b") == ("a", "b")
    assert refusal(lib, "main", {}, ("a", "b")) is None
    with pytest.raises(Failure, match="no step or loop `d`"):
        needed_elements(lib.workflow("main"), "d")


def test_WB_049_only_what_can_be_reached_is_read() -> None:
    lib = library({"main": "steps: [{name: t, template: {name: work}}]", "work": WORK, "other": "broken: ["})
    assert reachable(lib, "main") == ("main", "work")
