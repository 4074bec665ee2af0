"""The life of an iterate loop."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from loop_ls.contract.endings import exit_code
from loop_ls.testing.models import SILENCE, failure
from loop_ls.testing.workflows import Ran, lab, run

WORK = "steps: [{name: work, run: '{{item}}'}]"
FIVE = '["a", "b", "c", "d", "e"]'


async def loop(items: str, more: str = "", callee: str = WORK, limit: int = 20, after: str = "x", **script: Any) -> Ran:
    main = f"""
        loops:
          - name: l
            mode: iterate
            items: '{items}'
            workflow: work
            max_iterations: {limit}
            accumulate: all
{more}
        steps: [{{name: end, needs: [l], run: "{after}"}}]
    """
    return await run({"main": main, "work": callee}, script)


def keys(*lines: str) -> str:
    return "\n".join(f"            {line}" for line in lines)


async def test_WB_125_no_items_are_nothing_to_do() -> None:
    ran = await loop("[]", after="[{{l}}]")
    assert ran.order == ["end"]
    assert ran.prompt("end") == "[]"
    assert ran.completed("l")["reason"] == "no_items"
    assert exit_code("completed", ran.reason) == 0


@pytest.mark.parametrize("items", ["{{input}}", "{{nobody}}"])
async def test_WB_126_without_readable_items_the_loop_fails(items: str) -> None:
    ran = await loop(items, keys("on_failure: continue"))
    assert ran.reason == "error"
    assert ran.models.requests == []


async def test_WB_128_items_beyond_the_limit_are_left_out_with_a_warning() -> None:
    ran = await loop(json.dumps(list(range(12))), limit=10)
    assert len(ran.prompts("work")) == 10
    assert any("2 are skipped" in warning for warning in ran.warnings)
    ran = await loop(json.dumps(list(range(3))), limit=2)
    assert any("1 is skipped" in warning for warning in ran.warnings)


async def test_items_that_failed_are_told_where_the_loop_goes_on_without_them() -> None:
    ran = await loop('["a", "b", "c"]', keys("on_failure: continue"), work=["A", failure(), "C"])
    assert [warning for warning in ran.warnings if "failed" in warning] == [
        "1 of 3 items of `l` failed and is missing in its output"
    ]
    assert not (await loop('["a", "b"]', keys("on_failure: continue"))).warnings


async def test_WB_129_the_input_is_valid_json_with_sorted_keys() -> None:
    main = """
        steps: [{name: list, run: x}]
        loops:
          - name: l
            mode: iterate
            items: "{{list}}"
            workflow: work
            max_iterations: 9
            with: {zeta: "said {{list}}", alpha: [1, "{{input}}"]}
    """
    item = 'a "quoted"\nitem'
    callee = "steps: [{name: work, run: '{{input}}'}, {name: alone, run: '{{item}}'}]"
    ran = await run({"main": main, "work": callee}, {"list": json.dumps([item])}, input='"in"')
    given = json.loads(ran.prompt("work"))
    assert given == {"alpha": [1, '"in"'], "item": item, "zeta": f"said {json.dumps([item])}"}
    assert list(given) == sorted(given)
    assert ran.prompt("alone") == item


async def test_WB_130_loop_variables_of_an_item() -> None:
    arguments = keys(
        "on_failure: continue",
        "with:",
        '  s: "{{loop.index}}/{{loop.count}} {{loop.current}} {{loop.stats.succeeded}}:{{loop.stats.failed}}"',
    )
    callee = "steps: [{name: work, run: '{{s}}'}]"
    ran = await loop('["x", {"k": [1, "é"]}, 2.5]', arguments, callee, work=["A", failure(), "C"])
    assert ran.prompts("work") == ["0/3 x 0:0", '1/3 {"k":[1,"é"]} 1:0', "2/3 2.5 1:1"]


async def test_WB_131_aliases_equal_the_proper_names() -> None:
    arguments = keys("with:", '  s: "{{loop.item}} {{loop.total}} {{loop.succeeded}} {{loop.failed}}"')
    ran = await loop('["x", "y"]', arguments, "steps: [{name: work, run: '{{s}}'}]")
    assert ran.prompts("work") == ["x 2 0 0", "y 2 1 0"]


async def test_WB_132_an_item_whose_tries_are_used_up_counts_as_failed() -> None:
    more = keys("on_failure: retry", "max_retries: 2", "retry_delay: 3s")
    ran = await loop('["bad", "good"]', more, work=lambda request: failure() if request.prompt == "bad" else "fine")
    assert ran.prompts("work") == ["bad"] * 3 + ["good"]
    assert ran.recorder.slept == [3.0, 3.0]
    assert ran.completed("l")["reason"] == "completed"
    assert ran.completed("l")["output"] == "fine"


async def test_WB_133_continue_goes_on() -> None:
    ran = await loop(FIVE, keys("on_failure: continue"), work=["A", failure(), "C", "D", "E"])
    assert ran.prompts("work") == ["a", "b", "c", "d", "e"]
    assert ran.prompts("end") == ["x"]


@pytest.mark.parametrize("more", ["", keys("on_failure: halt")])
async def test_WB_133_halt_or_nothing_fails_loop_and_workflow(more: str) -> None:
    ran = await loop(FIVE, more, work=["A", failure("no luck"), "C"])
    assert ran.prompts("work") == ["a", "b"]
    assert (ran.reason, ran.prompts("end")) == ("error", [])
    assert "no luck" in ran.of("step_failed")[-1]["error"]["message"]


async def test_WB_134_outputs_are_those_of_the_successful_items_in_order() -> None:
    ran = await loop('["a", "b", "c"]', keys("on_failure: continue"), after="{{l}} {{all}}", work=["A", "B", failure()])
    assert ran.prompt("end") == "B A---B"
    assert ran.completed("l")["reason"] == "completed"


async def test_WB_135_too_few_successes_fail_the_workflow() -> None:
    answers = ["x"] * 8 + [failure(), failure()]
    ran = await loop(json.dumps(list(range(10))), keys("on_failure: continue", "min_success_rate: 0.9"), work=answers)
    assert ran.reason == "success_rate_not_met"
    assert ran.prompts("end") == []
    ran = await loop(json.dumps(list(range(10))), keys("on_failure: continue", "min_success_rate: 0.8"), work=answers)
    assert ran.reason == "completed"


async def test_WB_136_totals_afterwards() -> None:
    after = "{{loop.iterations}} {{loop.succeeded}} {{loop.failed}} {{loop.output}}"
    ran = await loop('["a", "b", "c"]', keys("on_failure: continue"), after=after, work=["A", failure(), "C"])
    assert ran.prompt("end") == "3 2 1 C"


async def test_WB_137_an_item_over_time_fails() -> None:
    ran = await loop('["a", "b"]', keys("on_failure: continue", "timeout_per_item: 5s"), work=[SILENCE, "B"])
    assert asyncio.get_running_loop().time() == pytest.approx(5, abs=0.5)
    assert ran.of("iteration_failed")[0]["error"]["code"] == "timeout"
    assert ran.completed("l")["output"] == "B"


@pytest.mark.parametrize("workers", ["parallel: false", "parallel: true"])
async def test_WB_137_a_loop_over_its_total_time_fails(workers: str) -> None:
    ran = await loop(FIVE, keys("on_failure: continue", "total_timeout: 1m", workers), work=["A", SILENCE])
    assert asyncio.get_running_loop().time() == pytest.approx(60, abs=0.5)
    assert ran.reason == "timeout"
    assert ran.models.running == 0


async def test_WB_138_three_at_a_time_and_in_the_order_of_items() -> None:
    it = lab(
        {
            "main": f"""
                loops:
                  - name: l
                    mode: iterate
                    items: '{json.dumps(list(range(10)))}'
                    workflow: work
                    max_iterations: 10
                    parallel: true
                    accumulate: all
                steps: [{{name: end, needs: [l], run: "{{{{l}}}} {{{{all}}}}"}}]
            """,
            "work": WORK,
        },
        {"work": lambda request: request.prompt},
    )
    it.models.wait = lambda request: 10.0 - int(request.prompt) if request.prompt.isdigit() else 0.0
    ran = await it.run()
    assert ran.models.most_at_once == 3
    assert ran.prompt("end") == "9 " + "---".join(str(n) for n in range(10))


async def test_WB_139_name_and_accumulate_can_be_read_after_a_parallel_loop() -> None:
    ran = await loop('["a", "b"]', keys("parallel: true"), after="{{l}} {{all}}", work=lambda r: r.prompt.upper())
    assert ran.prompt("end") == "B A---B"


async def test_WB_140_under_halt_nothing_new_begins_after_a_failure() -> None:
    more = keys("parallel: true", "max_workers: 2")
    ran = await loop(FIVE, more, work=lambda request: failure() if request.prompt == "b" else "fine")
    assert sorted(ran.prompts("work")) in (["a", "b"], ["a", "b", "c"])  # c may have begun before b failed
    assert ran.reason == "error"
    assert ran.of("iteration")[0]["item"] == "ITEM-000"


async def test_WB_162_a_restart_repeats_no_finished_item() -> None:
    main = f"""
        loops:
          - {{name: l, mode: iterate, items: '{FIVE}', workflow: work, max_iterations: 9, parallel: true}}
    """
    it = lab({"main": main, "work": WORK}, {"work": lambda request: request.prompt})
    ran = await it.run()
    again = await it.restarted()
    assert again.recorder.worked == []
    assert again.outcome == ran.outcome
