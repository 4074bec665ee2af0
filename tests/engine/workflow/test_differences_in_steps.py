"""Where documents and implementation of the language part, in steps and workflows: ours, by number."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loop_ls.testing.models import SILENCE, failure
from loop_ls.testing.workflows import run


@pytest.mark.parametrize(
    ("condition", "runs"),
    [("{{a}}", True), ('${{ a == "yes" }}', True), ("{{a}} == 'NO'", False), ("{{a}} != 'NO'", True), ("{{b}}", False)],
)
async def test_D21_comparisons_in_if_compare(condition: str, runs: bool) -> None:
    text = f"steps: [{{name: a, run: x}}, {{name: s, if: {json.dumps(condition)}, run: y}}]"
    assert ("s" in (await run(text, {"a": " YES "})).order) is runs


async def test_D22_a_lone_model_takes_its_provider_from_execution() -> None:
    done = await run("steps: [{name: a, model: small, run: x}]")
    assert [(each.provider, each.model) for each in done.models.requests] == [("acme", "small")]


async def test_D23_temperature_tokens_and_time_limit_are_inherited_and_sent() -> None:
    text = """
        execution: {provider: acme, model: m, temperature: 0.2, max_tokens: 9, timeout: 4s}
        steps: [{name: a, run: x}, {name: b, temperature: 0, max_tokens: 5, timeout: 2s, run: x}]
    """
    done = await run(text)
    asked = [(each.temperature, each.max_tokens, each.timeout) for each in done.models.requests]
    assert asked == [(0.2, 9, 4.0), (0.0, 5, 2.0)]


async def test_D24_without_a_timeout_the_providers_own_counts() -> None:
    assert (await run("steps: [{name: a, run: x}]")).models.requests[0].timeout is None


async def test_D26_rag_without_a_server_searches_the_configured_one() -> None:
    settings = {"rag": {"server": "docs", "stores": {"docs": {"server": "things"}}}}
    done = await run("steps: [{name: r, rag: {query: x}}]", settings=settings, mock=True)
    assert "mock result 1 for: x" in done.output


async def test_D28_an_execution_of_a_consensus_names_provider_and_model_and_has_no_tools() -> None:
    text = """
        execution: {provider: acme, model: m, servers: [things]}
        steps:
          - name: c
            consensus:
              prompt: x
              require: majority
              executions: [{provider: one, model: a}, {provider: two, model: b}]
    """
    done = await run(text)
    assert [(each.provider, each.model, each.tools) for each in done.models.requests] == [
        ("one", "a", ()),
        ("two", "b", ()),
    ]


async def test_D29_in_parallel_a_step_waits_for_what_it_needs_loops_included() -> None:
    files = {
        "main": """
            execution: {provider: acme, model: m, parallel: true}
            loops: [{name: l, workflow: work, max_iterations: 1, until: x}]
            steps: [{name: late, needs: [l], run: 'after {{l}}'}, {name: free, run: x}]
        """,
        "work": "steps: [{name: work, run: x}]",
    }
    done = await run(files, {"judge": "NO", "work": "made"})
    assert done.prompt("late") == "after made"


async def test_D30_in_parallel_on_error_continue_runs_everything_else_and_ends_as_failed() -> None:
    text = """
        execution: {provider: acme, model: m, parallel: true, max_workers: 1, on_error: continue}
        steps: [{name: a, run: x}, {name: b, run: x}, {name: c, run: x}]
    """
    done = await run(text, {"a": failure()})
    assert (sorted(done.order), done.reason) == (["a", "b", "c"], "error")


async def test_D31_a_step_is_retried() -> None:
    done = await run(
        "steps: [{name: a, on_failure: retry, max_retries: 2, run: x}]", {"a": [failure(), failure(), "ok"]}
    )
    assert (done.output, len(done.order)) == ("ok", 3)


async def test_D33_a_variable_of_the_environment_is_put_into_env() -> None:
    text = "env: {H: 'at ${PLACE}'}\nsteps: [{name: a, run: '{{env.H}}'}]"
    assert (await run(text, environment={"PLACE": "home"})).prompt("a") == "at home"


async def test_D34_nothing_is_looked_up_inside_of_a_value() -> None:
    text = "steps: [{name: a, input: {key: v}, run: '{{input.key}}'}]"
    assert (await run(text, input='{"key": "v"}')).prompt("a") == "{{input.key}}"


async def test_D36_a_workflow_with_loops_only_runs_and_its_result_is_that_of_the_last_loop() -> None:
    main = "loops: [{name: l, workflow: work, max_iterations: 2, until: x}]"
    done = await run({"main": main, "work": "steps: [{name: work, run: x}]"}, {"judge": "NO", "work": ["A", "B"]})
    assert done.output == "B"


async def test_D40_an_unknown_name_in_a_prompt_stays_as_written_with_a_warning() -> None:
    done = await run("steps: [{name: a, run: 'see {{nothing}}'}]")
    assert done.prompt("a") == "see {{nothing}}"
    assert len(done.warnings) == 1


async def test_D41_inserted_values_are_never_looked_at_again() -> None:
    text = "steps: [{name: a, run: x}, {name: b, run: '{{a}} {{input}}'}]"
    assert (await run(text, {"a": "{{input}}"}, input="V")).prompt("b") == "{{input}} V"


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [("YES", "yes ", True), ("Success!", "all success", False), ("No failures", "FAIL", False)],
)
async def test_D42_whole_answers_are_compared_and_no_word_in_them_is_special(one: str, other: str, agree: bool) -> None:
    text = """
        steps:
          - name: validate_it
            consensus:
              prompt: x
              require: unanimous
              executions: [{provider: a, model: m}, {provider: b, model: m}]
    """
    done = await run(text, {"validate_it": [one, other]})
    assert (done.reason == "completed") is agree


async def test_D43_the_result_is_that_of_the_last_step_that_ran_be_it_a_loop() -> None:
    main = """
        steps:
          - {name: a, run: x}
          - {name: l, loop: {workflow: work, max_iterations: 1, until: x}}
          - {name: never, if: "", run: x}
    """
    done = await run({"main": main, "work": "steps: [{name: work, run: x}]"}, {"judge": "NO", "work": "from the loop"})
    assert done.output == "from the loop"


async def test_D46_the_output_of_embeddings_is_json_whatever_output_format_says() -> None:
    done = await run("steps: [{name: v, embeddings: {input: x, output_format: csv}}]")
    assert json.loads(done.output)["total_chunks"] == 1


@pytest.mark.parametrize("policy", ["cancel_all", "complete_running"])
async def test_D30_the_other_policies_start_nothing_new(policy: str) -> None:
    text = f"""
        execution: {{provider: acme, model: m, parallel: true, max_workers: 2, on_error: {policy}}}
        steps: [{{name: bad, run: x}}, {{name: slow, timeout: 9s, run: x}}, {{name: later, run: x}}]
    """
    script: dict[str, Any] = {"bad": failure(), "slow": SILENCE}
    assert "later" not in (await run(text, script)).order
