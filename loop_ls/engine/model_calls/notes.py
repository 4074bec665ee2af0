"""Notes: what people say to a run while it goes on, as part of the next prompt.

The prompt of the file comes first and stays as it is: whoever works is told that a person has something to add.
"""

from __future__ import annotations

from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import Recorder

HEADING = "A note from the person who follows this run:"


async def with_notes(prompt: str, recorder: Recorder, place: Place, key: str) -> str:
    """`prompt`, and what was said since the last one. `key` is where its answer is recorded."""
    notes = await recorder.notes(place, key)
    return "\n\n".join([prompt, *(f"{HEADING}\n{note}" for note in notes)])
