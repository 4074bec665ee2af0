"""Codex as an agent: `codex exec --json`. It has no system prompt: the persona goes before the message."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import assert_never

from loop_ls.engine.providers.failures import USED_UP
from loop_ls.engine.runners.cli import CommandLine
from loop_ls.engine.runners.output_parser import AgentOutput, count, number, parsed, text
from loop_ls.engine.runners.runner import SERVER, SERVER_STARTS, Assignment, Hear
from loop_ls.text.json_value import Json, as_object


@dataclass(frozen=True, slots=True)
class Codex:
    """`address` is where the service is asked; it takes that from its configuration alone, from no variable."""

    address: str = ""
    credentials: tuple[str, ...] = ("CODEX_API_KEY", "OPENAI_API_KEY")
    handed_on: tuple[str, ...] = ("CODEX_HOME",)
    prices: str = "openai"
    tells_cost: bool = False

    def environment(self, environ: Mapping[str, str]) -> Mapping[str, str]:
        return {"RUST_LOG": f"error,{_COUNTED}=info"}

    def speech(self, hear: Hear) -> CodexOutput:
        return CodexOutput(hear)

    def said(self, work: Assignment, by_file: Callable[[str], str]) -> CommandLine:
        words = ["exec", "--json", "--skip-git-repo-check", *_FIXED, *_allowed(work), *_served(work, by_file)]
        if self.address:
            words += ["-c", f"openai_base_url={json.dumps(self.address)}"]
        if work.model:
            words += ["--model", work.model]
        return CommandLine([*words, "-"], stdin=with_persona(work))


def _allowed(work: Assignment) -> list[str]:
    """What the agent may do. Its own sandbox lets commands read the whole machine, so it has no shell, and reads by
    our tools."""
    match work.access:
        case "full":
            shell = () if work.only is None or "Bash" in work.only else _NO_SHELL
            return ["--dangerously-bypass-approvals-and-sandbox", *shell, *(_NOBODY_BESIDE if work.alone else ())]
        case "readonly" | "readonly-shell" | "minimal":
            return [*_APART, *_NO_SHELL]
        case never:
            assert_never(never)


def _served(work: Assignment, by_file: Callable[[str], str]) -> list[str]:
    if not work.served.names:
        return []
    command, *arguments = work.served.words(by_file)
    started = f"required=true,startup_timeout_sec={SERVER_STARTS}"  # else the first question goes without it
    approved = f'default_tools_approval_mode="approve",tool_timeout_sec={TOOL_TAKES}'
    server = f"{{command={json.dumps(command)},args={json.dumps(arguments)},{approved},{started}}}"
    return ["-c", f"mcp_servers.{SERVER}={server}"]


#: Seconds that one of our tools may take: a command of the read-only shell ends before.
TOOL_TAKES = 180
#: Nothing is kept of a session that nobody resumes, commands see no key, and there are no agents below it: what those
#: take is in none of its counts.
_FIXED = (
    *("--ephemeral", "-c", "shell_environment_policy.ignore_default_excludes=false"),
    *("-c", "features.multi_agent=false"),
)
#: No goals that it works on beside its task.
_NOBODY_BESIDE = ("-c", "features.goals=false")
#: No settings, rules and servers of the user, nothing written, no web, nobody beside it.
_APART = (
    *("--ignore-user-config", "--ignore-rules", "--sandbox", "read-only", "-c", 'web_search="disabled"'),
    *_NOBODY_BESIDE,
)
_NO_SHELL = ("-c", "features.shell_tool=false")


def with_persona(work: Assignment) -> str:
    """For agents that know only a message."""
    return "\n\n".join(part for part in (work.system.strip(), work.appended.strip()) if part) + (
        f"\n\n{work.message}" if work.system.strip() or work.appended.strip() else work.message
    )


#: Where its log says what each answer took, without a word of it: its speech says that at the end of a turn alone.
_COUNTED = "codex_otel.trace_safe"
_ANSWERED = re.compile(
    r"event\.kind=response\.completed input_token_count=(\d{1,18}) output_token_count=(\d{1,18})\b"
    r"(?: cached_token_count=(\d{1,18})\b)?"
)
_MODEL = re.compile(r" model=(\S+)")
#: Tokens that were sent, that came, and how many of the sent ones were read from a cache.
_Taken = tuple[int, int, int]


class CodexOutput:
    """The output is the last message of the agent: what comes before it is work in progress."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._heard = AgentOutput(unfinished=True)
        self._told: _Taken = (0, 0, 0)
        self._counted: _Taken = (0, 0, 0)
        self._answers = 0

    def line(self, line: str) -> bool:
        if not line.strip():
            return True
        event = parsed(line)
        if event is None:
            self._heard.keep_clue(line)
            return True
        match event.get("type"):
            case "item.completed":
                self._item(as_object(event.get("item")))
            case "turn.completed":
                usage = as_object(event.get("usage"))
                names = ("input_tokens", "output_tokens", "cached_input_tokens")
                sent, got, cached = (count(usage.get(name)) for name in names)
                self._told = _sum(self._told, (sent, got, cached))
                self._heard.error, self._heard.exhausted = None, False  # what it tried again did not end it
                self._heard.unfinished = False
            case "turn.failed":
                self._failed(as_object(event.get("error")), "the turn failed")
            case "error":
                self._failed(event, "error")
            case _:
                pass
        return event.get("type") != "error"  # while its service is away it says so again and again

    def aside(self, line: str) -> bool:
        if _COUNTED not in line:
            return False
        if found := _ANSWERED.search(line):
            self._answers += 1
            sent, got, cached = (count(int(each or 0)) for each in found.groups())
            self._counted = _sum(self._counted, (sent, got, cached))
        if model := _MODEL.search(line):
            self._heard.model = model[1].strip('"')
        return True

    def goes_on_after(self, steps: int) -> bool:
        return self._answers > steps

    def heard(self) -> AgentOutput:
        """What a turn took is what it says at its end, or what its answers took where it came to none."""
        told = self._told if any(self._told) else self._counted
        self._heard.input_tokens, self._heard.output_tokens, self._heard.cached = told
        return self._heard

    def _failed(self, error: Mapping[str, Json], otherwise: str) -> None:
        """Its fields say whether a usage limit is meant; of its sentence nothing is read."""
        self._heard.error = text(error.get("message")) or otherwise
        kinds = {text(error.get(name)) for name in ("code", "kind", "error_type", "codex_error_info")}
        if not kinds.isdisjoint(USED_UP):
            self._heard.exhausted, self._heard.resets_at = True, number(error.get("resets_at"))

    def _item(self, item: Mapping[str, Json]) -> None:
        said = text(item.get("text"))
        if item.get("type") in ("agent_message", "assistant_message") and said:
            self._heard.output = said
            self._hear(said)


def _sum(one: _Taken, other: _Taken) -> _Taken:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]
