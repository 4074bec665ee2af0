"""Notifications: a program of the project hears when a run needs a person, is parked or has ended.

The program stands in the setting `notify`. It is one of the capabilities of the run, so the start shows it, and a mock
run starts none. A run never waits for it: what it is told comes from committed facts, beside the run.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loop_ls.contract.answers import Occasion, RunNotification
from loop_ls.contract.endings import ENDED
from loop_ls.engine.capabilities.guard import permitting
from loop_ls.engine.capabilities.values import Capabilities
from loop_ls.engine.core.plan import Plan, notified_program
from loop_ls.engine.events import Event
from loop_ls.engine.judges.test_command import Command
from loop_ls.engine.runs.registry import LiveRun

#: Seconds that the program has for one notification.
LIMIT = 30.0
#: How many programs run at once; the next notification waits for one of them.
AT_ONCE = 4
#: Seconds that notifications have to go out when the engine leaves.
LEAVING = 5.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Watched:
    run: LiveRun
    root: str
    words: tuple[str, ...]
    capabilities: Callable[[], Capabilities]


class Notifications:
    """Of all runs that work here. `hear` gets committed facts after the states of the runs have."""

    def __init__(self, limit: float = LIMIT) -> None:
        self._limit = limit
        self._watched: dict[str, _Watched] = {}
        self._going_out: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(AT_ONCE)

    def watch(self, run: LiveRun, plan: Plan, capabilities: Callable[[], Capabilities]) -> None:
        """From now until `forget`, for a run that works here."""
        if words := notified_program(plan):
            self._watched[run.run_id] = _Watched(run, plan.root, words, capabilities)

    def forget(self, run_id: str) -> None:
        self._watched.pop(run_id, None)

    def hear(self, events: Sequence[Event]) -> None:
        for event in events:
            watched, occasion = self._watched.get(event.run_id), _occasion(event)
            if watched is None or occasion is None:
                continue
            told: RunNotification = {"event": occasion, "root": watched.root, "run": watched.run.state.wire()}
            task = asyncio.create_task(self._tell(watched, json.dumps(told, ensure_ascii=False) + "\n"))
            self._going_out.add(task)
            task.add_done_callback(self._going_out.discard)

    async def close(self) -> None:
        """Those that are on their way have some seconds."""
        if not self._going_out:
            return
        _, late = await asyncio.wait(self._going_out, timeout=LEAVING)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _tell(self, watched: _Watched, text: str) -> None:
        command = Command(watched.words, watched.root, self._limit, os.environ, given=text)
        async with self._slots:
            with permitting(watched.capabilities):
                result = await command.run()
        if not result.passed:
            logger.warning("The `notify` program could not be called for run %s: %s.", watched.run.run_id, result.told)


def _occasion(event: Event) -> Occasion | None:
    match event.kind:
        case "manual_approval_required" | "loop_paused":
            return "question"
        case "edit_sent" if "question" in event.body:
            return "question"
        case "paused" if event.body.get("until") is not None:
            return "parked"
        case kind if kind in ENDED:
            return "ended"
        case _:
            return None
