"""Steps that an agent program may take, its share of a usage window, and the answer that comes all the same."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.core.ports import Failure
from loop_ls.engine.model_calls.tool_loop import CLOSING
from loop_ls.engine.runners import usage_windows
from loop_ls.engine.runners.claude import Claude
from loop_ls.engine.runners.cli import CliRunner, Dialect
from loop_ls.engine.runners.codex import Codex
from loop_ls.engine.runners.opencode import Opencode
from loop_ls.engine.runners.runner import Assignment, Served
from loop_ls.engine.runners.usage_windows import Window
from tests.engine.runners.support.cli_contract import rate_limit_info

LATER = 4_000_000_000

#: Works for ever, one step after the other, unless it is told to answer without tools. Notes its words and message.
PROGRAM = """
import json, sys, time
message = sys.stdin.read()
with open("calls.jsonl", "a") as log:
    log.write(json.dumps({"words": sys.argv[1:], "message": message}) + "\\n")
def say(**event):
    print(json.dumps(event), flush=True)
"""
CLAUDE = """
said = {"id": "1", "content": [{"type": "text", "text": "Found a.py."}]}
if "--max-turns" in sys.argv:
    say(type="assistant", message=said)
    say(type="result", subtype="error_max_turns", is_error=True, total_cost_usd=0.5,
        usage={"input_tokens": 100, "output_tokens": 10})
    sys.exit(1)
say(type="result", subtype="success", is_error=False, result="At last.", total_cost_usd=0.25,
    usage={"input_tokens": 7, "output_tokens": 3})
"""
CODEX = """
def counted(sent, got):
    told = f"event.kind=response.completed input_token_count={sent} output_token_count={got}"
    print(f"INFO codex_otel.trace_safe: {told}", file=sys.stderr, flush=True)
if "no steps left" not in message:
    say(type="item.completed", item={"type": "agent_message", "text": "Found a.py."})
    while True:
        counted(50, 5)
        time.sleep(0.05)
        say(type="item.started", item={"type": "command_execution"})
say(type="item.completed", item={"type": "agent_message", "text": "At last."})
say(type="turn.completed", usage={"input_tokens": 7, "output_tokens": 3})
"""
OPENCODE = """
if "no steps left" not in message:
    while True:
        say(type="step_start", part={})
        say(type="text", part={"type": "text", "text": "Found a.py."})
        say(type="step_finish", part={"reason": "tool-calls", "tokens": {"input": 50, "output": 5}, "cost": 0.25})
        time.sleep(0.05)
