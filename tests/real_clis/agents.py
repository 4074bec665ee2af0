"""The three real programs: how each is pointed at a provider on loopback, and what its tools are called."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.engine.providers.support.recording_provider import Asks

RECORDER = Path(__file__).with_name("recorder.py")
#: A port where nobody listens: whatever a program would send to the world ends there.
NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class RealAgent:
    """`speaks` is the provider that the settings would name."""

    speaks: str
    program: str
    model: str
    environ: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    def cli(self) -> list[str]:
        return [str(Path(os.environ["LOOP_LS_AGENTS"]) / self.program)]

    def recorded(self, log: Path) -> list[str]:
        """The same with its words kept in `log`."""
        return [sys.executable, str(RECORDER), str(log), *self.cli()]

    def environment(self, home: Path) -> dict[str, str]:
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NOWHERE)
        away = {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}
        return {"PATH": os.environ["PATH"], "HOME": str(home), **proxies, **away, **self.environ}

    def write_files(self, home: Path) -> None:
        for name, text in self.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)

    def writes(self, root: Path) -> Asks:
        """The model wants to write a file by its shell."""
        command = f"echo made > {root}/made.txt"
        match self.speaks:
            case "claude-code":
                return Asks("Bash", {"command": command, "description": "Make a file"})
            case "codex":
                return Asks("exec_command", {"cmd": command})
            case _:
                return Asks("bash", {"command": command, "description": "Make a file"})

    def reads(self, path: Path) -> Asks:
        """The model wants to read a file by a tool for files."""
        name = "filePath" if self.speaks == "opencode" else "file_path"
        return Asks("read" if self.speaks == "opencode" else "Read", {name: str(path)})

    def delegates(self, task: str) -> Asks:
        """The model wants an agent below it to do the task."""
        told = {"description": "Do it", "prompt": task}
        match self.speaks:
            case "claude-code":
                return Asks("Agent", {**told, "subagent_type": "general-purpose"})
            case "codex":
                return Asks("spawn_agent", {"message": task, "task_name": "work"})
            case _:
                return Asks("task", {**told, "subagent_type": "general"})

    def uses(self, tool: str, **arguments: str) -> Asks:
        """The model wants a tool of ours."""
        match self.speaks:
            case "claude-code":
                return Asks(f"mcp__loop_ls__{tool}", arguments)
            case "codex":
                return Asks(tool, arguments, server="mcp__loop_ls")
            case _:
                return Asks(f"loop_ls_{tool}", arguments)


def agents(url: str) -> dict[str, RealAgent]:
    models: dict[str, Any] = {"m1": {"name": "m1"}}
    own = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{url}/v1", "apiKey": "made-up"}}
    opencode = {".config/opencode/opencode.json": json.dumps({"provider": {"local": {**own, "models": models}}})}
    anthropic = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "made-up",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    openai = {"OPENAI_BASE_URL": f"{url}/v1", "CODEX_API_KEY": "made-up"}
    return {
        "claude-code": RealAgent("claude-code", "claude", "sonnet", environ=anthropic),
        "codex": RealAgent("codex", "codex", "gpt-5", environ=openai),
        "opencode": RealAgent("opencode", "opencode", "local/m1", files=opencode),
    }
