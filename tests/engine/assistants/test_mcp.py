"""Assistants started by agents of other programs, with the official SDK's client."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest

from loop_ls.engine.api.mcp.server import McpEndpoint
from tests.engine.assistants.support.served import OWNER_TOKEN, serving

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")


async def test_AB_151_over_mcp_a_program_needs_the_same_consent(tmp_path: Path) -> None:
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    endpoint = McpEndpoint()
    async with serving(tmp_path, mcp=endpoint) as served:
        headers = {"Authorization": f"Bearer {OWNER_TOKEN}"}
        start = {"definition": "fixer", "goal": "do it"}
        async with (
            httpx2.AsyncClient(headers=headers, verify=False) as http,
            Client(streamable_http_client(f"{served.url}/mcp", http_client=http)) as client,
        ):
            refused = await client.call_tool("loop_start", start)
            told = json.loads(refused.content[0].text)  # type: ignore[union-attr]
            assert refused.is_error
            assert (told["code"], told["programs"]) == ("consent_required", [list(served.agent.program)])
            assert served.agent.calls == []
            assert told["message"].startswith("The owner must give permission first: this run starts ")
            assert not {"digest", "nonce"} & set(told)
            given = await client.call_tool("loop_start", {**start, "consent": "yes"})
            assert given.is_error
            assert served.agent.calls == []
            await served.agree()
            started = await client.call_tool("loop_start", start)
            assert not started.is_error, started
        run_id = json.loads(started.content[0].text)["loop_id"]  # type: ignore[union-attr]
        facts = await served.ended(run_id)
        assert (facts.end["kind"], served.agent.messages[0]) == ("completed", "do it")
    await endpoint.aclose()