say(type="text", part={"type": "text", "text": "At last."})
say(type="step_finish", part={"reason": "stop", "tokens": {"input": 7, "output": 3}, "cost": 0.25})
"""
PROGRAMS: Mapping[str, tuple[str, Dialect]] = {
    "claude": (CLAUDE, Claude()),
    "codex": (CODEX, Codex()),
    "opencode": (OPENCODE, Opencode()),
}


def runner(folder: Path, speaks: str, more: str = "", **settings: Any) -> CliRunner:
    source, dialect = PROGRAMS[speaks]
    program = folder / "agent.py"
    program.write_text(PROGRAM + more + source)
    return CliRunner(speaks, (sys.executable, str(program)), dialect, os.environ, settings)


def calls(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("speaks", list(PROGRAMS))
async def test_a_program_that_used_up_its_steps_is_asked_for_an_answer_without_tools(
    tmp_path: Path, speaks: str
) -> None:
    found = runner(tmp_path, speaks)
    done = await found.run(Assignment("Look.", folder=str(tmp_path), steps=2, only=("Read",), session="a" * 8))
    first, last = calls(tmp_path)
    assert done.text == "At last."
    assert first["message"] == "Look."
    assert last["message"].startswith("Look.\n\n---\n") and last["message"].endswith(CLOSING)
    assert "Found a.py." in last["message"]
    minimal = found.dialect.said(Assignment("", access="minimal", served=Served()), lambda text: text)
    assert {"--tools", "read-only", "loop-ls-minimal"} & set(minimal.words) & set(last["words"]), "no tools"


async def test_all_of_it_is_booked(tmp_path: Path) -> None:
    done = await runner(tmp_path, "claude").run(Assignment("Look.", folder=str(tmp_path), steps=2))
    assert (done.input_tokens, done.output_tokens, done.usd) == (107, 13, 0.75)
    assert "--max-turns" in calls(tmp_path)[0]["words"] and "--max-turns" not in calls(tmp_path)[1]["words"]


@pytest.mark.parametrize("speaks", ["codex", "opencode"])
async def test_what_was_counted_before_the_stop_is_booked(tmp_path: Path, speaks: str) -> None:
    done = await runner(tmp_path, speaks).run(Assignment("Look.", folder=str(tmp_path), steps=2))
    steps = (done.input_tokens - 7) / 50
    assert 2 <= steps <= 6, "it is stopped soon"
    assert done.output_tokens == 3 + 5 * steps


async def test_a_program_that_comes_to_an_end_before_is_asked_once(tmp_path: Path) -> None:
    done = await runner(tmp_path, "opencode").run(Assignment("You have no steps left", folder=str(tmp_path), steps=1))
    assert (done.text, len(calls(tmp_path))) == ("At last.", 1)


def window(*told: dict[str, Any]) -> str:
    return "".join(f"say(type='rate_limit_event', rate_limit_info={info!r})\n" for info in told)


def both(short: float, long: float, resets: int = LATER) -> dict[str, Any]:
    """Of the window of five hours and of that of a week, which is reset an hour later."""
    info, week = rate_limit_info(short, resets), rate_limit_info(long, resets + 3600, "seven_day")
    return {**info, "unifiedWindows": {**info["unifiedWindows"], **week["unifiedWindows"]}}


#: What an older version says: the window that is near its limit alone.
OLDER = {"status": "allowed_warning", "utilization": 0.85, "resetsAt": LATER}


@pytest.mark.parametrize(
    ("info", "percent", "until"),
    [
        (rate_limit_info(0.85, LATER), 85, LATER),
        (rate_limit_info(0.95, LATER), 95, LATER),
        (rate_limit_info(1.05, LATER), 105, LATER),
        (both(0.85, 0.3), 85, LATER),
        (both(0.85, 0.8), 80, LATER + 3600),
        (both(0.3, 0.85), 85, LATER + 3600),
        (OLDER, 85, LATER),
    ],
)
async def test_above_its_share_of_a_usage_window_nothing_more_is_started_until_the_reset(
    tmp_path: Path, info: dict[str, Any], percent: int, until: int
) -> None:
    usage_windows.heard("claude", (Window(0.0, LATER),))
    found = runner(tmp_path, "claude", window(info), usagePercent=80)
    await found.run(Assignment("Look.", folder=str(tmp_path)))
    with pytest.raises(Failure) as caught:
        await found.run(Assignment("Look.", folder=str(tmp_path)))
    assert (caught.value.code, caught.value.until) == ("exhausted", until)
    assert f"has used {percent} % of its usage window" in caught.value.message
    assert "`usagePercent` is 80" in caught.value.message
    assert len(calls(tmp_path)) == 1
    await found.run(Assignment("Look.", folder=str(tmp_path)))
    assert len(calls(tmp_path)) == 2, "a person who resumes the run goes on"


@pytest.mark.parametrize(
    ("info", "settings"),
    [
        (both(0.79, 0.1), {"usagePercent": 80}),
        (both(0.95, 0.95), {}),
        (both(0.95, 0.95, 1_000_000), {"usagePercent": 80}),
        (both(0.95, 0.95, 400_000_000_000), {"usagePercent": 80}),  # no calendar has that year
    ],
)
async def test_below_it_or_after_the_reset_work_goes_on(
    tmp_path: Path, info: dict[str, Any], settings: dict[str, Any]
) -> None:
    usage_windows.heard("claude", (Window(0.0, LATER),))
    found = runner(tmp_path, "claude", window(info), **settings)
    for _ in range(2):
        await found.run(Assignment("Look.", folder=str(tmp_path)))
    assert len(calls(tmp_path)) == 2
