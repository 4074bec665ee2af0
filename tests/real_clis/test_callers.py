"""Everybody who gives work to an agent program, at each access: what the program can do, does not only promise."""

from __future__ import annotations

import pytest

from loop_ls.engine.sandbox.sandbox import NoSandbox, find_sandbox
from tests.real_clis.command_lines import seen
from tests.real_clis.workplace import CALLERS, NOTE, Workplace

#: How it ends when the program has said its last word.
ENDS = {"assistant": "condition_met", "judge": "condition_met", "step": None}
WHOLE = ("assistant", "step", "full")
#: Codex reads by a shell alone; with full access by its own, which the model of these tests asks to write.
READS = {
    "claude-code": {*WHOLE, "readonly-shell", "readonly"},
    "opencode": {*WHOLE, "readonly-shell", "readonly"},
    "codex": set() if isinstance(find_sandbox(), NoSandbox) else {"readonly-shell", "readonly"},
}


@pytest.mark.parametrize("caller", CALLERS)
async def test_the_program_does_what_its_caller_may_and_no_more(workplace: Workplace, caller: str) -> None:
    agent = workplace.agent
    asked = (agent.writes(workplace.root), agent.reads(workplace.root), agent.reads_by_shell())
    workplace.model_says(*asked, last="YES" if caller == "judge" else "APPROVED")
    end = await workplace.work(caller)
    assert end["kind"] == "completed", end
    assert end.get("reason") == ENDS.get(caller, "approved")
    assert not workplace.provider.refused
    assert workplace.made is (caller in WHOLE)
    assert (NOTE in workplace.results) is (caller in READS[agent.speaks])
    seen(agent.speaks, caller, workplace.words, workplace.tools)
