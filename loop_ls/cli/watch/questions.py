"""What a run asks a person while it is followed: asked here, one question after the other, while events come in.

An answer that is given elsewhere meanwhile ends the question here.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from loop_ls.cli.watch.approval import Approval
from loop_ls.cli.watch.pause import Pause
from loop_ls.contract.endings import ENDED
from loop_ls.report.terminal_text import shown
from loop_ls.text.json_value import JsonObject, text_field

if TYPE_CHECKING:
    from loop_ls.cli.watch.typed import AskLine
    from loop_ls.client import EngineClient


class Questions:
    """`ask` None: nobody can answer here. `aside` puts away what is drawn while a person is asked."""

    def __init__(
        self,
        engine: EngineClient,
        run_id: str,
        ask: AskLine | None,
        aside: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._engine, self._run_id, self._ask, self._aside = engine, run_id, ask, aside
        self._proposed: JsonObject = {}
        self._open: dict[str, Approval | Pause] = {}
        self._asking: asyncio.Task[None] | None = None
        self._asked = ""

    def hear(self, event: JsonObject, name: str) -> None:
        """Take in an event of the run, which people know as `name`: it may begin questions, and end them."""
        match event["kind"]:
            case "ops_proposed":
                self._proposed = event
            case "loop_paused":
                self._begin(_question(event), Pause(self._engine, self._run_id, event, self._proposed))
            case "loop_continued":
                self._end(_question(event), text_field(event, "by"))
            case "manual_approval_required" if self._ask is not None or event.get("blocked"):
                self._begin(_loop(event), Approval(self._engine, self._run_id, event, name))
            case "approval_resolved":
                self._end(_loop(event))
            case kind if kind == "stopping" or kind in ENDED:
                self._end_all()

    async def close(self) -> None:
        """Ask nothing more."""
        self._open.clear()
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    def _begin(self, key: str, question: Approval | Pause) -> None:
        self._open[key] = question
        if self._asking is None or self._asking.done():
            self._asking = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        while self._open:
            self._asked, question = next(iter(self._open.items()))
            with self._aside():
                await question.answer(self._ask)
            self._open.pop(self._asked, None)
            self._asked = ""

    def _end(self, key: str, by: str = "") -> None:
        """It has its answer, mostly by this terminal. `by`: from where."""
        question = self._open.pop(key, None)
        if question is None or key != self._asked or question.answered:
            return
        assert self._asking is not None
        self._asking.cancel()
        print(f"\nanswered elsewhere{shown(f' by {by}') if by else ''}", file=sys.stderr, flush=True)
        self._asking = asyncio.get_running_loop().create_task(self._work())

    def _end_all(self) -> None:
        self._open.clear()
        if self._asking is not None and not self._asking.done():
            print(file=sys.stderr, flush=True)
            self._asking.cancel()


def _question(event: JsonObject) -> str:
    return f"question {text_field(event, 'question')}"


def _loop(event: JsonObject) -> str:
    return f"loop {text_field(event, 'loopId')}"
