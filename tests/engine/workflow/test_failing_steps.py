"""What a failing step does to its workflow."""

from __future__ import annotations

import pytest

from loop_ls.testing.models import failure
from loop_ls.testing.workflows import run

WORK = "steps: [{name: work, run: 'do it'}]"
RUN = "run: x"
TEMPLATE = "template: {name: work}"


def failing(mode: str, more: str = "", head: str = "") -> dict[str, str]:
    main = f"""
{head}
steps:
  - {{name: a, {mode}{more}}}
  - {{name: b, needs: [a], run: "[{{{{a}}}}]"}}
"""
    return {"main": main, "work": WORK}


@pytest.mark.parametrize("mode", [RUN, TEMPLATE])
async def test_WB_109_continue_leaves_empty_text(mode: str) -> None:
    ran = await run(failing(mode, ", on_failure: continue"), {"a": failure(), "work": failure(), "b": "fine"})
    assert ran.prompt("b") == "[]"
    assert (ran.output, ran.reason) == ("fine", "completed")
    assert ran.of("step_failed")[-1]["step"] == "a"


@pytest.mark.parametrize("mode", [RUN, TEMPLATE])
async def test_WB_110_without_a_policy_the_workflow_fails(mode: str) -> None:
    ran = await run(failing(mode), {"a": failure("no luck"), "work": failure("no luck")})
    assert ran.prompts("b") == []
    assert ran.reason == "error"
    assert ran.outcome.failure is not None
    assert "no luck" in ran.outcome.failure.message


@pytest.mark.parametrize(
    ("policy", "goes_on"), [("continue", True), ("cancel_all", False), ("complete_running", False), ("halt", False)]
)
async def test_WB_111_on_error_is_the_policy_of_steps_without_one(policy: str, goes_on: bool) -> None:
    head = f"execution: {{provider: acme, model: large, on_error: {policy}}}"
    ran = await run(failing(RUN, head=head), {"a": failure()})
    assert (ran.prompts("b") == ["[]"]) is goes_on
    assert ran.reason == ("completed" if goes_on else "error")


async def test_WB_111_the_steps_own_policy_counts_first() -> None:
    head = "execution: {provider: acme, model: large, on_error: continue}"
    ran = await run(failing(RUN, ", on_failure: halt", head=head), {"a": failure()})
    assert ran.reason == "error"


@pytest.mark.parametrize(("written", "tries"), [("", 4), (", max_retries: 1", 2), (", max_retries: 0", 1)])
@pytest.mark.parametrize(("mode", "name"), [(RUN, "a"), (TEMPLATE, "work")])
async def test_WB_112_a_step_is_tried_again_so_many_times(mode: str, name: str, written: str, tries: int) -> None:
    ran = await run(failing(mode, f", on_failure: retry{written}"), {name: failure()})
    assert len(ran.prompts(name)) == tries
    assert len(ran.of("retrying")) == tries - 1
    assert (ran.reason, ran.prompts("b")) == ("error", [])


@pytest.mark.parametrize(("mode", "name"), [(RUN, "a"), (TEMPLATE, "work")])
async def test_WB_112_a_try_that_succeeds_counts(mode: str, name: str) -> None:
    ran = await run(failing(mode, ", on_failure: retry"), {name: [failure(), failure(), "done"]})
    assert ran.prompt("b") == "[done]"
    assert all(request.attempts == 1 for request in ran.models.asked(name)) or mode == TEMPLATE


async def test_WB_113_a_failing_step_level_loop_can_leave_empty_text() -> None:
    mode = "loop: {workflow: work, max_iterations: 3, until: It says DONE}"
    ran = await run(failing(mode, ", on_failure: continue"), {"work": failure()})
    assert ran.prompt("b") == "[]"
    assert ran.reason == "completed"
