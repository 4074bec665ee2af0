"""Whole runs against a provider that misbehaves: nested, parallel, with judges, votes and retries, under one cap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.providers import Providers
from tests.engine.control.support.project import Project
from tests.engine.money.paid_server import Answer, chunk, events, paid_server, prompt_of

HALF = "half " * 100
EXECUTION = "execution: {provider: ollama, model: m, max_tokens: 1000}\n"
INNER = EXECUTION + 'steps:\n  - {name: write, run: "Write {{input}}", on_failure: retry, max_retries: 1}\n'
VOTE = EXECUTION + (
    "steps:\n  - name: vote\n    consensus:\n      prompt: Vote\n      require: majority\n      executions:\n"
    "        - {provider: ollama, model: a}\n        - {provider: ollama, model: b}\n"
    "        - {provider: ollama, model: c}\n"
)
EACH = EXECUTION + (
    'loops:\n  - name: each\n    mode: iterate\n    workflow: inner\n    items: "{{input}}"\n    max_iterations: 20\n'
    '    on_failure: continue\n    parallel: true\n    with: {input: "{{loop.current}}"}\n'
)
JUDGED = EXECUTION + (
    "loops:\n  - name: polish\n    workflow: inner\n    max_iterations: 12\n    until: It is good\n"
    "    on_failure: continue\n"
    '    with: {input: "{{loop.last.output}}"}\n'
)
#: A prompt and an answer as long as it may be, at the price below.
ONE_CALL = 1.5


def misbehaving(request: dict[str, Any], number: int) -> Answer:
    """Answers without a report, cut ones, thoughts only, errors in the middle: in turn."""
    sent = prompt_of(request)
    match number % 4:
        case 0:
            return Answer(events(chunk(HALF), {"error": {"type": "overloaded_error", "code": 529}}), sent, 125)
        case 1:
            return Answer(events(chunk(HALF), chunk(None, "stop")), sent, 125)
        case 2:
            usage = {"choices": [], "usage": {"prompt_tokens": sent, "completion_tokens": 900}}
            return Answer(events(chunk(None, "length"), usage), sent, 900)
        case _:
            return Answer(events(chunk(HALF), done=False), sent, 125)


@pytest.mark.parametrize(("name", "given"), [("each", str(list(range(12)))), ("polish", "x"), ("vote", "x")])
async def test_what_a_run_was_charged_is_booked_and_its_cap_holds(tmp_path: Path, name: str, given: str) -> None:
    async with paid_server(misbehaving) as account:
        project = Project(tmp_path)
        house = Providers({"OLLAMA_HOST": account.url})
        project.settings("providers: {ollama: {price: {input: 1000, output: 1000}}}\n")
        project.write(inner=INNER, each=EACH, polish=JUDGED, vote=VOTE)
        engine = await project.open()
        engine._models = house.for_plan  # nobody but the server is asked
        facts = await project.run(name, input=given, limits={"budgetUsd": 4})
        booked = sum(fact.get("usd") or 0.0 for fact in facts if fact["kind"] == "call")
        assert len(account.requests) >= 3
        assert booked >= account.total - 1e-9, (booked, account.total)
        assert account.total - 4 <= ONE_CALL
        await project.close()
        await house.aclose()
