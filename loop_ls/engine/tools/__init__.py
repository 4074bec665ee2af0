"""Tools of MCP servers: which servers there are, sessions with them, and what their tools answer.

The SDK (extra `mcp`) is imported when the first server of a run is needed, and by `transports` and
`session` alone. Nothing here knows models or workflows.
"""

from __future__ import annotations

from loop_ls.engine.tools.servers import Server, read_servers
from loop_ls.engine.tools.sessions import Sessions
from loop_ls.engine.tools.values import Tool, ToolResult

__all__ = ["Server", "Sessions", "Tool", "ToolResult", "read_servers"]
