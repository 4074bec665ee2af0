"""Keeps keys out of everything that people and logs see.

Providers quote the key they refused, proxies quote headers: whatever text comes from outside goes
through here before it becomes part of a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MASK = "[secret]"

#: Shapes of keys, for those that are not ours (a key pasted into a URL, a token of a proxy).
_SHAPES = re.compile(
    r"""(?x)
    \b(?:sk|pk|rk|gsk|xai|ghp|gho|github_pat|hf|AIza)[-_A-Za-z0-9*.]{12,}
    | (?i:\bbearer\s+)[^\s"',;]{6,}
    | (?i:(?:api[-_]?key|x-api-key|access[-_]?token|authorization|password)["']?\s*[:=]\s*["']?
        (?:bearer\s+|basic\s+)?)[^\s"',;&}]{6,}
    | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)
    """
)

#: What people write where a server wants any key: words that an answer may use.
_PLACEHOLDERS = frozenset(
    (
        *("anything", "changeme", "dummy", "empty", "fake", "key", "local", "localhost", "lm-studio", "lmstudio"),
        *("llama", "llamacpp", "mock", "no-key", "none", "not-needed", "nothing", "null", "ollama", "password"),
        *("secret", "test", "token", "unused", "vllm", "xxxx"),
    )
)
_LEAST = 4


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without the given secrets, without parts of them, and without what looks like a key."""
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, MASK)
    return _SHAPES.sub(MASK, text)


def is_secret(key: str) -> bool:
    """Whether a key is one, and no word in place of a key."""
    return len(key) >= _LEAST and key.lower() not in _PLACEHOLDERS


def unquoted(answer: str, secret: str) -> str:
    """What a model said, without the key it was asked with: an endpoint may quote it. Nothing else is touched."""
    return answer.replace(secret, MASK) if is_secret(secret) else answer


class StreamMask:
    """The same for a text that comes in pieces: what may be the beginning of the key is held back until
    the next piece says whether it is."""

    def __init__(self, secret: str) -> None:
        self._secret = secret if is_secret(secret) else ""
        self._held = ""

    def feed(self, piece: str) -> str:
        """What may be shown now."""
        if not self._secret:
            return piece
        text = (self._held + piece).replace(self._secret, MASK)
        held = self._begun(text)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def rest(self) -> str:
        """What was held back and turned out to be no key."""
        held, self._held = self._held, ""
        return held

    def _begun(self, text: str) -> int:
        """How many characters at the end of the text are a beginning of the key."""
        most = min(len(text), len(self._secret) - 1)
        return next((size for size in range(most, 0, -1) if self._secret.startswith(text[-size:])), 0)
