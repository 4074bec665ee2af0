"""Ids of records that follow from the place of a stage: a replay after a crash finds the same ones."""

from __future__ import annotations

import hashlib
import secrets


def derived(*parts: object) -> str:
    """32 hex digits, the same for the same parts."""
    return hashlib.blake2b("\x00".join(map(str, parts)).encode(), digest_size=16).hexdigest()


def fresh() -> str:
    return secrets.token_hex(16)


def sprint_id(run_id: str, iteration: int) -> str:
    return derived(run_id, "sprint", iteration)


def artifact_id(run_id: str, place: str) -> str:
    return derived(run_id, "artifact", place)


def workspace_session(root: str) -> str:
    """The one session of starts from an editor in a workspace folder."""
    return derived("session", root)
