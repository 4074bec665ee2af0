"""Usage limits of agents, read from their own events and fields, and what work costs that came to nothing."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.core.ports import Failure, LostAttempt
from loop_ls.engine.core.price_table import Price, known_price
from loop_ls.engine.runners.cli import CliRunner
from loop_ls.engine.runners.codex import Codex, CodexOutput
from loop_ls.engine.runners.command import AnyCommand
from loop_ls.engine.runners.line_reader import LAST_WORDS, Invocation, run_lines
from loop_ls.engine.runners.opencode import OpencodeOutput
from loop_ls.engine.runners.output_parser import AgentOutput, OutputParser
from loop_ls.engine.runners.runner import Assignment, deaf
from loop_ls.engine.runners.stream_json import StreamJson

LATER = 4_000_000_000


def heard(speech: OutputParser, *events: dict[str, Any]) -> AgentOutput:
    for event in events:
        speech.line(json.dumps(event))
    return speech.heard()


def limited(status: str = "rejected", **info: Any) -> dict[str, Any]:
    return {"type": "rate_limit_event", "rate_limit_info": {"status": status, **info}}


FAILED = {"type": "result", "subtype": "success", "is_error": True, "api_error_status": 429, "result": "limit"}


def test_a_rejected_limit_event_says_so_and_until_when() -> None:
    found = heard(StreamJson(deaf), limited(resetsAt=LATER), FAILED)
    assert (found.exhausted, found.resets_at) == (True, LATER)
    assert not heard(StreamJson(deaf), limited("allowed_warning", resetsAt=LATER), FAILED).exhausted
    assert not heard(StreamJson(deaf), limited(resetsAt=LATER), limited("allowed"), FAILED).exhausted
    assert not heard(StreamJson(deaf), limited(resetsAt=LATER, isUsingOverage=True), FAILED).exhausted
    assert heard(StreamJson(deaf), limited(resetsAt="soon"), FAILED).resets_at is None


def test_an_account_without_credit_is_told_by_status_or_class() -> None:
    assert heard(StreamJson(deaf), {**FAILED, "api_error_status": 402}).exhausted
    line = {"type": "assistant", "error": "billing_error", "message": {"content": []}}
    assert heard(StreamJson(deaf), line, {**FAILED, "api_error_status": 400}).exhausted


@pytest.mark.parametrize("field", ["code", "codex_error_info"])
def test_codex_tells_it_in_a_field_of_its_error(field: str) -> None:
    error = {"message": "You've hit your usage limit", field: "usage_limit_exceeded", "resets_at": LATER}
    found = heard(CodexOutput(deaf), {"type": "turn.failed", "error": error})
    assert (found.exhausted, found.resets_at) == (True, LATER)


def counted(sent: int, got: int, target: str = "codex_otel.trace_safe") -> str:
    told = f"event.kind=response.completed input_token_count={sent} output_token_count={got} cached_token_count=0"
    return f'2026-01-01T00:00:00.1Z  INFO {target}: event.name="codex.sse_event" {told} model=gpt-5'


def test_codex_that_is_ended_has_taken_what_its_answers_took() -> None:
    speech = CodexOutput(deaf)
    assert speech.aside(counted(100, 7)) and speech.aside(counted(200, 8))
    assert not speech.aside(counted(1, 1, "codex_otel.log_only"))
    assert not speech.aside("2026-01-01T00:00:00.1Z ERROR codex_api: stream disconnected")
    assert (speech.heard().input_tokens, speech.heard().output_tokens) == (300, 15)
    assert (speech.heard().model, speech.heard().cached) == ("gpt-5", 0)
    usage = {"input_tokens": 310, "output_tokens": 16, "cached_input_tokens": 40}
    whole = heard(speech, {"type": "turn.completed", "usage": usage})
    assert (whole.input_tokens, whole.output_tokens, whole.cached) == (310, 16, 40)


#: What Codex says of a turn whose answers came from `gpt-5`: input, cached, output.
CODEX_TURN = """
sys.stderr.write("INFO codex_otel.trace_safe: event.kind=response.completed input_token_count=1000000"
    " output_token_count=100000 cached_token_count=0 model=gpt-5 slug=gpt-5\\n")
print('{"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}}')
print('{"type": "turn.completed", "usage": {"input_tokens": 1000000, "output_tokens": 100000,'
    ' "cached_input_tokens": %d}}')
