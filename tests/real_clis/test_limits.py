"""Steps that a stage may take, tools that its role names, and loops: what the programs are held to."""

from __future__ import annotations

import pytest

from tests.engine.providers.support.recording_provider import Answer, Asks, Request
from tests.real_clis.workplace import WORD, Workplace

CLOSED = "no steps left"


def role(workplace: Workplace, **more: object) -> None:
    worker = {"access": "full", "provider": "claude-code", "model": workplace.agent.model, **more}
    workplace.settings(roles={"worker": worker}, assist={"provider": "scripted", "model": "m"})


async def test_a_program_that_used_up_its_steps_answers_without_tools(workplace: Workplace) -> None:
    """Its model asks for a tool again and again."""
    agent = workplace.agent

    def answer(request: Request) -> Answer:
        return WORD if CLOSED in request.texts else agent.writes(workplace.root)

    workplace.provider.answer = answer
    role(workplace, maxSteps=2)
    end = await workplace.role_loop()
    assert (end["kind"], end.get("reason")) == ("completed", "approved"), end
    before = [one for one in workplace.provider.requests if CLOSED not in one.texts]
    assert 2 <= len(before) <= 4, "it is stopped soon"
    assert workplace.made


@pytest.mark.parametrize("tools", [["Read"], ["Read", "Task", "Agent", "TodoWrite"], ["Bash"]], ids=" ".join)
async def test_a_role_that_names_its_tools_has_no_others(workplace: Workplace, tools: list[str]) -> None:
    workplace.model_says(workplace.agent.writes(workplace.root))
    role(workplace, tools=tools)
    end = await workplace.role_loop()
    assert end["kind"] == "completed", end
    assert workplace.made is (tools == ["Bash"])


@pytest.mark.parametrize("caller", ["full", "readonly-shell", "readonly", "minimal"])
async def test_no_stage_starts_loops(workplace: Workplace, caller: str) -> None:
    asked = [workplace.agent.uses(name, definition="look", goal="g") for name in ("loop_start", "start_loop")]
    run: list[Asks] = [*asked, workplace.agent.uses("shell", command="loop-ls run look --goal g --yes")]
    workplace.model_says(*run)
    end = await workplace.work(caller)
    assert end["kind"] == "completed", end
    assert len((await workplace.engine.runs())["runs"]) == 1
