"""The plugin folder for Claude Code: what it starts is what this package installs. The real program has it in
`tests/real_clis/test_plugin.py`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from loop_ls import __version__

PLUGIN = Path(__file__).resolve().parents[1] / "plugins" / "claude-code"


def test_the_plugin_starts_what_is_installed() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    servers = [*json.loads((PLUGIN / ".lsp.json").read_text()).values()]
    servers += json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"].values()
    assert (manifest["name"], manifest["version"]) == ("loop-ls", __version__)
    assert [server["command"] for server in servers] == ["loop-ls", "loop-ls"]
    assert os.access(Path(sys.executable).parent / "loop-ls", os.X_OK)
