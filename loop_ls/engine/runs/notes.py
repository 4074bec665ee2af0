"""Notes of people: journalled at once, and heard by the run through their facts."""

from __future__ import annotations

from loop_ls.contract.facts.kinds import NoteAdded
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.journal import Journal
from loop_ls.engine.journal.serialization import plain_text
from loop_ls.engine.runs.registry import Runs
from loop_ls.text.json_value import Json

#: Characters of one note, and notes that may wait for a prompt: they are added to it.
LONGEST, MOST = 10_000, 20


async def add_note(run_id: str, text: Json, runs: Runs, journal: Journal) -> int:
    """How many notes wait for the next prompt now. Raises `Refused`."""
    state = await runs.state(run_id)
    if state.ended or state.status == "stopping":
        told = f"Run {run_id} is {state.status}: it sends no further prompts, so it cannot get a note."
        raise Refused("wrong_status", told, f"Start it again from one of its iterations: loop-ls runs fork {run_id}")
    if not isinstance(text, str) or not text.strip():
        raise Refused("bad_argument", "Missing `text`: the note for the run.")
    if len(text) > LONGEST:
        raise Refused("bad_argument", f"`text` has {len(text):,} characters; a note has at most {LONGEST:,}.")
    if len(state.notes) >= MOST:
        raise Refused("wrong_status", f"Run {run_id} already has {MOST} notes for its next prompt.")
    if not await journal.append(run_id, facts=[NoteAdded(text=plain_text(text.strip())).fact()], ongoing=True):
        raise Refused("wrong_status", f"Run {run_id} has ended, so it cannot get a note.")
    return len((await runs.state(run_id)).notes)
