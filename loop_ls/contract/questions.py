"""What a run asks a person, and which answers there are: the same words on every surface."""

from __future__ import annotations

from collections.abc import Mapping

#: Decision -> what the answer is called.
ANSWERS = {"approve": "Approve", "reject": "Reject", "revise": "Ask for changes"}
#: The same, where a question is about protected files that an agent touched.
PROTECTED_ANSWERS = {"approve": "Allow", "restore": "Restore files", "reject": "Stop the run"}


def is_protected(asked: Mapping[str, object]) -> bool:
    """Whether a question (`pendingApproval`, or its fact) is about protected files."""
    return bool(asked.get("protected"))


def first_line(asked: Mapping[str, object]) -> str:
    """What an agent touched, as a sentence."""
    return str(asked.get("output") or "").split("\n", 1)[0]


def commands(asked: Mapping[str, object], run: str) -> str:
    """What to type, as the end of a sentence; `run` is the id as far as it has to be written."""
    if is_protected(asked):
        return (
            f"loop-ls runs approve {run} allows it, loop-ls runs reject {run} --restore puts the files back, "
            f"loop-ls runs reject {run} stops the run"
        )
    return f"loop-ls runs approve {run} (or reject)"
