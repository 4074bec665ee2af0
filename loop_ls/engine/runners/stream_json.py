"""The speech of Claude Code (`--output-format stream-json`), and of every program that speaks it too.

The output is the text of the result; where no result with text came, all texts of the assistant. Both
together would say the same twice.
"""

from __future__ import annotations

from typing import Any

from loop_ls.engine.runners.output_parser import Heard, count, longer, mapping, number, parsed, text
from loop_ls.engine.runners.runner import Hear


class StreamJson:
    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._heard = Heard()
        self._texts: list[str] = []
        self._length = 0
        self._result: str | None = None

    def line(self, line: str) -> None:
        if not line.strip():
            return
        event = parsed(line)
        if event is None:
            self._heard.keep_clue(line)
            return
        match event.get("type"):
            case "assistant":
                self._said(mapping(event.get("message")))
            case "result":
                self._ended(event)
            case _:
                pass  # system, user, ping, rate_limit_event, and whatever comes to be

    def heard(self) -> Heard:
        heard = self._heard
        if self._result:
            heard.output = self._result
        elif self._texts:
            heard.output = "".join(self._texts)
        elif self._result is not None:
            heard.output = ""
        return heard

    def _said(self, message: dict[str, Any]) -> None:
        self._heard.model = text(message.get("model")) or self._heard.model
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            said = text(mapping(block).get("text"))
            if mapping(block).get("type") == "text" and said:
                self._length = longer(self._length, said)
                self._texts.append(said)
                self._hear(said)

    def _ended(self, event: dict[str, Any]) -> None:
        heard, usage = self._heard, mapping(event.get("usage"))
        cached = count(usage.get("cache_creation_input_tokens")) + count(usage.get("cache_read_input_tokens"))
        heard.input_tokens = count(usage.get("input_tokens")) + cached
        heard.output_tokens = count(usage.get("output_tokens"))
        heard.usd = number(event.get("total_cost_usd"))
        subtype, told = text(event.get("subtype")), text(event.get("result"))
        if event.get("is_error") is True or (subtype and subtype != "success"):
            status = event.get("api_error_status")
            which = f"API status {status}" if status else subtype if subtype != "success" else "error"
            heard.error = ": ".join(part for part in (which, told or _errors(event)) if part)
        else:
            self._result = told


def _errors(event: dict[str, Any]) -> str:
    errors = event.get("errors")
    return "; ".join(map(str, errors)) if isinstance(errors, list) else ""
