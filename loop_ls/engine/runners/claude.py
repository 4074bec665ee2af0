"""Claude Code as an agent: `claude --print` with its stream of JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from loop_ls.engine.runners.cli import LONGEST_MESSAGE, LONGEST_PROMPT, Said
from loop_ls.engine.runners.environment import is_root
from loop_ls.engine.runners.runner import Access, Assignment, Hear
from loop_ls.engine.runners.stream_json import StreamJson

OUTPUT_TOKENS = "CLAUDE_CODE_MAX_OUTPUT_TOKENS"
#: What agents without full access may not use, whatever they were allowed.
_CHANGING = ("Write", "Edit", "MultiEdit", "NotebookEdit", "Task")


class Claude:
    credentials = ("CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    handed_on = ("ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")

    def environment(self, environ: Mapping[str, str]) -> Mapping[str, str]:
        found = {OUTPUT_TOKENS: environ.get(OUTPUT_TOKENS) or "128000"}
        # Without this the program refuses to work unasked for the superuser, as in most containers.
        return {**found, "IS_SANDBOX": "1"} if is_root() else found

    def speech(self, hear: Hear) -> StreamJson:
        return StreamJson(hear)

    def said(self, work: Assignment, by_file: Callable[[str], str]) -> Said:
        words = [*_FIXED, "--permission-mode", _permission(work.access)]
        words += _prompt("--system-prompt", work.system, by_file)
        words += ["--session-id", work.session]
        if work.name:
            words += ["--name", work.name]
        words.append("--no-session-persistence")
        if work.model:
            words += ["--model", work.model]
        words += _prompt("--append-system-prompt", work.appended, by_file)
        if work.tools:
            words += ["--allowedTools", ",".join(work.tools)]
        if work.access != "full":
            words += ["--disallowedTools", ",".join(_CHANGING)]
        if work.budget_usd is not None:
            words += ["--max-budget-usd", f"{work.budget_usd:g}"]
        # `--allowedTools` takes as many words as come; without `--` it would take the message too.
        if len(work.message.encode()) > LONGEST_MESSAGE:
            return Said(words, stdin=work.message)
        return Said([*words, "--", work.message])


_FIXED = ("--print", "--verbose", "--output-format", "stream-json")


def _permission(access: Access) -> str:
    return "bypassPermissions" if access == "full" else "default"


def _prompt(flag: str, text: str, by_file: Callable[[str], str]) -> Iterator[str]:
    if len(text.encode()) > LONGEST_PROMPT:
        yield from (f"{flag}-file", by_file(text))
    elif text:
        yield from (flag, text)
