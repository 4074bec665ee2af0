"""Keys of the settings, from `.loop-ls.yaml` to what models are asked, where runs end and how the engine behaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from loop_ls.app.engine import build, log_manner, options
from loop_ls.cli.engine.database import VARIABLE, database_of
from loop_ls.engine.providers import Providers
from loop_ls.engine.providers.config import configured
from loop_ls.engine.retention.run_retention import RetentionPolicy
from loop_ls.index.disk.discovery import load_settings
from loop_ls.testing.models import calls
from tests.wired.project import Ended, WiredProject, wrong
from tests.wired.row import PLACE, Row, named

HEAD = "$schema: workflow/v2.0\nname: {name}\nversion: 1.0.0\nexecution: {{provider: acme, model: large}}\n"
WORKFLOWS = {
    "main": "loops: [{name: l, workflow: work, max_iterations: 5, until: The output says PASS}]\n",
    "work": "steps: [{name: work, run: do it}]\n",
    "flows/calls_far": "steps: [{name: a, template: {name: far}}]\n",
    "listed": "loops: [{name: l, workflow: work, mode: iterate, items: 'file:///outputs/l.txt', max_iterations: 9}]\n",
}
PAIR = (
    '{"name": "pair", "description": "d", "roles": [{"name": "write", "role": "poet", "prompt": "Write."}],'
    ' "termination_condition": {"type": "iteration_bound", "value": 1}}'
)
ASSIST = "assist: {provider: ollama, model: small}\n"
ROLE = f"{ASSIST}roles:\n  poet: {{{PLACE}}}\n"
ROUNDS = [calls(("ls", {})), calls(("ls", {})), calls(("ls", {})), "done"]


def iterations(run: Ended) -> object:
    return len(run.models.prompts("work"))


def reason(run: Ended) -> object:
    return run.end.get("reason") or run.end["kind"] if run.facts else run.answer.get("code")


def judge(field: str) -> Callable[[Ended], object]:
    return lambda run: getattr(run.models.asked("judge")[0], field)


def offers_impossible(run: Ended) -> object:
    return "IMPOSSIBLE" in run.models.prompts("judge")[0]


def stage(field: str) -> Callable[[Ended], object]:
    return lambda run: getattr(run.models.asked("write")[0], field)


def ok(run: Ended) -> object:
    return run.answer["ok"]


#: By the file that is run.
RUN_ROWS = {
    "main.yaml": (
        Row("settings.judge", PLACE, "judge: {provider: other, model: wise}", judge("provider"), "other", "acme"),
        Row("judge.provider", f"judge: {{model: wise, {PLACE}}}", "provider: other", judge("provider"), "other",
            "acme", "provider: acme"),
        Row("judge.model", f"judge: {{provider: other, {PLACE}}}", "model: wise", judge("model"), "wise", "own",
            "model: own"),
        Row("judge.local", f"judge: {{{PLACE}}}", "local: true", lambda run: len(run.models.asked("judge")), 0, 5),
        Row("judge.impossible", f"judge: {{{PLACE}}}", "impossible: true", offers_impossible, True, False),
        Row("settings.limits", PLACE, "limits: {maxIterations: 2}", iterations, 2, 5),
        Row("limits.maxIterations", f"limits: {{{PLACE}}}", "maxIterations: 2", iterations, 2, 5),
        Row("limits.maxTokens", f"limits: {{{PLACE}}}", "maxTokens: 9000", lambda run: run.first["limits"].get(
            "maxTokens"), 9000, None),
        Row("limits.unchanged", f"limits: {{{PLACE}}}", "unchanged: 2", iterations, 2, 5),
        Row("limits.wallClock", f"limits: {{{PLACE}}}", "wallClock: 10m", lambda run: run.first["limits"].get(
            "wallClock"), 600.0, None),
        Row("limits.perProject", f"limits: {{{PLACE}}}", "perProject: {maxTokens: 1}", iterations, 0, 5),
        Row("limits.perDay", f"limits: {{{PLACE}}}", "perDay: {maxTokens: 1}", iterations, 0, 5),
        Row("shared-limits.maxTokens", f"limits: {{perDay: {{{PLACE}}}}}", "maxTokens: 1", iterations, 0, 5),
    ),
    "listed.yaml": (
        Row("settings.outputsDir", PLACE, "outputsDir: lists", iterations, 3, 0),
    ),
    "flows/calls_far.yaml": (
        Row("settings.workflowRoots", PLACE, "workflowRoots: [flows, away]", ok, True, False),
    ),
    "loops/pair.json": (
        Row("settings.assist", f"roles: {{poet: {{}}}}\n{PLACE}", "assist: {provider: ollama, model: small}",
            stage("provider"), "ollama", "other", "assist: {provider: other, model: small}"),
        Row("assist.provider", f"roles: {{poet: {{}}}}\nassist: {{model: small, {PLACE}}}", "provider: ollama",
            stage("provider"), "ollama", "other", "provider: other"),
        Row("assist.model", f"roles: {{poet: {{}}}}\nassist: {{provider: ollama, {PLACE}}}", "model: small",
            stage("model"), "small", "own", "model: own"),
        Row("settings.roles", f"{ASSIST}{PLACE}", "roles: {poet: {instructions: In verse.}}", ok, True, False),
        Row("role.instructions", ROLE, "instructions: In verse.",
            lambda run: "In verse." in (run.models.requests[0].system or "") + run.models.requests[0].prompt, True,
            False),
        Row("role.description", ROLE, "description: Sings.", lambda run: "sings." in str(run.models.requests[0].system),
            True, False),
        Row("role.tools", ROLE, "tools: [Grep], access: readonly",
            lambda run: {tool.name for tool in run.models.requests[0].tools} & {"file_read", "file_search"},
            {"file_search"}, {"file_read", "file_search"}, "access: readonly"),
        Row("role.access", ROLE, "access: minimal", lambda run: len(run.models.requests[0].tools), 0, 13),
        Row("role.provider", ROLE, "provider: own, model: m", stage("provider"), "own", "ollama"),
        Row("role.model", ROLE, "provider: own, model: m", stage("model"), "m", "small"),
        Row("role.maxSteps", ROLE, "maxSteps: 1", lambda run: len(run.models.requests), 1, 4),
    ),
}  # fmt: skip


@pytest.mark.timeout(600)
def test_a_key_of_the_settings_is_seen_in_the_run(tmp_path: Path) -> None:
    told = asyncio.run(_wrong(tmp_path))
    assert told == "", told


async def _wrong(folder: Path) -> str:
    project = WiredProject(folder)
    for name, text in WORKFLOWS.items():
        project.write(f"{name}.yaml", HEAD.format(name=name.rpartition("/")[2]) + text)
    project.write("away/far.yaml", HEAD.format(name="far") + WORKFLOWS["work"])
    project.write("loops/pair.json", PAIR)
    project.write("lists/l.txt", "1\n2\n3\n")
    await project.open()

    async def run(path: str, row: Row, text: str) -> Ended:
        project.write(".loop-ls.yaml", text + "\n")
        script = {"judge": "NO", "write": ROUNDS if row.key == "role.maxSteps" else "verse"}
        if path.endswith(".json"):
            return await project.run(path, script, target={"kind": "definition"}, goal="g")
        return await project.run(path, script, input="x")

    try:
        return "\n".join(
            filter(
                None,
                [
                    await wrong(rows, partial(run, path), lambda row: row.key == "role.maxSteps")
                    for path, rows in RUN_ROWS.items()
                ],
            )
        )
    finally:
        await project.close()


# -- the process of the engine ------------------------------------------------------------------------


def process(name: str) -> Callable[[Path], object]:
    return lambda root: getattr(options(None, None, root), name)


def logs(root: Path) -> object:
    import argparse

    return log_manner(argparse.Namespace(log_format=None, log_level=None), root)


def kept(root: Path) -> object:
    return build(root / "data", Providers({}), root)._keep


ENGINE = f"engine: {{{PLACE}}}"
PROCESS_ROWS = (
    Row("settings.engine", PLACE, "engine: {port: 4711}", process("port"), 4711, 0),
    Row("engine.port", ENGINE, "port: 4711", process("port"), 4711, 0),
    Row("engine.teardownOnDisconnect", ENGINE, "teardownOnDisconnect: false", process("grace"), None, 60.0),
    Row("engine.teardownGraceMs", ENGINE, "teardownGraceMs: 250", process("grace"), 0.25, 60.0),
    Row("engine.shutdownGraceMs", ENGINE, "shutdownGraceMs: 250", process("shutdown_grace"), 0.25, 5.0),
    Row("engine.logFormat", ENGINE, "logFormat: json", logs, ("json", "warning"), ("text", "warning")),
    Row("engine.logLevel", ENGINE, "logLevel: debug", logs, ("text", "debug"), ("text", "warning")),
    Row("engine.keepRuns", ENGINE, "keepRuns: 7", kept, RetentionPolicy(7, None), RetentionPolicy(None, None)),
    Row("engine.keepDays", ENGINE, "keepDays: 7", kept, RetentionPolicy(None, 7), RetentionPolicy(None, None)),
    Row("engine.databaseUrl", ENGINE, "databaseUrl: 'postgresql://localhost/loops'",
        lambda root: database_of(None, root), "postgresql://localhost/loops", None),
)  # fmt: skip


@pytest.mark.parametrize("row", named(PROCESS_ROWS))
def test_a_setting_of_the_engine_reaches_its_process(row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (VARIABLE, "LOOP_LS_LOG_FORMAT", "LOOP_LS_LOG_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    for text, expected in row.twins:
        (tmp_path / ".loop-ls.yaml").write_text(text + "\n")
        assert row.sees(tmp_path) == expected, text


# -- providers ----------------------------------------------------------------------------------------


def provider(name: str) -> Callable[[Path], object]:
    """A property of the provider that a call is made to."""
    return lambda root: getattr(configured("own", load_settings(str(root))[0].raw["providers"], {}), name)


OWN = f"providers: {{own: {{kind: openai, baseUrl: 'http://localhost:1/v1', {PLACE}}}}}"
PROVIDER_ROWS = (
    Row("provider settings.requestsPerMinute", OWN, "requestsPerMinute: 6", provider("requests_per_minute"), 6, None),
)


@pytest.mark.parametrize("row", named(PROVIDER_ROWS))
def test_a_limit_of_the_settings_holds_for_the_provider(row: Row, tmp_path: Path) -> None:
    for text, expected in row.twins:
        (tmp_path / ".loop-ls.yaml").write_text(text + "\n")
        assert row.sees(tmp_path) == expected, text
