"""What people say to a run in its prompts: another prompt at one place, and notes while it goes on.

A note is added: the prompt comes first, and whoever works is told that a person has something to add.
"""

from __future__ import annotations

from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import Recorder

HEADING = "A note from the person who follows this run:"


async def as_said(prompt: str, recorder: Recorder, place: Place, key: str) -> str:
    """`prompt`, or what a person put in its place, and what was said since the last one. `key` is where its answer is
    recorded."""
    changed = await recorder.changed_prompt(place)
    notes = await recorder.notes(place, key)
    return "\n\n".join([prompt if changed is None else changed, *(f"{HEADING}\n{note}" for note in notes)])
