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
    """The same for a text that comes in pieces: what may be the beginning of a secret is held back until
    the next piece says whether it is."""

    def __init__(self, *secrets: str) -> None:
        self._secrets = sorted(filter(is_secret, dict.fromkeys(secrets)), key=len, reverse=True)
        self._held = ""

    def feed(self, piece: str) -> str:
        """What may be shown now."""
        if not self._secrets:
            return piece
        text = self._held + piece
        end = self._before_whole_ones(text, len(text) - max(self._begun(text, secret) for secret in self._secrets))
        self._held = text[end:]
        return self._masked(text[:end])

    def rest(self) -> str:
        """What was held back and turned out to be none."""
        held, self._held = self._held, ""
        return self._masked(held)

    def _masked(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        return text

    def _begun(self, text: str, secret: str) -> int:
        """How many characters at the end of the text are a beginning of the secret."""
        at = secret.rfind(text[-1:], 0, min(len(text), len(secret) - 1)) if text else -1
        while at >= 0 and not text.endswith(secret[: at + 1]):
            at = secret.rfind(text[-1:], 0, at)
        return at + 1

    def _before_whole_ones(self, text: str, end: int) -> int:
        """`end`, or the start of a secret that would be cut in two there by the beginning of another one."""
        for secret in self._secrets:
            at = text.find(secret, max(0, end - len(secret) + 1))
            if 0 <= at < end < at + len(secret):
                return self._before_whole_ones(text, at)
        return end
