"""Whom a step asks and with which parameters."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelReply, ModelRequest, Waiting
from loop_ls.testing.models import SILENCE, ScriptedModels, failure
from loop_ls.testing.workflows import lab, run

CHAIN = "providers: [{provider: one, model: a}, {provider: two, model: b}, {provider: three, model: c}]"
OTHER_CHAIN = "providers: [{provider: x, model: d}, {provider: y, model: e}]"


async def asked(step: str = "", execution: str = "", *answers: object) -> list[str]:
    """Who was asked, in order."""
    main = f"execution: {{{execution}}}\nsteps: [{{name: a, run: go{', ' if step else ''}{step}}}]"
    ran = await run(main, {"a": list(answers) or "ok"})
    return [f"{request.provider}/{request.model}" for request in ran.models.requests]


async def test_WB_114_a_chain_is_asked_in_order_each_once() -> None:
    main = f"execution: {{}}\nsteps: [{{name: a, run: go, {CHAIN}}}]"
    ran = await run(main, {"a": [failure(), failure(), "third"]})
    assert [request.provider for request in ran.models.requests] == ["one", "two", "three"]
    assert [request.attempts for request in ran.models.requests] == [1, 1, 1]
    assert [request.patient for request in ran.models.requests] == [False, False, True], "nobody comes after the last"
    assert ran.output == "third"
    assert [("error" in body, body["provider"]) for body in ran.of("call")] == [
        (True, "one"),
        (True, "two"),
        (False, "three"),
    ]


async def test_WB_114_if_all_of_them_fail_the_step_fails() -> None:
    main = f"execution: {{}}\nsteps: [{{name: a, run: go, {CHAIN}}}]"
    ran = await run(main, {"a": [failure("first."), failure("second."), failure("third.")]})
    assert len(ran.models.requests) == 3
    assert ran.reason == "error"
    message = ran.of("step_failed")[0]["error"]["message"]
    assert message == "one/a: first; two/b: second; three/c: third."


@pytest.mark.parametrize(
    ("step", "attempts"),
    [
        ("provider: one, model: a", [None]),
        ("provider: one, model: a, on_failure: retry, max_retries: 1", [1, 1]),
        ("providers: [{provider: one, model: a}, {provider: two, model: b}]", [1, 1]),
    ],
)
async def test_WB_114_a_provider_tries_again_only_where_nothing_else_does(
    step: str, attempts: list[int | None]
) -> None:
    ran = await run(f"execution: {{}}\nsteps: [{{name: a, run: go, {step}}}]", {"a": [failure(), "second"]})
    assert [request.attempts for request in ran.models.requests] == attempts


async def test_WB_115_the_order_of_preference() -> None:
    pair = "provider: p, model: m"
    execution = f"provider: q, model: n, {OTHER_CHAIN}"
    assert await asked(f"{pair}, {CHAIN}", execution) == ["one/a"]
    assert await asked(pair, execution) == ["p/m"]
    assert await asked("", execution) == ["x/d"]
    assert await asked("", "provider: q, model: n") == ["q/n"]


async def test_WB_116_a_lone_half_takes_the_other_from_execution() -> None:
    assert await asked("model: m", "provider: q, model: n") == ["q/m"]
    assert await asked("provider: p", "provider: q, model: n") == ["p/n"]
    assert await asked("model: m", OTHER_CHAIN, failure(), "ok") == ["x/d", "y/e"]


async def test_WB_117_the_steps_own_parameters_are_sent() -> None:
    main = """
        execution: {provider: acme, model: large, temperature: 0.9, max_tokens: 100}
        steps:
          - {name: a, run: x, temperature: 0, max_tokens: 5}
          - {name: b, run: x}
    """
    a, b = (await run(main)).models.requests
    assert (a.temperature, a.max_tokens) == (0, 5)
    assert (b.temperature, b.max_tokens) == (0.9, 100)


async def test_WB_117_zero_in_execution_is_kept_and_nothing_is_07() -> None:
    (zero,) = (
        await run("execution: {provider: a, model: b, temperature: 0}\nsteps: [{name: a, run: x}]")
    ).models.requests
    (none,) = (await run("steps: [{name: a, run: x}]")).models.requests
    assert (zero.temperature, none.temperature, none.max_tokens) == (0, 0.7, None)


async def test_WB_118_a_step_ends_with_its_time_limit() -> None:
    begun = asyncio.get_running_loop().time()
    ran = await run("steps: [{name: a, run: x, timeout: 2s}]", {"a": SILENCE})
    assert asyncio.get_running_loop().time() - begun == pytest.approx(2, abs=0.1)
    assert ran.reason == "error"
    assert ran.of("step_failed")[0]["error"]["code"] == "timeout"


async def test_WB_118_without_a_limit_the_providers_own_counts() -> None:
    main = "execution: {provider: a, model: b, timeout: 5s}\nsteps: [{name: a, run: x, timeout: 2s}, {name: b, run: x}]"
    first, second = (await run(main)).models.requests
    (third,) = (await run("steps: [{name: a, run: x}]")).models.requests
    assert (first.timeout, second.timeout, third.timeout) == (2, 5, None)


async def test_WB_119_a_callee_inherits_nothing() -> None:
    files = {
        "main": "execution: {provider: a, model: b, temperature: 0.1}\nsteps: [{name: t, template: {name: work}}]",
        "work": "execution: {}\nsteps: [{name: work, run: x}]",
    }
    ran = await run(files)
    assert ran.models.requests == []
    assert ran.of("step_failed")[0]["error"]["code"] == "provider_unavailable"

    files["work"] = "execution: {provider: c, model: d}\nsteps: [{name: work, run: x}]"
    (request,) = (await run(files)).models.requests
    assert (request.provider, request.temperature) == ("c", 0.7)


async def test_UP_76_a_wait_of_the_provider_is_shown_at_once() -> None:
    class Busy(ScriptedModels):
        async def ask(self, request: ModelRequest, on_text: Any = None, on_wait: Any = None) -> ModelReply:
            on_wait(Waiting(2, 3, 30.0, "rate limit"))
            await asyncio.sleep(30)
            return await super().ask(request, on_text)

    it = lab("steps: [{name: a, run: x}]")
    it.models = Busy()
    running = asyncio.ensure_future(it.run())
    await asyncio.sleep(1)
    (waiting,) = it.recorder.of("retrying")
    assert (waiting["attempt"], waiting["delay"], waiting["because"]["message"]) == (2, 30.0, "rate limit")
    assert (await running).output == "ok"


async def test_WB_163_missing_skills_are_told_once_for_each_step(tmp_path: Path) -> None:
    files = {
        "main": "loops: [{name: l, workflow: work, max_iterations: 3, until: It says DONE}]",
        "work": "steps: [{name: work, run: x, skills: [pdf]}, {name: plain, run: x}]",
    }
    ran = await run(files, {"judge": "NO"}, root=str(tmp_path))
    assert [warning for warning in ran.warnings if "skills" in warning] == [
        "`work` uses unknown skills (skills/pdf/SKILL.md) and runs without them"
    ]


async def test_WB_163_a_step_is_told_the_skills_that_it_names(tmp_path: Path) -> None:
    for name, text in (("tables", "Align the columns."), ("tone", "Be kind."), ("other", "Never told.")):
        (tmp_path / "skills" / name).mkdir(parents=True)
        (tmp_path / "skills" / name / "SKILL.md").write_text(text)
    flow = """
        execution: {provider: acme, model: large, skills: [tone]}
        steps:
          - {name: inherits, run: x}
          - {name: own, run: x, skills: [tables, tone]}
          - {name: none, run: x, skills: []}
    """
    ran = await run(flow, root=str(tmp_path))
    told = [request.system or "" for request in ran.models.requests]
    assert ["Be kind." in one for one in told] == [True, True, False]
    assert ["Align the columns." in one for one in told] == [False, True, False]
    assert not any("Never told." in one for one in told)
    assert ran.warnings == []


async def test_WB_163_a_skill_is_read_inside_of_the_project_alone(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "SKILL.md").write_text("a key")
    project = tmp_path / "project"
    (project / "skills").mkdir(parents=True)
    (project / "skills" / "link").symlink_to(tmp_path / "secret")
    ran = await run("steps: [{name: a, run: x, skills: [link, ../../secret]}]", root=str(project))
    assert [request.system for request in ran.models.requests] == [None]
    assert "unknown skills" in ran.warnings[0]


async def test_WB_163_who_wants_skills_and_names_none_is_told_where_they_are_listed(tmp_path: Path) -> None:
    ran = await run("steps: [{name: a, run: x, servers: [skills]}]", root=str(tmp_path))
    assert ran.warnings == ["`a` uses the server `skills` but lists no skills: add them to `skills`"]


async def test_WB_164_text_is_shown_while_it_comes() -> None:
    ran = await run("steps: [{name: a, run: x}]", {"a": "the answer"})
    ((text, shown),) = ran.recorder.texts
    assert (text, shown["step"], shown["place"]) == ("the answer", "a", "a")
