"""`loop-ls demo --all`: one loop of each of the four systems, one after the other, through the same engine.

All of them follow scripts: no key, no network, the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from loop_ls.text.json_value import JsonObject


@dataclass(frozen=True, slots=True)
class Show:
    """One loop to watch; `path` is relative to the folder of the examples."""

    folder: str
    path: str
    told: str
    request: JsonObject = field(default_factory=dict)


SHOWS = (
    Show(
        "developer",
        "developer/slugify.yaml",
        "a loop of a workflow: a developer and a reviewer, until the review says PASS",
        {"input": "readable URLs for blog articles"},
    ),
    Show(
        "assistant",
        "assistant/proofreader.assistant.yaml",
        "a loop of an assistant: run again until its answer matches a pattern",
        {"input": "Proofread the notice about the harbour."},
    ),
    Show(
        "roles",
        "roles/loops/headline.json",
        "a loop of roles: planner and reviewer in turn, until the reviewer approves",
        {"goal": "A headline for the notice about the harbour"},
    ),
    Show(
        "rounds",
        "rounds/bulletin.yaml",
        "an enhance loop: the workflow fails, a planner fixes its file, the next round passes",
        {"input": "the morning after the storm", "enhance": {"start": True, "headless": True}},
    ),
)

#: What a loop changes is put there anew each time; everything else stays as a person left it.
AFRESH = frozenset({Path("rounds/bulletin.yaml")})


def show_all(into: Path, start: Callable[[Path, JsonObject], int]) -> int:
    """`start` runs one file and gives its exit status. The first bad one, else 0."""
    for number, show in enumerate(SHOWS, 1):
        path = into / show.path
        print(f"{number}. {path}: {show.told}.\n", flush=True)
        status = start(path, {"root": str((into / show.folder).resolve()), **show.request})
        if status != 0:
            return status
        print()
    return 0
