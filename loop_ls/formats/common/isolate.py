"""The key `isolate`: where a run works, the same in the settings and in the file of an assistant."""

from __future__ import annotations

from loop_ls.formats.common.key_table import Key, Type

ISOLATE = "isolate"
WORKTREE = "worktree"


def isolate_key(who: str, reference: str = "") -> Key:
    """`who` works there, as the beginning of a sentence."""
    text = (
        f"{who} in a Git worktree of its own, on a new branch, instead of in your files: each iteration is committed "
        "there, and at the end you apply, keep or discard the changes."
    )
    return Key(ISOLATE, Type.TEXT, text, choices=(WORKTREE,), reference=reference)
