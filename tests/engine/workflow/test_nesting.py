"""Workflows that call workflows."""

from __future__ import annotations

from typing import Any

from loop_ls.testing.models import failure
from loop_ls.testing.workflows import run

LEAF = "steps: [{name: leaf, run: 'leaf {{input}}'}]"


def loops(workflow: str, limit: int, more: str = "") -> str:
    return f"loops: [{{name: l, workflow: {workflow}, max_iterations: {limit}, until: 'It says DONE'{more}}}]"


async def test_WB_103_limits_multiply() -> None:
    files = {"main": loops("inner", 3), "inner": loops("leaf", 5), "leaf": LEAF}
    ran = await run(files, {"judge": "NO"})
    assert len(ran.prompts("leaf")) == 15
    assert len(ran.prompts("judge")) == 18
    assert ran.outcome.iterations == 3


async def test_WB_104_an_inner_loop_does_not_touch_the_outer_one() -> None:
    inner = """
        loops: [{name: l, workflow: leaf, max_iterations: 2, until: "It says DONE"}]
        steps:
          - {name: before, run: "{{loop.iteration}} {{loop.last.output}}", execution_order: 1}
          - {name: after, needs: [l], run: "{{loop.iteration}} {{loop.output}}"}
    """
    main = loops("inner", 2, ", with: {n: '{{loop.iteration}}', last: '{{loop.last.output}}'}")
    script = {"judge": "NO", "leaf": ["A", "B", "C", "D"], "after": ["first", "second"]}
    ran = await run(
        {
            "main": main,
            "inner": inner.replace("{{loop.iteration}} {{loop.last.output}}", "{{n}} {{last}}"),
            "leaf": LEAF,
        },
        script,
    )
    assert ran.prompts("before") == ["1 ", "2 first"]
    assert ran.prompts("after") == ["2 B", "2 D"]


async def test_WB_104_the_inner_loop_starts_with_variables_of_its_own() -> None:
    inner = loops("leaf", 2, ", with: {input: '{{loop.iteration}} {{loop.last.output}}'}")
    ran = await run(
        {"main": loops("inner", 2), "inner": inner, "leaf": LEAF},
        {
            "judge": "NO",
            "leaf": ["A", "B", "C", "D"],
        },
    )
    assert ran.prompts("leaf") == ["leaf 1 ", "leaf 2 A", "leaf 1 ", "leaf 2 C"]


async def test_WB_105_a_bare_name_means_the_callers_folder_first() -> None:
    files: dict[str, Any] = {
        "d/main": """
            steps: [{name: t, template: {name: x}}]
            loops: [{name: l, workflow: x, max_iterations: 1, until: "It says DONE"}]
        """,
        "x": "steps: [{name: of_root, run: go}]",
        "d/x": "steps: [{name: of_folder, run: go}]",
    }
    ran = await run(files, {"judge": "NO"})
    assert ran.order == ["of_folder", "of_folder", "judge"]


async def test_WB_106_a_callee_finds_its_own_neighbours() -> None:
    files = {
        "main": loops("deep/down/work", 1),
        "deep/down/work": "steps: [{name: t, template: {name: neighbour}}]",
        "deep/down/neighbour": LEAF,
    }
    ran = await run(files, {"judge": "NO"})
    assert ran.prompts("leaf") == ["leaf "]


async def test_C10_references_are_resolved_as_the_checker_does() -> None:
    def calling(reference: str) -> dict[str, str]:
        return {
            "d/main": f"steps: [{{name: t, template: {{name: {reference}}}}}]",
            "x": "steps: [{name: root_x, run: go}]",
            "d/x": "steps: [{name: d_x, run: go}]",
            "d/e/y": "steps: [{name: y, run: go}]",
        }

    assert (await run(calling("x"))).order == ["d_x"]
    assert (await run(calling("d/x"))).order == ["d_x"]
    for reference, meant in (("y", "d/e/y"), ("e/y", "d/e/y"), ("X", "x")):
        ran = await run(calling(reference))
        assert ran.outcome.failure is not None
        assert ran.outcome.failure.message == f"unknown workflow `{reference}`"
        assert ran.outcome.failure.hint == f"did you mean `{meant}`?"


async def test_WB_107_calls_end_at_16_levels() -> None:
    chain = {f"w{n}": f"steps: [{{name: t, template: {{name: w{n + 1}}}}}]" for n in range(17)}
    files = {**chain, "w17": LEAF}
    ran = await run(files)
    assert ran.models.requests == []
    assert ran.reason == "error"
    assert "16 levels deep" in ran.of("step_failed")[0]["error"]["message"]

    del files["w0"]
    ran = await run(files)  # one level less
    assert ran.order == ["leaf"]


async def test_WB_107_the_callers_on_failure_decides_about_it() -> None:
    files = {
        "main": "steps: [{name: t, on_failure: continue, template: {name: self}}, {name: end, needs: [t], run: x}]",
        "self": "steps: [{name: again, template: {name: self}}]",
    }
    ran = await run(files)
    assert ran.order == ["end"]
    assert ran.reason == "completed"


async def test_WB_108_a_failure_climbs_one_loop_at_a_time() -> None:
    files = {
        "main": loops("inner", 3, ", on_failure: continue"),
        "inner": loops("leaf", 5, ", on_failure: halt"),
        "leaf": LEAF,
    }
    ran = await run(files, {"judge": ["NO", "NO", "NO", "YES", "YES"], "leaf": ["A", "B", failure("gone"), "D"]})
    outer = [body for body in ran.of("iteration_failed") if "depth" not in body]
    assert [body["iteration"] for body in outer] == [1]
    assert "gone" in outer[0]["error"]["message"]
    assert ran.output == "D"