"""


@pytest.mark.parametrize("cached", [0, 600_000])
@pytest.mark.parametrize("asked", ["gpt-5", None])
async def test_a_turn_of_codex_costs_what_the_table_says_of_its_model(
    tmp_path: Path, cached: int, asked: str | None
) -> None:
    program = tmp_path / "codex.py"
    program.write_text("import sys\nsys.stdin.read()\n" + CODEX_TURN % cached)
    runner = CliRunner("codex", (sys.executable, str(program)), Codex(), os.environ)
    done = await runner.run(Assignment("Work.", folder=str(tmp_path), model=asked))
    price = known_price("openai", "gpt-5")
    assert price is not None
    assert (done.model, done.usd) == ("gpt-5", price.usd(1_000_000, 100_000, cached))
    assert (price.usd(1_000_000, 100_000, cached) < price.usd(1_000_000, 100_000)) is bool(cached)


async def test_a_turn_of_codex_that_tells_more_cached_tokens_than_it_sent_is_paid_and_not_for_less(
    tmp_path: Path,
) -> None:
    program = tmp_path / "codex.py"
    program.write_text("import sys\nsys.stdin.read()\n" + CODEX_TURN % 30_000_000)
    runner = CliRunner("codex", (sys.executable, str(program)), Codex(), os.environ)
    done = await runner.run(Assignment("Work.", folder=str(tmp_path)))
    price = known_price("openai", "gpt-5")
    assert price is not None and done.text == "Done."
    assert done.usd == price.usd(30_000_000, 100_000, 30_000_000)


@pytest.mark.parametrize("price", [Price(3, 15), known_price("openai", "gpt-5"), Price(0.1, 0)])
@pytest.mark.parametrize(("read", "written"), [(10**9, 0), (0, 10**9), (10**9, 10**9), (11, 0)])
def test_no_count_of_cached_tokens_makes_a_call_cheaper_than_they_are(
    price: Price | None, read: int, written: int
) -> None:
    assert price is not None
    told = price.usd(10, 5, read, written)
    assert told > 0 and told == price.usd(read + written, 5, read, written)


@pytest.mark.parametrize("digits", ["9" * 5000, "9" * 30])
def test_a_count_that_is_no_number_of_tokens_ends_no_turn(digits: str) -> None:
    speech = CodexOutput(deaf)
    told = counted(1, 2)
    assert speech.aside(told.replace("count=1 ", f"count={digits} ")) and speech.aside(told)
    assert (speech.heard().input_tokens, speech.heard().output_tokens) == (1, 2)


async def test_what_is_no_error_is_not_told_as_one_and_the_end_of_the_others_is_kept(tmp_path: Path) -> None:
    told = "\n".join([counted(1, 2), "first", *["x" * 1000] * 200, counted(3, 4), "the end"])
    (tmp_path / "told").write_text(told)
    words = (sys.executable, "-c", "import sys; sys.stderr.write(open('told').read())")
    speech = CodexOutput(deaf)
    ended = await run_lines(Invocation(words, str(tmp_path), dict(os.environ)), speech.line, speech.aside)
    assert ended.errors.endswith("x\nthe end")
    assert "codex_otel" not in ended.errors and "first" not in ended.errors
    assert speech.heard().input_tokens == 4


def test_no_sentence_of_an_agent_is_searched_for_it() -> None:
    said = "usage limit, insufficient_quota, billing_error, 402"
    assert not heard(CodexOutput(deaf), {"type": "turn.failed", "error": {"message": said}}).exhausted
    assert not heard(StreamJson(deaf), {**FAILED, "result": said}).exhausted
    assert not heard(OpencodeOutput(deaf), {"type": "error", "error": {"data": {"message": said}}}).exhausted


def test_opencode_tells_it_by_status_and_header() -> None:
    for data, resets in (
        ({"statusCode": 402}, False),
        ({"statusCode": 429, "responseHeaders": {"retry-after": "3600"}}, True),
    ):
        found = heard(OpencodeOutput(deaf), {"type": "error", "error": {"name": "APIError", "data": data}})
        assert (found.exhausted, found.resets_at is not None) == (True, resets)
    short = {"statusCode": 429, "responseHeaders": {"retry-after": "2"}}
    assert not heard(OpencodeOutput(deaf), {"type": "error", "error": {"data": short}}).exhausted


class RecordingBill:
    def __init__(self) -> None:
        self.attempts: list[LostAttempt] = []

    def lost(self, attempt: LostAttempt) -> None:
        self.attempts.append(attempt)

    async def again(self) -> None:
        return


def agent(folder: Path, *events: dict[str, Any], then: str = "sys.exit(1)", **settings: Any) -> CliRunner:
    lines = "".join(f"print({json.dumps(event)!r}, flush=True)\n" for event in events)
    program = folder / "agent.py"
    program.write_text(f"import sys, time\nsys.stdin.read()\n{lines}{then}\n")
    return CliRunner("house", (sys.executable,), AnyCommand((str(program),)), os.environ, settings)


async def failing(runner: CliRunner, folder: Path, **more: Any) -> tuple[Failure, RecordingBill]:
    bill = RecordingBill()
    with pytest.raises(Failure) as caught:
        await runner.run(Assignment("Work.", folder=str(folder), bill=bill, **more))
    return caught.value, bill


USED = {"type": "assistant", "message": {"id": "1", "content": [], "usage": {"input_tokens": 900, "output_tokens": 50}}}


async def test_a_rejected_agent_fails_as_exhausted_with_its_reset(tmp_path: Path) -> None:
    found, _ = await failing(agent(tmp_path, limited(resetsAt=LATER), FAILED), tmp_path)
    assert (found.code, found.until) == ("exhausted", LATER)
    assert "until" in found.message
    assert time.strftime("%Y", time.localtime(LATER)) in found.message


async def test_work_that_failed_is_booked_with_what_it_took(tmp_path: Path) -> None:
    price = {"input": 1000, "output": 1000}
    found, bill = await failing(agent(tmp_path, USED, FAILED, price=price), tmp_path)
    assert found.booked
    assert [(one.input_tokens, one.output_tokens, one.usd) for one in bill.attempts] == [(900, 50, pytest.approx(0.95))]


#: What Claude Code does when it is interrupted: its result with the cost of all that it has used.
TELLS_ITS_COST = """
import json, signal
def ended(*_):
    print(json.dumps({"type": "result", "subtype": "error_during_execution", "is_error": True, "total_cost_usd": 0.5,
        "modelUsage": {"m": {"inputTokens": 7000, "outputTokens": 400}}}), flush=True)
    sys.exit(1)
