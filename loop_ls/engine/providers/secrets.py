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

#: Shorter ones are words such as `ollama` that servers without keys are given; answers may use them.
_LEAST_IN_ANSWERS = 16


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without the given secrets, without parts of them, and without what looks like a key."""
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, MASK)
    return _SHAPES.sub(MASK, text)


def unquoted(answer: str, secret: str) -> str:
    """What a model said, without the key it was asked with: an endpoint may quote it. Nothing else is touched."""
    return answer.replace(secret, MASK) if len(secret) >= _LEAST_IN_ANSWERS else answer
