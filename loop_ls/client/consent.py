"""Agreeing to what a run may do, on a surface of the owner: the other half of the engine's `Consents`.

The key lies in the data folder, readable by its owner alone, and never travels: an answer is made from it, the
number of the question and the digest of what was shown.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path

from loop_ls.contract.key_file import read_key

KEY_NAME = "consent.key"


def agreed(folder: Path, answer: Mapping[str, object]) -> str:
    """The proof for an answer `consent_required`; empty where it was not put to the owner."""
    nonce, digest = str(answer.get("nonce") or ""), str(answer.get("digest") or "")
    key = read_key(folder / KEY_NAME)
    if not nonce or key is None:
        return ""
    return f"{nonce}.{hmac.new(key.encode(), f'{nonce}.{digest}'.encode(), hashlib.sha256).hexdigest()}"