signal.signal(signal.SIGINT, ended)
open("ready", "w").close()
time.sleep(60)"""


@pytest.mark.parametrize("stopped", [False, True])
async def test_an_agent_is_interrupted_first_so_that_it_says_what_it_has_cost(tmp_path: Path, stopped: bool) -> None:
    runner, bill = agent(tmp_path, USED, then=TELLS_ITS_COST), RecordingBill()
    work = Assignment("Work.", folder=str(tmp_path), bill=bill, idle=None if stopped else 3.0)
    running = asyncio.create_task(runner.run(work))
    if stopped:
        async with asyncio.timeout(60):
            while not (tmp_path / "ready").exists():
                await asyncio.sleep(0.01)
        running.cancel()
    with pytest.raises(asyncio.CancelledError if stopped else Failure):
        await running
    assert [(one.input_tokens, one.output_tokens, one.usd) for one in bill.attempts] == [(7000, 400, 0.5)]


async def test_last_words_are_heard_up_to_a_size(tmp_path: Path) -> None:
    """A program that talks on when it is interrupted fills no memory."""
    talks = """
import signal, sys, time
def ended(*_):
    for _ in range(64):
        sys.stdout.write(("x" * 1023 + chr(10)) * 1024)
    sys.exit(0)
signal.signal(signal.SIGINT, ended)
print("ready", flush=True)
time.sleep(60)"""
    heard: list[int] = []
    ready = asyncio.Event()

    def hear(line: str) -> bool:
        heard.append(len(line))
        ready.set()
        return True

    what = Invocation([sys.executable, "-c", talks], str(tmp_path), dict(os.environ))
    running = asyncio.create_task(run_lines(what, hear))
    async with asyncio.timeout(60):
        await ready.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert sum(heard) <= LAST_WORDS


async def test_an_agent_that_a_limit_ended_is_booked_too(tmp_path: Path) -> None:
    hanging = agent(tmp_path, USED, then="time.sleep(60)")
    found, bill = await failing(hanging, tmp_path, idle=8.0)
    assert found.code == "agent_timeout"
    assert [(one.code, one.input_tokens) for one in bill.attempts] == [("agent_timeout", 900)]
