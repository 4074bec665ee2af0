"""How Claude Code uses a server of its configuration: one process, spoken to in lines, held to the protocol.

Runs as part of a program, so nothing else is imported.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def used(words: Sequence[str], name: str, arguments: Json) -> Json:
    """What a tool of a server answers -> `offered`, `text`, `failed`, and `key`, the file that the server is given."""
    servers = json.loads(words[words.index("--mcp-config") + 1])["mcpServers"]
    asks = "bypassPermissions" not in words  # else what is not listed is allowed all the same
    allowed = words[words.index("--allowedTools") + 1].split(",") if asks and "--allowedTools" in words else None
    [(server, told)] = servers.items()
    if allowed is not None and f"mcp__{server}__{name}" not in allowed:
        return {"refused": name}
    key = Path(told["args"][-1])
    shown = {"key": key.read_text(), "mode": oct(key.stat().st_mode & 0o777)}
    process = subprocess.Popen(
        [told["command"], *told["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    try:
        return {**shown, **_asked(process, name, arguments)}
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(60)


def _asked(process: subprocess.Popen[str], name: str, arguments: Json) -> Json:
    told = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "fake", "version": "1"}}
    unknown = _said(process, "server/discover", {})  # it asks for what is newer first
    assert unknown["error"]["code"] == -32601, unknown
    begun = _said(process, "initialize", told)["result"]
    assert (begun["protocolVersion"], "tools" in begun["capabilities"]) == ("2025-11-25", True), begun
    assert set(begun["serverInfo"]) >= {"name", "version"}
    _write(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    tools = _said(process, "tools/list", {})["result"]["tools"]
    assert all(tool["inputSchema"]["type"] == "object" for tool in tools)
    found = _said(process, "tools/call", {"name": name, "arguments": arguments})["result"]
    [part] = found["content"]
    assert part["type"] == "text"
    return {"offered": [tool["name"] for tool in tools], "text": part["text"], "failed": found["isError"]}


def _said(process: subprocess.Popen[str], method: str, params: Json) -> Json:
    _write(process, {"jsonrpc": "2.0", "id": method, "method": method, "params": params})
    assert process.stdout is not None
    answer: Json = json.loads(process.stdout.readline())
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", method), answer
    return answer


def _write(process: subprocess.Popen[str], message: Json) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()
