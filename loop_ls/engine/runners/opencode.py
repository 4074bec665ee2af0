"""opencode as an agent: `opencode run --format json`. The persona goes before the message."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping

from loop_ls.engine.providers.failures import retry_after
from loop_ls.engine.providers.limits.retry import LONGEST_WAIT
from loop_ls.engine.runners.cli import CommandLine
from loop_ls.engine.runners.codex import with_persona
from loop_ls.engine.runners.output_parser import AgentOutput, count, number, parsed, text
from loop_ls.engine.runners.runner import SERVER, SERVER_STARTS, Assignment, Hear
from loop_ls.text.json_value import Json, JsonObject, as_object


class Opencode:
    credentials = ("OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY")
    handed_on = ("OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    prices = ""
    tells_cost = True

    def environment(self, environ: Mapping[str, str]) -> Mapping[str, str]:
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1"}

    def speech(self, hear: Hear) -> OpencodeOutput:
        return OpencodeOutput(hear)

    def said(self, work: Assignment, by_file: Callable[[str], str]) -> CommandLine:
        words = [*_FIXED]
        if own_agent := work.access != "full" or work.alone or work.only is not None:
            words += ["--agent", f"loop-ls-{work.access}"]
        settings = _settings(work, by_file) if own_agent else _NOBODY_BELOW
        own = {"OPENCODE_CONFIG_CONTENT": json.dumps(settings)}
        if work.access != "full":  # servers and plugins of a project are programs, which start with it
            words.append("--pure")
            own["OPENCODE_DISABLE_PROJECT_CONFIG"] = "1"
        if work.model:
            words += ["--model", work.model]
        return CommandLine(words, stdin=with_persona(work), environment=own)


#: With a title of ours: it would ask a model for one, and count it nowhere.
_FIXED = ("run", "--format", "json", "--title", "loop-ls")
#: What agents below it take is in none of its counts, so it has none, whatever a user or a project has allowed.
_NO_TASK: JsonObject = {"permission": {"task": "deny"}}
_NOBODY_BELOW: JsonObject = {**_NO_TASK, "agent": {"build": _NO_TASK}}


_READING = ("read", "grep", "glob")


def _permission(work: Assignment) -> dict[str, str]:
    """`edit` is its word for every change of a file."""
    if work.access == "minimal":
        return {"*": "deny"}
    only = None if work.only is None else {"edit" if name == "Write" else name.lower() for name in work.only}
    if only is None and work.access == "full":
        return {"*": "allow", "task": "deny"}
    may = [name for name in _READING if only is None or name in only] if work.access != "full" else sorted(only or ())
    return {"*": "deny", **{name: "allow" for name in may if name not in ("*", "task")}}


def _settings(work: Assignment, by_file: Callable[[str], str]) -> Mapping[str, Json]:
    """An agent of our own: rules at the top would give way to those of a user or a project."""
    permission = _permission(work)
    agent: JsonObject = {"mode": "primary", "permission": permission}
    found: dict[str, Json] = {"share": "disabled", "autoupdate": False, "agent": {f"loop-ls-{work.access}": agent}}
    if work.served.names:
        permission |= {f"{SERVER}_{name}": "allow" for name in work.served.names}
        command = list(work.served.words(by_file))
        started = {"enabled": True, "timeout": SERVER_STARTS * 1000}
        found["mcp"] = {SERVER: {"type": "local", "command": command, **started}}
    return found


class OpencodeOutput:
    """The output is what it says in its last step."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._heard = AgentOutput(unfinished=True)
        self._fresh = True
        self._going_on = 0

    def line(self, line: str) -> bool:
        if not line.strip():
            return True
        event = parsed(line)
        if event is None:
            self._heard.keep_clue(line)
            return True
        part = as_object(event.get("part"))
        match event.get("type"):
            case "step_start":
                self._fresh = True
            case "text" if said := text(part.get("text")):
                self._heard.output = said if self._fresh else (self._heard.output or "") + said
                self._fresh = False
                self._hear(said)
            case "step_finish":
                self._heard.unfinished = part.get("reason") == "tool-calls"
                self._going_on += self._heard.unfinished
                tokens, cost = as_object(part.get("tokens")), number(part.get("cost"))
                cache = as_object(tokens.get("cache"))  # in `input` are only those that were not in it
                read, written = count(cache.get("read")), count(cache.get("write"))
                self._heard.input_tokens += count(tokens.get("input")) + read + written
                self._heard.cached += read
                self._heard.output_tokens += count(tokens.get("output")) + count(tokens.get("reasoning"))
                self._heard.usd = self._heard.usd if cost is None else (self._heard.usd or 0.0) + cost
            case "error":
                error = as_object(event.get("error"))
                told = text(as_object(error.get("data")).get("message")) or text(error.get("name"))
                self._heard.error = told or "error"
                self._limited(as_object(error.get("data")))
            case _:
                pass
        return True

    def goes_on_after(self, steps: int) -> bool:
        return self._going_on >= steps

    def heard(self) -> AgentOutput:
        return self._heard

    def _limited(self, data: Mapping[str, Json]) -> None:
        """Credit that is used up has a status of its own; a limit that lasts longer than anybody waits is one too."""
        headers = as_object(data.get("responseHeaders"))
        wait = retry_after({str(name): str(value) for name, value in headers.items()})
        wait = wait if data.get("statusCode") == 429 else None
        if data.get("statusCode") == 402 or (wait or 0.0) > LONGEST_WAIT:
            self._heard.exhausted = True
            self._heard.resets_at = None if wait is None else time.time() + wait
