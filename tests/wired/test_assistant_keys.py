"""Every key of an assistant, from its file to what its agent or model is asked and how the loop ends."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.core.ports import ModelReply
from loop_ls.testing.mcp_server import FILE
from loop_ls.testing.models import failure
from tests.wired.project import Ended, WiredProject, wrong
from tests.wired.row import PLACE, Row

FIXER = (
    f"{{name: Fixer, persona: You repair., loopEnabled: true, provider: openai, model: m, maxIterations: 3, {PLACE}}}"
)
SCRIPT = {"agent": ["first", "DONE", "third"]}
COSTLY = {"agent": ModelReply("first", "openai", "m", 10, 10, usd=1.0)}
DULL = {"agent": "same"}
BROKEN = {"agent": [failure("rate limit exceeded", "rate_limited"), "first", "DONE"]}


def iterations(run: Ended) -> object:
    return len(run.of("iteration"))


def asked(name: str) -> Any:
    return lambda run: getattr(run.models.requests[0], name)


def reason(run: Ended) -> object:
    return run.end.get("reason") or run.end["kind"]


def code(run: Ended) -> object:
    return run.answer.get("code")


SCRIPTS = {
    **dict.fromkeys(("retry", "attempts", "backoffSeconds"), BROKEN),
    "stallAfter": DULL,
    "maxTotalBudgetUsd": COSTLY,
    "lastLine": {"agent": ["DONE\nnot yet", "second", "third"]},
}
CHECK = FIXER.replace(PLACE, f"loopCriteria: {{type: test_pass, {PLACE}}}")
ONE_ROWS = (
    Row("assistant.name", FIXER.replace("name: Fixer, ", ""), "name: Painter", lambda run: run.first["name"],
        "Painter", "Fixer", "name: Fixer"),
    Row("assistant.persona", FIXER.replace("persona: You repair., ", ""), "persona: You paint.", asked("system"),
        "You paint.", "You repair.", "persona: You repair."),
    Row("assistant.model", FIXER.replace("model: m, ", ""), "model: own", asked("model"), "own", "m", "model: m"),
    Row("assistant.provider", FIXER.replace("provider: openai, ", ""), "provider: perplexity", asked("provider"),
        "perplexity", "openai", "provider: openai"),
    Row("assistant.id", FIXER, "id: mender", lambda run: run.first["target"].get("name"), "mender", "fixer"),
    Row("assistant.loopEnabled", FIXER.replace("loopEnabled: true, ", ""), "loopEnabled: true", code, None,
        "bad_argument"),
    Row("assistant.loopCriteria", FIXER, "loopCriteria: {type: regex, value: DONE}", iterations, 2, 3),
    Row("assistant.maxIterations", FIXER.replace("maxIterations: 3, ", ""), "maxIterations: 2", iterations, 2, 4,
        "maxIterations: 4"),
    Row("assistant.maxDurationSeconds", FIXER, "maxDurationSeconds: 0", iterations, 0, 3),
    Row("assistant.stallAfter", FIXER, "stallAfter: 2", lambda run: len(run.of("paused")), 1, 0),
    Row("assistant.maxTotalBudgetUsd", FIXER, "maxTotalBudgetUsd: 0.5", iterations, 1, 3),
    Row("assistant.memoryEnabled", FIXER, "memoryEnabled: true", lambda run: [one["code"] for one in run.of("warning")],
        ["no_memory"], []),
    Row("assistant.skills", FIXER, "skills: [care]", lambda run: "Take care." in str(run.models.requests[0].system),
        True, False),
    Row("assistant.servers", FIXER, "servers: [own]", lambda run: [one.name for one in run.models.requests[0].tools],
        ["echo"], []),
    Row("assistant.memory", FIXER, "memory: notes/fixer.md", lambda run: len(run.models.asked("memory")), 3, 0),
    Row("assistant.retry", FIXER, "retry: {attempts: 1}", lambda run: len(run.of("retrying")), 1, 0),
)  # fmt: skip
OTHER_ROWS = (
    Row("loop criteria.type", FIXER.replace(PLACE, f"loopCriteria: {{value: DONE, {PLACE}}}"), "type: regex",
        iterations, 2, 3, "type: max_iterations"),
    Row("loop criteria.value", FIXER.replace(PLACE, f"loopCriteria: {{type: regex, {PLACE}}}"), "value: first",
        iterations, 1, 2, "value: DONE"),
    Row("loop criteria.argv", CHECK, "argv: ['true']", iterations, 1, 3, "value: 'false'"),
    Row("loop criteria.cwd", CHECK.replace(PLACE, f"argv: [test, -e, here], {PLACE}"), "cwd: inner", iterations, 1, 3),
    Row("loop criteria.includeOutput", CHECK.replace(PLACE, f"argv: [ls, nothing], {PLACE}"), "includeOutput: true",
        lambda run: "## Test Output" in run.models.requests[1].prompt, True, False),
    Row("loop criteria.timeoutSeconds", CHECK.replace(PLACE, f"argv: [sleep, '0.5'], {PLACE}"), "timeoutSeconds: 0.01",
        iterations, 3, 1),
    Row("loop criteria.lastLine", FIXER.replace(PLACE, f"loopCriteria: {{type: regex, value: DONE, {PLACE}}}"),
        "lastLine: true", iterations, 3, 1, "lastLine: false"),
    Row("loop criteria.inARow", FIXER.replace(PLACE, f"loopCriteria: {{type: regex, value: DONE, {PLACE}}}"),
        "inARow: 2", iterations, 3, 2, "inARow: 1"),
    Row("retry.backoffSeconds", FIXER.replace(PLACE, f"retry: {{attempts: 1, {PLACE}}}"), "backoffSeconds: 0.01",
        lambda run: run.of("retrying")[0]["delay"], 0.01, 0.0),
    Row("retry.attempts", FIXER.replace(PLACE, f"retry: {{{PLACE}}}"), "attempts: 1",
        lambda run: len(run.of("retrying")), 1, 0, "attempts: 0"),
    Row("assistant file.assistants", PLACE, "assistants: [{name: A, persona: p, loopEnabled: true, provider: openai}]",
        lambda run: run.first["name"], "A", "B", "{name: B, persona: p, loopEnabled: true, provider: openai}"),
)  # fmt: skip


def _everywhere(row: Row) -> tuple[Row, Row]:
    """A file that is one assistant, and one that is a list of them."""
    name = row.key.removeprefix("assistant.")
    listed = row.text.join(("assistants: [", "]"))
    return row._replace(key=f"assistant file.{name}"), row._replace(text=listed)


ROWS = (*(row for one in ONE_ROWS for row in _everywhere(one)), *OTHER_ROWS)


@pytest.mark.timeout(600)
def test_a_key_of_an_assistant_is_seen_in_the_run(tmp_path: Path) -> None:
    told = asyncio.run(_wrong(tmp_path))
    assert told == "", told


async def _wrong(folder: Path) -> str:
    project = WiredProject(folder)
    project.write("inner/here", "")
    project.write("skills/care/SKILL.md", "Take care.")
    server = json.dumps([sys.executable, str(FILE), "only", "echo"])
    project.write(".loop-ls.yaml", f"servers: {{own: {{command: {server}}}}}\n")
    await project.open()

    async def run(row: Row, text: str) -> Ended:
        project.write("fixer.assistant.yaml", text)
        script = SCRIPTS.get(row.key.rpartition(".")[2], SCRIPT)
        return await project.run("fixer.assistant.yaml", dict(script), target={"kind": "assistant"}, message="Do it.")

    try:
        return await wrong(ROWS, run, lambda row: row.key.rpartition(".")[2] in SCRIPTS and row.key)
    finally:
        await project.close()
