"""What kind of failure a sentence speaks of, in the words of the assistant API."""

from __future__ import annotations

from typing import Literal

ErrorType = Literal[
    "PROCESS_ERROR",
    "STREAM_ERROR",
    "API_ERROR",
    "POLICY_ERROR",
    "TIMEOUT_ERROR",
    "APPROVAL_TIMEOUT",
    "RESOURCE_ERROR",
]

#: The first line with a word that is in the message wins.
_WORDS: tuple[tuple[ErrorType, tuple[str, ...]], ...] = (
    ("API_ERROR", ("rate limit", "429", "overloaded", "unauthorized", "401", "api key")),
    ("POLICY_ERROR", ("policy", "blocked", "not permitted")),
    ("TIMEOUT_ERROR", ("timeout", "timed out")),
    ("RESOURCE_ERROR", ("queue full", "max concurrent", "capacity")),
    ("STREAM_ERROR", ("json", "parse", "unexpected end")),
)


def classified(message: str) -> ErrorType:
    lowered = message.lower()
    return next((kind for kind, words in _WORDS if any(word in lowered for word in words)), "PROCESS_ERROR")
