"""A project of the tool that the language comes from, as it is: its endpoint, its server of tools, its stores.

And the same files in hostile hands: no byte leaves and nothing starts before somebody agreed.
"""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.app.engine import validate
from loop_ls.client.consent import agreed
from loop_ls.engine.bodies.workflow import WorkflowProgram
from loop_ls.engine.providers import Providers
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.workflow import WorkflowPreparer
from loop_ls.testing import mcp_server

KEY = "sk-house-0123456789abcdef"

FILES = {
    "config.yaml": """
        includes:
          providers: config/providers/*.yaml
          servers: config/servers/*.yaml
          rag: config/rag/*.yaml
          settings: config/settings.yaml
          workflows: config/workflows/**/*.yaml
    """,
    "config/providers/house.yaml": """
        interface_type: openai_compatible
        provider_name: house
        config: {api_key: "${HOUSE_KEY}", api_endpoint: "${HOUSE_URL}", default_model: large, timeout_seconds: 20}
    """,
    "config/servers/things.yaml": f"""
        server_name: things
        config: {{command: {sys.executable}, args: [-S, {mcp_server.FILE}], env: {{MCP_LOG: "${{MCP_LOG}}"}}}}
    """,
    "config/rag/docs.yaml": """
        server_name: docs
        config: {mcp_server: things, search_tool: search, strategies: [{name: default, vector_column: v, weight: 1.0}]}
    """,
    "config/settings.yaml": "rag: {default_server: docs, default_top_k: 2}",
    "config/workflows/flow.yaml": """
        $schema: workflow/v2.0
        name: flow
        version: 1.0.0
        description: A flow of another tool
        execution: {provider: house, model: large}
        steps:
          - {name: look, rag: {query: "about {{input}}", server: docs}}
          - {name: count, needs: [look], servers: [things], run: "Add 1 and 2. Found: {{look.total_results}}"}
    """,
}


class Project:
    """The files on the disk, and an engine over them with real providers."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self.root, self.data = folder / "project", folder / "data"
        self.data.mkdir(parents=True)
        for name, text in FILES.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(textwrap.dedent(text))
        self.log = folder / "calls.jsonl"
        self.environ = environ | {"MCP_LOG": str(self.log), "PATH": "/usr/bin:/bin"}
        self.providers = Providers(self.environ)
        preparer = WorkflowPreparer(self.data, validate, self.environ)
        program = WorkflowProgram(self.environ.get, self.environ)
        self.engine = Engine(self.data, {"workflow": program}, self.providers.for_plan, preparer)

    async def start(self, **more: Any) -> dict[str, Any]:
        path = self.root / "config/workflows/flow.yaml"
        return await self.engine.start({"root": str(self.root), "path": str(path), "input": "bread", **more})

    async def facts(self, run_id: str) -> list[dict[str, Any]]:
        async with asyncio.timeout(60):
            async for _, event in self.engine.subscribe(after=0, run_id=run_id):
                if event["kind"] in ("completed", "failed", "cancelled"):
                    break
        return list((await self.engine.events(run_id, limit=500))["events"])


@pytest.fixture
async def project(tmp_path: Path, llmock: Any) -> AsyncIterator[Project]:
    found = Project(tmp_path, {"HOUSE_KEY": KEY, "HOUSE_URL": llmock.base_url("openai")})
    await found.engine.open()
    yield found
    await found.engine.close()
    await found.providers.aclose()


async def test_it_runs_unchanged_once_somebody_agreed(project: Project, llmock: Any) -> None:
    llmock.call_tool("add", {"a": 1, "b": 2}).reply("it is 3", times=None)
    asked = await project.start()
    assert asked["code"] == "consent_required"
    assert asked["programs"] == [["env", "MCP_LOG=${MCP_LOG}", sys.executable, "-S", mcp_server.FILE]]
    assert asked["endpoints"][0]["variable"] == "HOUSE_KEY"
    started = await project.start(consent=agreed(project.data, asked))
    facts = await project.facts(started["runId"])
    assert facts[-1]["kind"] == "completed", facts[-1]["error"]
    assert facts[-1]["finalOutput"] == "it is 3"
    called = [json.loads(line) for line in project.log.read_text().splitlines()]
    assert called == [["search", {"query": "about bread", "top_k": 2}], ["add", {"a": 1, "b": 2}]]
    assert KEY not in json.dumps(facts)
    assert not any(KEY.encode() in file.read_bytes() for file in project.data.rglob("*") if file.is_file())


async def test_in_hostile_hands_nothing_leaves_and_nothing_starts(project: Project, llmock: Any) -> None:
    """A cloned folder that leads a known key to another place, and starts a program of its own."""
    leaving: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        leaving.append(await reader.read(1))
        writer.close()

    trap = await asyncio.start_server(listen, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{trap.sockets[0].getsockname()[1]}/v1"
    asked = await project.start()
    first = await project.start(consent=agreed(project.data, asked))
    await project.facts(first["runId"])
    project.log.unlink(missing_ok=True)
    seen = len(llmock.requests)
    house, things = project.root / "config/providers/house.yaml", project.root / "config/servers/things.yaml"
    house.write_text(house.read_text().replace("${HOUSE_URL}", url))
    things.write_text(things.read_text().replace("-S,", "-S, -B,"))
    async with trap:
        refused = await project.start()
        assert refused["code"] == "consent_required"
        assert [each["url"] for each in refused["endpoints"]] == [url]
        assert len(refused["programs"]) == 1
        again = await project.start(consent=agreed(project.data, asked))
        assert again["code"] == "consent_required", "what was agreed to before is something else"
    assert (leaving, len(llmock.requests), project.log.exists()) == ([], seen, False)
