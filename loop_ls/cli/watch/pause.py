"""The pause of an enhance loop on the command line: what is proposed, and one question.

Where nobody can answer, a pause would last for ever: the run is stopped with a sentence that says how to answer.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from loop_ls.contract.run_view.rounds import listed
from loop_ls.report.terminal_text import shown, shown_lines
from loop_ls.text.json_value import JsonObject, text_field

if TYPE_CHECKING:
    from loop_ls.client import EngineClient

#: A line from a person; None at the end of the input.
AskLine = Callable[[str], str | None]

_CHOICES = {"c": "continue", "w": "skip", "s": "stop"}


class Pause:
    """Remembers what was proposed and asks when the loop waits. `ask` None: nobody can answer."""

    def __init__(self, engine: EngineClient, run_id: str, ask: AskLine | None) -> None:
        self._engine, self._run_id, self._ask = engine, run_id, ask
        self._proposed: JsonObject = {}

    def hears(self, event: JsonObject) -> bool:
        """Takes in an event; whether the loop waits for an answer now."""
        if event.get("kind") == "ops_proposed":
            self._proposed = event
        return event.get("kind") == "loop_paused"

    async def answer(self, event: JsonObject) -> None:
        """Ask, and tell the engine. Whoever answered it elsewhere meanwhile was first, and that is fine."""
        for line in self._said(event):
            print(line, file=sys.stderr, flush=True)
        if self._ask is None:
            run = self._run_id[:6]
            told = f"then `loop-ls enhance --continue {run}`, `--skip {run}` or `--stop {run}`."
            print(
                "Nobody can answer here: the run is stopped. Run it on a terminal, or with `--detach` and",
                file=sys.stderr,
            )
            print(told, file=sys.stderr, flush=True)
            await self._engine.stop(self._run_id)
            return
        choice = self._choice(self._ask)
        if choice == "stop":
            await self._engine.stop(self._run_id)
            return
        await self._engine.enhance(self._run_id, "choose", {"choice": choice})

    def _choice(self, ask: AskLine) -> str:
        while True:
            try:
                line = ask("[c]ontinue to the next round, [w]ithout the change, [d]iff, [s]top? ")
            except KeyboardInterrupt:
                return "stop"
            if line is None:
                return "stop"
            word = line.strip().lower()[:1]
            if word == "d":
                print(shown_lines(str(self._proposed.get("diff") or "no change")), file=sys.stderr, flush=True)
            elif word in _CHOICES:
                return _CHOICES[word]

    def _said(self, event: JsonObject) -> list[str]:
        if event.get("reason") == "conflict":
            why = event.get("failureReason") or str(event.get("conflict") or "").replace("_", " ")
            return [shown(f"The change is not in the file: {why}")]
        ops = listed(self._proposed.get("ops"))
        changes = f"{len(ops)} change{'s' if len(ops) != 1 else ''}"
        lines = [f"Round {event.get('round')} of {event.get('maxRounds')} failed; {changes} proposed:"]
        lines += [shown(f"  {_operation(one)}") for one in ops]
        if rationale := text_field(self._proposed, "rationale"):
            lines.append(shown(f"  Why: {' '.join(rationale.split())}"))
        return lines


def _operation(one: JsonObject) -> str:
    reason = f": {one['reason']}" if one.get("reason") else ""
    return f"{one.get('op')} {one.get('target') or one.get('name') or ''}{reason}"


def terminal_line(question: str) -> str | None:
    """Not in a thread: Ctrl-C could not end it there, and the loop has nothing else to do."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        print(question, end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
    finally:
        signal.signal(signal.SIGINT, before)
    return line.rstrip("\n") if line else None
