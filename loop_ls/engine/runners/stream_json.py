"""The speech of Claude Code (`--output-format stream-json`), and of every program that speaks it too.

The output is the text of the result; where no result with text came, all texts of the assistant. Both
together would say the same twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loop_ls.engine.providers.failures import LATEST
from loop_ls.engine.runners.output_parser import AgentOutput, count, longer, number, parsed, text
from loop_ls.engine.runners.runner import Hear
from loop_ls.engine.runners.usage_windows import Window
from loop_ls.text.json_value import Json, as_object


class StreamJson:
    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._heard = AgentOutput(unfinished=True)
        self._texts: list[str] = []
        self._length = 0
        self._class = ""
        self._counts: dict[str, tuple[int, int]] = {}
        self._result: str | None = None

    def line(self, line: str) -> bool:
        if not line.strip():
            return True
        event = parsed(line)
        if event is None:
            self._heard.keep_clue(line)
            return True
        match event.get("type"):
            case "assistant":
                self._class = text(event.get("error"))  # of what ended the turn, where it is the last line
                self._said(as_object(event.get("message")))
            case "result":
                self._ended(event)
            case "rate_limit_event":
                self._limited(as_object(event.get("rate_limit_info")))
            case _:
                pass  # system, user, ping, and whatever comes to be
        return event.get("subtype") != "api_retry"

    def heard(self) -> AgentOutput:
        heard = self._heard
        if self._result:
            heard.output = self._result
        elif self._texts:
            heard.output = "".join(self._texts)
        elif self._result is not None:
            heard.output = ""
        return heard

    def _limited(self, info: Mapping[str, Json]) -> None:
        """The last word on the usage limit counts: after a refusal another limit, or credit beyond it, may let the work
        go on."""
        self._heard.exhausted = info.get("status") == "rejected" and info.get("isUsingOverage") is not True
        self._heard.resets_at = number(info.get("resetsAt")) if self._heard.exhausted else None
        self._heard.windows = tuple(_windows(info)) or self._heard.windows

    def _said(self, message: Mapping[str, Json]) -> None:
        if (model := text(message.get("model"))) != "<synthetic>":  # an error that is told as a message
            self._heard.model = model or self._heard.model
        self._count(text(message.get("id")), as_object(message.get("usage")))
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            said = text(as_object(block).get("text"))
            if as_object(block).get("type") == "text" and said:
                self._length = longer(self._length, said)
                self._texts.append(said)
                self._hear(said)

    def _count(self, message: str, usage: Mapping[str, Json]) -> None:
        """What each message took, for work that ends without its result: the lines of one say the same again."""
        if usage and message:
            self._counts[message] = (_sent(usage), count(usage.get("output_tokens")))
            self._heard.input_tokens = sum(sent for sent, _ in self._counts.values())
            self._heard.output_tokens = sum(got for _, got in self._counts.values())

    def _ended(self, event: Mapping[str, Json]) -> None:
        heard = self._heard
        heard.unfinished = False
        sent, got = _used(event)
        heard.input_tokens = sent or heard.input_tokens
        heard.output_tokens = got or heard.output_tokens
        heard.usd = number(event.get("total_cost_usd"))
        subtype, told = text(event.get("subtype")), text(event.get("result"))
        if event.get("is_error") is True or (subtype and subtype != "success"):
            status = event.get("api_error_status")
            which = f"API status {status}" if status else subtype if subtype != "success" else "error"
            heard.error = ": ".join(part for part in (which, told or _errors(event)) if part)
            heard.used_up = subtype == "error_max_turns"
            heard.exhausted = heard.exhausted or status == 402 or self._class == "billing_error"
        else:
            self._result = told


def _windows(info: Mapping[str, Json]) -> Iterator[Window]:
    """`unifiedWindows` has all of them at any time, `utilization` the one that is near its limit, once it is. Both are
    shares, and above 1 where more than all is used."""
    for each in (info, *as_object(info.get("unifiedWindows")).values()):
        window = as_object(each)
        used, until = number(window.get("utilization")), number(window.get("resetsAt"))
        if used is not None and until is not None and until <= LATEST:
            yield Window(used * 100, until)


def _used(event: Mapping[str, Json]) -> tuple[int, int]:
    """Tokens that went in and came out. `usage` leaves out what agents below it took; `modelUsage` has all of them."""
    usage, models = as_object(event.get("usage")), as_object(event.get("modelUsage"))
    parts = ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens")
    sent = sum(count(as_object(model).get(part)) for model in models.values() for part in parts)
    got = sum(count(as_object(model).get("outputTokens")) for model in models.values())
    return max(sent, _sent(usage)), max(got, count(usage.get("output_tokens")))


def _sent(usage: Mapping[str, Json]) -> int:
    parts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(count(usage.get(part)) for part in parts)


def _errors(event: Mapping[str, Json]) -> str:
    errors = event.get("errors")
    return "; ".join(map(str, errors)) if isinstance(errors, list) else ""
