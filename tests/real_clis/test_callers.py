"""Everybody who gives work to an agent program, at each access: what the program can do, does not only promise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loop_ls.engine.subprocesses.sandbox import NoSandbox, find_sandbox
from tests.engine.providers.support.recording_provider import Asks
from tests.real_clis.command_lines import seen
from tests.real_clis.workplace import CALLERS, NOTE, Workplace

#: How it ends when the program has said its last word.
ENDS = {"assistant": "condition_met", "judge": "condition_met", "step": "completed"}
WHOLE = ("assistant", "step", "full")
#: Codex has no tool for files: it reads by ours, or with full access by its shell, and is asked for neither here.
READS = {
    "claude-code": {*WHOLE, "readonly-shell", "readonly"},
    "opencode": {*WHOLE, "readonly-shell", "readonly"},
    "codex": set() if isinstance(find_sandbox(), NoSandbox) else {"readonly-shell"},
}


@pytest.mark.parametrize("caller", CALLERS)
async def test_the_program_does_what_its_caller_may_and_no_more(workplace: Workplace, caller: str) -> None:
    agent = workplace.agent
    asked = (
        agent.writes(workplace.root),
        agent.reads(workplace.root / "notes.txt"),
        agent.uses("shell", command="cat notes.txt"),
    )
    workplace.model_says(*asked, last="YES" if caller == "judge" else "APPROVED")
    end = await workplace.work(caller)
    assert end["kind"] == "completed", end
    assert end.get("reason") == ENDS.get(caller, "approved")
    assert not workplace.provider.refused
    assert workplace.made is (caller in WHOLE)
    assert (NOTE in workplace.results) is (caller in READS[agent.speaks])
    seen(agent.speaks, caller, workplace.words, workplace.tools)


OURS = {"artifact_create", "artifact_read", "todo_add", "todo_list", "sprint_show", "skill_read"}


@pytest.mark.parametrize("access", ["full", "readonly-shell", "readonly", "minimal"])
async def test_a_program_uses_our_tools_as_a_model_would_and_only_for_its_turn(
    workplace: Workplace, access: str
) -> None:
    agent = workplace.agent
    workplace.write("skills/house/SKILL.md", "---\nname: house\ndescription: Ours.\n---\nWrite it short.\n")
    asked = (
        agent.uses("todo_add", title="Look at the port"),
        agent.uses("todo_list"),
        agent.uses("skill_read", skill="house"),
        *([agent.uses("file_read", path="notes.txt")] if agent.speaks == "codex" else []),
    )
    workplace.model_says(*asked)
    end = await workplace.work(access)
    assert end["kind"] == "completed", end
    offered = {name.removeprefix("mcp__").removeprefix("loop_ls_").strip("_") for name in workplace.tools}
    used = [fact["tool"] for fact in end["facts"] if fact["kind"] == "tool_called"]
    if access == "minimal":
        assert (offered & OURS, used) == (set(), [])
        return
    assert offered >= OURS, workplace.tools
    assert ("artifact_delete" in offered) is (access == "full")
    assert used[:3] == ["todo_add", "todo_list", "skill_read"]
    assert "[open] Look at the port" in workplace.results
    assert "Write it short." in workplace.results
    if agent.speaks == "codex" and access != "full":
        assert NOTE in workplace.results


async def test_a_message_and_a_persona_of_any_length_arrive(workplace: Workplace) -> None:
    long = 200 * 1024
    end = await workplace.assistant("Say the word." + " Please." * (long // 8), "You are brief." + " Really." * 5000)
    assert end["kind"] == "completed", end
    sent = max((request.texts for request in workplace.provider.requests), key=len)
    assert sent.count(" Please.") == long // 8
    assert sent.count(" Really.") == 5000


@pytest.mark.timeout(400)
async def test_the_second_round_uses_what_only_the_reviewer_knew(workplace: Workplace) -> None:
    end = await workplace.review_loop("4711")
    assert (end["kind"], end.get("reason"), end.get("totalIterations")) == ("completed", "approved", 2), end
    first, second = (fact for fact in end["facts"] if fact["kind"] == "judged")
    (finding,) = first["findings"]
    assert (finding["severity"], finding["location"]) == ("critical", "a.py:1")
    assert second["findings"] == [{**finding, "settled": True}]


HOOKS = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch started.txt"}]}]}}
#: What a project can hold that a program would start by itself.
PROGRAMS_OF_A_PROJECT = {
    ".claude/settings.json": HOOKS,
    ".mcp.json": {"mcpServers": {"own": {"command": "touch", "args": ["started.txt"]}}},
    # opencode adds the schema where it is missing, and whoever runs the loop is asked about that change.
    "opencode.json": {
        "$schema": "https://opencode.ai/config.json",
        "mcp": {"own": {"type": "local", "command": ["touch", "started.txt"], "enabled": True}},
    },
}
PLUGIN = """import { writeFileSync } from "node:fs"
export const Own = async ({ directory }) => { writeFileSync(directory + "/started.txt", ""); return {} }
"""
CODEX = '[mcp_servers.own]\ncommand = "touch"\nargs = ["started.txt"]\n'


@pytest.mark.parametrize("caller", ["minimal", "full"])
async def test_what_a_project_holds_starts_for_roles_with_full_access_alone(workplace: Workplace, caller: str) -> None:
    for name, told in PROGRAMS_OF_A_PROJECT.items():
        workplace.write(name, json.dumps(told))
    workplace.write(".opencode/plugin/own.js", PLUGIN)
    workplace.write(".codex/config.toml", CODEX)
    workplace.model_says(last="APPROVED")
    end = await workplace.work(caller)
    assert end["kind"] == "completed", end
    trusted = workplace.agent.speaks != "codex"  # Codex asks a person first, whatever the access
    assert (workplace.root / "started.txt").exists() is (caller == "full" and trusted)


#: What a user may have allowed a program once and for all: any command, unasked, and a program with each start.
OF_A_USER = {
    ".claude/settings.json": {"permissions": {"allow": ["Bash"], "defaultMode": "bypassPermissions"}, **HOOKS},
    ".config/opencode/opencode.json": {"permission": {"*": "allow", "bash": "allow"}},
}
CODEX_OF_A_USER = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n'


def allow_everything(home: Path) -> None:
    for name, told in OF_A_USER.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps((json.loads(path.read_text()) if path.exists() else {}) | told))
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex/config.toml").write_text(CODEX_OF_A_USER)


@pytest.mark.parametrize("caller", CALLERS)
async def test_what_a_user_allowed_a_program_gives_no_shell_to_who_only_reads(
    workplace: Workplace, caller: str
) -> None:
    allow_everything(workplace.home)
    workplace.model_says(workplace.agent.writes(workplace.root), last="YES" if caller == "judge" else "APPROVED")
    end = await workplace.work(caller)
    assert end["kind"] == "completed", end
    assert workplace.made is (caller in WHOLE)
    if workplace.agent.speaks == "claude-code":
        assert (workplace.root / "started.txt").exists() is (caller in WHOLE)


@pytest.mark.parametrize("caller", ["assistant", "full", "readonly-shell", "readonly", "minimal"])
async def test_nobody_works_below_or_reads_outside_but_where_all_is_allowed(workplace: Workplace, caller: str) -> None:
    """Whatever the user has allowed it."""
    agent, task, secret = workplace.agent, "the task of whoever is below", "what lies outside"
    allow_everything(workplace.home)
    (workplace.home / "secret.txt").write_text(secret)
    workplace.model_says(
        agent.delegates(task),
        agent.reads(workplace.home / "secret.txt"),
        agent.uses("file_read", path="../home/secret.txt"),
        agent.uses("shell", command="cat ../home/secret.txt"),
    )
    end = await workplace.work(caller)
    if caller not in WHOLE:
        assert end["kind"] == "completed", end
        assert secret not in workplace.results
    below = [one for one in workplace.provider.requests if task in one.texts and not one.results]
    # A stage works alone at every access; an assistant only where nobody counts what those below it take.
    assert bool(below) is (caller == "assistant" and agent.speaks == "claude-code")


async def test_commands_of_codex_see_no_key(workplace: Workplace) -> None:
    if workplace.agent.speaks != "codex":
        pytest.skip("Claude Code hands its own environment to tools; opencode keeps its key in a file")
    workplace.model_says(Asks("exec_command", {"cmd": "env"}))
    assert (await workplace.work("full"))["kind"] == "completed"
    assert "HOME=" in workplace.results
    assert "CODEX_API_KEY" not in workplace.results
