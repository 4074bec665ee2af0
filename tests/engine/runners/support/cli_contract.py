"""What the real agent programs refuse, by their own help and by trying them.

A fake that takes every word hides a command line that no real program would take. `REFUSED` is tried with the fakes in
every run and with the real programs in their ring. Used by programs that run as files, so nothing else is imported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

#: Option -> how many words follow. Of each program those that this product uses, and no others.
OPTIONS: Mapping[str, Mapping[str, int]] = {
    "claude-code": {
        **dict.fromkeys(("--print", "--verbose", "--strict-mcp-config", "--disable-slash-commands"), 0),
        **dict.fromkeys(("--no-session-persistence",), 0),
        **dict.fromkeys(("--output-format", "--permission-mode", "--allowedTools", "--disallowedTools"), 1),
        **dict.fromkeys(("--tools", "--mcp-config", "--setting-sources", "--session-id", "--name", "--model"), 1),
        **dict.fromkeys(("--system-prompt-file", "--append-system-prompt-file", "--max-budget-usd"), 1),
        "--max-turns": 1,
    },
    "codex": {
        **dict.fromkeys(("--json", "--skip-git-repo-check", "--ephemeral", "--ignore-user-config"), 0),
        **dict.fromkeys(("--ignore-rules", "--dangerously-bypass-approvals-and-sandbox"), 0),
        **dict.fromkeys(("--sandbox", "-c", "--model"), 1),
    },
    "opencode": {"--pure": 0, "--format": 1, "--title": 1, "--agent": 1, "--model": 1},
}
_CHOICES: Mapping[str, Sequence[str]] = {
    "--output-format": ("text", "json", "stream-json"),
    "--permission-mode": ("acceptEdits", "bypassPermissions", "default", "dontAsk", "plan"),
    "--sandbox": ("read-only", "workspace-write", "danger-full-access"),
    "--format": ("default", "json"),
}
#: The command before the options.
COMMAND: Mapping[str, tuple[str, ...]] = {"claude-code": (), "codex": ("exec",), "opencode": ("run",)}

#: Why -> program, words after those that start it, standard input.
REFUSED: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "claude: an unknown option": ("claude-code", ("--print", "--no-such-option"), "hi"),
    "claude: no prompt": ("claude-code", ("--print",), ""),
    "claude: lines of JSON without --verbose": ("claude-code", ("--print", "--output-format", "stream-json"), "hi"),
    "claude: a session that is no UUID": ("claude-code", ("--print", "--session-id", "0123456789abcdef"), "hi"),
    "claude: a format that there is not": ("claude-code", ("--print", "--output-format", "xml"), "hi"),
    "claude: a mode that there is not": ("claude-code", ("--print", "--permission-mode", "none"), "hi"),
    "claude: a budget that is no number": ("claude-code", ("--print", "--max-budget-usd", "much"), "hi"),
    "claude: servers that are no JSON": ("claude-code", ("--print", "--mcp-config", "{"), "hi"),
    "claude: a prompt in a file that is not there": ("claude-code", ("--print", "--system-prompt-file", "/x/y"), "hi"),
    "codex: an unknown option": ("codex", ("exec", "--no-such-option", "-"), "hi"),
    "codex: no prompt": ("codex", ("exec", "--json", "--skip-git-repo-check", "-"), ""),
    "codex: outside of a repository": ("codex", ("exec", "--json", "-"), "hi"),
    "codex: a sandbox that there is not": ("codex", ("exec", "--sandbox", "none", "-"), "hi"),
    "codex: a sandbox beside none": (
        "codex",
        ("exec", "--skip-git-repo-check", "--sandbox", "nowhere", "--dangerously-bypass-approvals-and-sandbox", "-"),
        "hi",
    ),
    "opencode: an unknown option": ("opencode", ("run", "--no-such-option", "hi"), "hi"),
    "opencode: no prompt": ("opencode", ("run", "--format", "json"), ""),
    "opencode: a format that there is not": ("opencode", ("run", "--format", "xml"), "hi"),
}


def refusal(speaks: str, words: Sequence[str], message: str) -> str | None:
    return next(_faults(speaks, list(words), message), None)


def _faults(speaks: str, words: list[str], message: str) -> Iterator[str]:
    known, options = OPTIONS[speaks], {}
    command = COMMAND[speaks]
    if tuple(words[: len(command)]) != command:
        yield f"error: unknown command {words[:1]}"
    rest = words[len(command) :]
    while rest:
        word = rest.pop(0)
        if word == "-" and speaks == "codex":
            continue
        if word not in known:
            yield f"error: unknown option '{word}'"
            return
        if known[word] > len(rest):
            yield f"error: option '{word}' argument missing"
            return
        value = rest.pop(0) if known[word] else ""
        options[word] = value
        if word in _CHOICES and value not in _CHOICES[word]:
            yield f"error: option '{word}' argument '{value}' is invalid. Allowed choices are {_CHOICES[word]}"
        if word == "-c" and "=" not in value:
            yield f"error: invalid value '{value}' for '--config <key=value>'"
    if not message.strip():
        yield "Error: Input must be provided either through stdin or as a prompt argument"
    yield from {"claude-code": _of_claude, "codex": _of_codex, "opencode": _nothing}[speaks](options)


def _of_claude(options: Mapping[str, str]) -> Iterator[str]:
    if options.get("--output-format") == "stream-json" and "--verbose" not in options:
        yield "Error: When using --print, --output-format=stream-json requires --verbose"
    if not UUID.fullmatch(options.get("--session-id", "00000000-0000-0000-0000-000000000000")):
        yield "Error: Invalid session ID. Must be a valid UUID."
    try:
        if not float(options.get("--max-budget-usd", 1)) > 0:
            yield "error: --max-budget-usd must be a positive number greater than 0"
    except ValueError:
        yield "error: --max-budget-usd must be a positive number greater than 0"
    for name in ("--system-prompt-file", "--append-system-prompt-file"):
        if name in options and not _is_file(options[name]):
            yield f"Error: System prompt file not found: {options[name]}"
    if "--mcp-config" in options:
        yield from _of_servers(options["--mcp-config"])


def _of_servers(written: str) -> Iterator[str]:
    try:
        servers = json.loads(written)["mcpServers"]
    except (ValueError, KeyError, TypeError):
        yield "Error: Invalid MCP configuration"
        return
    if "workspace" in servers:  # the real one goes on without the server, which no caller wants
        yield '"workspace" is a reserved MCP server name and was not loaded'


def _of_codex(options: Mapping[str, str]) -> Iterator[str]:
    if "--skip-git-repo-check" not in options:
        yield "Not inside a trusted directory and --skip-git-repo-check was not specified."


def _nothing(options: Mapping[str, str]) -> Iterator[str]:
    yield from ()


def _is_file(path: str) -> bool:
    try:
        with open(path):
            return True
    except OSError:
        return False


#: Built-in tools of Claude Code that need no permission, and some of those that do.
_CLAUDE_READS = ("Read", "Grep", "Glob")
_CLAUDE_TOOLS = (*_CLAUDE_READS, "Bash", "Edit", "Write", "Skill")


def claude_settings(words: Sequence[str], home: Path, folder: Path) -> Iterator[Mapping[str, Any]]:
    """The settings that Claude Code reads: all of them, unless `--setting-sources` names fewer."""
    sources = words[words.index("--setting-sources") + 1] if "--setting-sources" in words else "user,project,local"
    files = {
        "user": home / "settings.json",
        "project": folder / ".claude/settings.json",
        "local": folder / ".claude/settings.local.json",
    }
    for source in filter(None, sources.split(",")):
        if files[source].is_file():
            yield json.loads(files[source].read_text())


def claude_may_use(tool: str, words: Sequence[str], settings: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a tool is there, and may be used without a question to anybody."""

    def named(option: str) -> list[str] | None:
        return words[words.index(option) + 1].split(",") if option in words else None

    offered = named("--tools")
    if tool not in (_CLAUDE_TOOLS if offered is None else offered) or tool in (named("--disallowedTools") or ()):
        return False
    if named("--permission-mode") == ["bypassPermissions"] or tool in _CLAUDE_READS:
        return True
    allowed = [rule for one in settings for rule in one.get("permissions", {}).get("allow", [])]
    return tool in (*allowed, *(named("--allowedTools") or ()))


#: From this share of a window on, the service has Claude Code warn of it.
WARNS_FROM = 0.9


def rate_limit_info(used: float, resets: int, kind: str = "five_hour") -> dict[str, Any]:
    """What Claude Code says of a usage window of its account after an answer: `utilization` only where it warns."""
    passed = {"surpassedThreshold": WARNS_FROM} if used >= WARNS_FROM else {}
    status = {"status": "allowed_warning" if passed else "allowed"}
    window = {"utilization": used, "resetsAt": resets, **status, **passed}
    told = {**status, "resetsAt": resets, "rateLimitType": kind, "isUsingOverage": False, **passed}
    return {**told, **({"utilization": used} if passed else {}), "unifiedWindows": {kind: window}}
