"""The tools of `loop_ls.testing.mcp_server` behind the server of the official package, over standard input."""

from __future__ import annotations

from mcp.server import MCPServer

server = MCPServer("test")


@server.tool(description="Says the text again.")
def echo(text: str) -> str:
    return text


@server.tool(description="Adds two numbers.")
def add(a: float, b: float) -> str:
    return str(int(a + b))


@server.tool(description="Never works.")
def fail() -> str:
    raise ValueError("fail does not work")


if __name__ == "__main__":
    server.run("stdio")
