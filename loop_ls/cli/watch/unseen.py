"""A run that is not shown, to its end: one of several that a command makes one after the other."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loop_ls.cli.watch.interrupt import Stop
from loop_ls.cli.watch.words import how_to_answer
from loop_ls.contract.endings import ENDED
from loop_ls.report.terminal_text import shown

if TYPE_CHECKING:
    from loop_ls.client import EngineClient
    from loop_ls.text.json_value import JsonObject


#: What became of a run that is `unanswered`.
NOBODY_ANSWERS = "was stopped: it needs a decision, but there is no terminal to ask on"


@dataclass
class Unseen:
    """`interrupted`: a person stopped it with Ctrl-C. `unanswered`: it asked a person, and was stopped because there
    is none."""

    events: list[JsonObject] = field(default_factory=list)
    interrupted: bool = False
    unanswered: bool = False


async def to_the_end(engine: EngineClient, run_id: str, position: int, can_answer: bool) -> Unseen:
    """Follow a run from `position`. `can_answer`: there is a person, who is told how."""
    found, stop = Unseen(), Stop(engine, run_id)
    with stop.on_interrupt():
        events: AsyncIterator[JsonObject] = engine.follow(position, run_id)
        try:
            while (event := await stop.unless_given_up(anext(events, None))) is not None:
                found.events.append(event)
                if event["kind"] in ENDED:
                    break
                if event["kind"] != "manual_approval_required" or found.unanswered or stop.asked:
                    continue
                if can_answer:
                    print(shown(f"  waits for your decision: {how_to_answer(run_id, event)}"), file=sys.stderr)
                else:
                    found.unanswered = True
                    await engine.stop(run_id)
        finally:
            await events.aclose()  # type: ignore[attr-defined]
    found.interrupted = stop.asked
    return found
