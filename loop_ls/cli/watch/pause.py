"""The pause of an enhance loop on the command line: what is proposed, and one question.

Where nobody can answer, a pause would last for ever: the run is stopped with a sentence that says how to answer.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from loop_ls.contract.questions import between_rounds
from loop_ls.contract.run_view.rounds import listed, why_it_waits
from loop_ls.report.terminal_text import shown, shown_lines
from loop_ls.text.json_value import JsonObject, text_field

if TYPE_CHECKING:
    from loop_ls.cli.watch.typed import AskLine
    from loop_ls.client import EngineClient

_CHOICES = {"c": "continue", "w": "skip", "s": "stop"}


class Pause:
    """`event` is the fact of the pause, `proposed` that of the changes before it, empty where there were none."""

    def __init__(self, engine: EngineClient, run_id: str, event: JsonObject, proposed: JsonObject) -> None:
        self._engine, self._run_id = engine, run_id
        self._event, self._proposed = event, proposed
        self.answered = False
        self._rejected = False  # somebody said no to the change elsewhere

    async def answer(self, ask: AskLine | None) -> None:
        """Ask, and tell the engine. `ask` None: nobody can answer. Whoever answered it elsewhere meanwhile was first,
        and that is fine."""
        for line in self._said(self._event):
            print(line, file=sys.stderr, flush=True)
        if ask is None:
            run = self._run_id[:6]
            print(
                "There is no terminal to answer on, so the run was stopped. Run it in a terminal, or "
                "with `--detach` and",
                file=sys.stderr,
            )
            print(f"then {between_rounds(run)}.", file=sys.stderr, flush=True)
        while not self.answered:
            choice = "stop" if ask is None else await self._choice(ask)
            self.answered = True  # before the fact of it comes back
            if choice == "stop":
                await self._engine.stop(self._run_id)
                return
            answer = await self._engine.enhance(self._run_id, "choose", {"choice": choice})
            if not answer["ok"]:
                self._rejected = answer["code"] == "forbidden"
                self.answered = not self._rejected
                print(shown(answer["message"]), file=sys.stderr, flush=True)

    async def _choice(self, ask: AskLine) -> str:
        choices = {key: word for key, word in _CHOICES.items() if word != "continue" or not self._rejected}
        asked = "[c]ontinue to the next round, [w]ithout the change, [d]iff, [s]top? "
        while True:
            line = await ask("[w]ithout the change, [d]iff, [s]top? " if self._rejected else asked)
            if line is None:
                return "stop"
            word = line.strip().lower()[:1]
            if word == "d":
                print(shown_lines(str(self._proposed.get("diff") or "no change")), file=sys.stderr, flush=True)
            elif word in choices:
                return choices[word]

    def _said(self, event: JsonObject) -> list[str]:
        if why := why_it_waits(event):
            return [shown(why)]
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
