"""A small MCP server over stdio for tests: plain Python, up in 20 ms, and it misbehaves on demand.

Run it as a file. Words behind it: `dumb` never answers, `dead` says why and exits, `chatty` prints lines that
are no messages, `only NAME ...` offers these tools alone. Each line it writes to the file named by MCP_LOG
(if set) is one call of a tool.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # it runs as a file, by a Python without packages
    from loop_ls.text.json_value import JsonObject

FILE = __file__


def _schema(**properties: str) -> JsonObject:
    return {"type": "object", "properties": {name: {"type": kind} for name, kind in properties.items()}}


TOOLS: dict[str, tuple[str, JsonObject]] = {
    "echo": ("Says the text again.", _schema(text="string")),
    "add": ("Adds two numbers.", _schema(a="number", b="number")),
    "fail": ("Never works.", _schema()),
    "sleep": ("Takes its time.", _schema(seconds="number")),
    "die": ("Ends the server.", _schema()),
    "env": ("The value of an environment variable.", _schema(name="string")),
    "big": ("A long text.", _schema(characters="integer")),
    "spawn": ("Starts a program that never ends; its process id.", _schema()),
    "search": ("Searches documents.", _schema(query="string", top_k="integer")),
}


def call(name: str, arguments: dict[str, Any]) -> str:
    match name:
        case "echo":
            return str(arguments.get("text", ""))
        case "add":
            return str(arguments["a"] + arguments["b"])
        case "sleep":
            time.sleep(float(arguments["seconds"]))
            return "rested"
        case "die":
            sys.stderr.write("told to die\n")
            os._exit(3)
        case "env":
            return os.environ.get(str(arguments["name"]), "(not set)")
        case "big":
            return "x" * int(arguments["characters"])
        case "spawn":
            return str(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid)
        case "search":
            top = int(arguments.get("top_k") or 5)
            found = [{"id": f"doc{n}", "text": f"{arguments['query']} {n}", "score": 1 / n} for n in range(1, top + 1)]
            return json.dumps({"results": found, "total_results": top, "fusion_method": "rrf"})
        case _:
            raise ValueError(f"{name} does not work")


#: Versions of the protocol; whoever asks for another one is offered the last.
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a request; None for a method that is not known."""
    match method:
        case "initialize":
            info = {"name": "test", "version": "1"}
            asked = params["protocolVersion"]
            version = asked if asked in VERSIONS else VERSIONS[-1]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "ping":
            return {}
        case "tools/list":
            kept = sys.argv[2:] if sys.argv[1:2] == ["only"] else list(TOOLS)
            listed = [{"name": name, "description": TOOLS[name][0], "inputSchema": TOOLS[name][1]} for name in kept]
            return {"tools": listed}
        case "tools/call":
            _log(params["name"], params.get("arguments") or {})
            try:
                text, failed = call(params["name"], params.get("arguments") or {}), False
            except (ValueError, KeyError, TypeError) as error:
                text, failed = str(error), True
            return {"content": [{"type": "text", "text": text}], "isError": failed}
        case _:
            return None


_UNGREETED = {"code": -32602, "message": "Received request before initialization was complete"}


def main() -> None:
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    if mode == "dead":
        sys.exit("the index is locked by another process")
    greeted = False
    for line in sys.stdin:
        message = json.loads(line)
        if mode == "chatty":
            _say("still here")
        if "id" not in message or mode == "dumb":
            continue
        greeted = greeted or message["method"] == "initialize"
        if not greeted and message["method"] != "ping":
            _say(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": _UNGREETED}))
            continue
        found = answer(message["method"], message.get("params") or {})
        reply = {"result": found} if found is not None else {"error": {"code": -32601, "message": "no such method"}}
        _say(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _log(name: str, arguments: JsonObject) -> None:
    path = os.environ.get("MCP_LOG")
    if path:
        with open(path, "a", encoding="utf-8") as log:
            log.write(json.dumps([name, arguments]) + "\n")


if __name__ == "__main__":
    main()
