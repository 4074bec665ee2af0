"""Claude Code as an agent: `claude --print` with its stream of JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import assert_never

from loop_ls.engine.runners.cli import CommandLine
from loop_ls.engine.runners.environment import is_root
from loop_ls.engine.runners.runner import SERVER, SERVER_STARTS, Assignment, Hear
from loop_ls.engine.runners.stream_json import StreamJson

OUTPUT_TOKENS = "CLAUDE_CODE_MAX_OUTPUT_TOKENS"


class Claude:
    credentials = ("CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    handed_on = ("ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
    prices = "anthropic"
    tells_cost = True

    def environment(self, environ: Mapping[str, str]) -> Mapping[str, str]:
        found = {OUTPUT_TOKENS: environ.get(OUTPUT_TOKENS) or "128000"}
        # Without this the program refuses to work unasked for the superuser, as in most containers.
        return {**found, "IS_SANDBOX": "1"} if is_root() else found

    def speech(self, hear: Hear) -> StreamJson:
        return StreamJson(hear)

    def said(self, work: Assignment, by_file: Callable[[str], str]) -> CommandLine:
        words = [*_FIXED, *_allowed(work), *_served(work, by_file)]
        words += _prompt("--system-prompt", work.system, by_file)
        words += ["--session-id", work.session]
        if work.name:
            words += ["--name", work.name]
        words.append("--no-session-persistence")
        if work.model:
            words += ["--model", work.model]
        words += _prompt("--append-system-prompt", work.appended, by_file)
        if work.steps is not None:
            words += ["--max-turns", str(work.steps)]
        if work.budget_usd is not None:
            words += ["--max-budget-usd", f"{work.budget_usd:g}"]
        return CommandLine(words, stdin=work.message, environment=_WAITS if work.served.names else {})


_FIXED = ("--print", "--verbose", "--output-format", "stream-json")
#: No settings, hooks, commands and servers of a project or a user: they could allow what the access does not.
_APART = ("--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands", "--permission-mode", "dontAsk")
_READING = ("Read", "Grep", "Glob")
#: The first question waits for our server; in ms.
_WAITS = {"MCP_CONNECTION_NONBLOCKING": "false", "MCP_TIMEOUT": str(SERVER_STARTS * 1000)}
#: Tools that start what works beside or after the agent, or that lead it out of its folder.
_BESIDE = (
    *("Agent", "CronCreate", "CronDelete", "ScheduleWakeup", "Workflow", "RemoteTrigger", "Monitor", "SendMessage"),
    *("EnterWorktree", "ExitWorktree"),
)


def _allowed(work: Assignment) -> list[str]:
    """What the agent may do. `--tools` says which tools there are; `--allowedTools` fences nothing."""
    match work.access:
        case "full":
            named = ["--allowedTools", ",".join(work.tools)] if work.tools else []
            denied = ["--disallowedTools", ",".join(_BESIDE)] if work.alone else []
            only = [] if work.only is None else ["--tools", ",".join(work.only)]
            return ["--permission-mode", "bypassPermissions", *only, *named, *denied]
        case "readonly-shell" | "readonly":
            return [*_APART, "--tools", ",".join(name for name in _READING if work.only is None or name in work.only)]
        case "minimal":
            return [*_APART, "--tools", ""]
        case never:
            assert_never(never)


def _served(work: Assignment, by_file: Callable[[str], str]) -> list[str]:
    """The server of our tools, none of which hides behind a search; where not all is allowed, exactly these are."""
    if not work.served.names:
        return []
    command, *args = work.served.words(by_file)
    told = {"command": command, "args": args, "alwaysLoad": True}
    server = ["--mcp-config", json.dumps({"mcpServers": {SERVER: told}})]
    allowed = ",".join(f"mcp__{SERVER}__{name}" for name in work.served.names)
    return server if work.access == "full" else [*server, "--allowedTools", allowed]


def _prompt(flag: str, text: str, by_file: Callable[[str], str]) -> Iterator[str]:
    if text:
        yield from (f"{flag}-file", by_file(text))
