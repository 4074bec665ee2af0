"""A folder with a fake agent in it, and what it was asked."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loop_ls.engine.runners.claude import Claude
from loop_ls.engine.runners.cli import CliRunner
from loop_ls.engine.runners.runner import Assignment, Work


class FakeAgent:
    """Speaks as Claude Code does; each call takes the next entry of `script`."""

    def __init__(self, folder: Path, *script: dict[str, Any]) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        if script or not (folder / "script.json").exists():  # one that is found again says what it said
            self.say(*script)

    def say(self, *script: dict[str, Any]) -> None:
        (self.folder / "script.json").write_text(json.dumps(script or [{"text": "ok"}]))

    @property
    def program(self) -> tuple[str, ...]:
        return (sys.executable, str(Path(__file__).with_name("fake_claude.py")), str(self.folder))

    @property
    def settings(self) -> dict[str, Any]:
        return {"claude-code": {"kind": "agent-cli", "cli": list(self.program), "speaks": "claude-code"}}

    def runner(self, environ: Mapping[str, str] | None = None) -> CliRunner:
        return CliRunner("claude-code", self.program, Claude(), dict(os.environ) if environ is None else environ)

    async def run(self, message: str = "do it", environ: Mapping[str, str] | None = None, **more: Any) -> Work:
        return await self.runner(environ).run(Assignment(message, folder=str(self.folder), **more))

    @property
    def calls(self) -> list[dict[str, Any]]:
        path = self.folder / "calls.jsonl"
        whole, _, _ = (path.read_text() if path.exists() else "").rpartition("\n")  # it may be writing the next one
        return [json.loads(line) for line in whole.splitlines()]

    @property
    def messages(self) -> list[str]:
        return [call["message"] for call in self.calls]


def option(words: list[str], flag: str) -> str | None:
    return words[words.index(flag) + 1] if flag in words else None
