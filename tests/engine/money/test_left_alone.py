"""A provider that is left alone for a while is waited for by whole runs: no try is used up, and no call counted, for
what was never sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.providers import Providers
from loop_ls.engine.providers.limits.circuit_breaker import IN_A_ROW
from tests.engine.control.support.project import Project
from tests.engine.money.paid_server import Account, Answer, chunk, events, paid_server

EXECUTION = "execution: {provider: ollama, model: m, max_tokens: 100}\n"
RETRIED = 'steps:\n  - {name: write, run: "Write", on_failure: retry, max_retries: 10}\n'
LOOP = (
    "loops:\n  - name: polish\n    workflow: once\n    max_iterations: 1\n    until: It is good\n"
    "    on_failure: retry\n    max_retries: 10\n"
)
TEMPLATE = "steps:\n  - {name: outer, template: {name: once}, on_failure: retry, max_retries: 10}\n"
ONCE = 'steps:\n  - {name: write, run: "Write"}\n'
VECTORS = (
    "steps:\n  - name: embed\n    embeddings: {provider: ollama, model: e, input: [some text]}\n"
    "    on_failure: retry\n    max_retries: 10\n"
)
#: So many answers say that the provider is out of order.
DOWN = IN_A_ROW + 2


def down_at_first(request: dict[str, Any], number: int) -> Answer:
    if number <= DOWN:
        return Answer(b"{}", status=500, kind="application/json")
    if "input" in request:
        found = [{"index": index, "embedding": [1.0, 2.0]} for index in range(len(request["input"]))]
        return Answer(json.dumps({"data": found}).encode(), kind="application/json")
    return Answer(events(chunk("YES"), chunk(None, "stop")))


async def outcome(project: Project, name: str) -> tuple[list[dict[str, Any]], Account]:
    async with paid_server(down_at_first) as account:
        house = Providers({"OLLAMA_HOST": account.url})
        project.write(
            retried=EXECUTION + RETRIED,
            loop=EXECUTION + LOOP,
            template=EXECUTION + TEMPLATE,
            vectors=EXECUTION + VECTORS,
            once=EXECUTION + ONCE,
        )
        engine = await project.open()
        engine._models = house.for_plan
        facts = await project.run(name)
        await project.close()
        await house.aclose()
        return facts, account


@pytest.mark.parametrize("name", ["retried", "loop", "template", "vectors"])
async def test_tries_are_not_used_up_while_a_provider_is_left_alone(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loop_ls.engine.providers.limits.circuit_breaker.PAUSE_NEAR", 0.05)
    monkeypatch.setattr("loop_ls.engine.providers.limits.retry.FIRST_WAIT", 0.001)
    facts, account = await outcome(Project(tmp_path), name)
    assert facts[-1]["kind"] == "completed", facts[-1]
    assert len(account.requests) > DOWN
    said = [fact["error"]["message"] for fact in facts if fact["kind"] == "call" and fact.get("error")]
    assert said and not [one for one in said if "paused" in one], "each failed call was sent"
    waited = [fact for fact in facts if fact["kind"] == "retrying" and "paused" in fact["because"]["message"]]
    assert waited, "it says what it waits for"
