"""A loop that waits for a person's decision, answered on the terminal that follows it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from loop_ls.cli.watch.words import how_to_answer
from loop_ls.contract.questions import answers_to, first_line, wait_of
from loop_ls.report.terminal_text import shown, shown_lines
from loop_ls.text.json_value import JsonObject, text_field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loop_ls.cli.watch.typed import AskLine
    from loop_ls.client import EngineClient

#: Lines of the output that stand above the question; `v` shows the others.
EXCERPT = 8


class Approval:
    """`event` is the fact that asks. `answered`: the engine has the decision of this terminal."""

    def __init__(self, engine: EngineClient, run_id: str, event: JsonObject, name: str) -> None:
        self._engine, self._run_id, self._event = engine, run_id, event
        self._name = name
        self.answered = False

    async def answer(self, ask: AskLine | None) -> None:
        """Ask until there is a decision. Somebody who wants to decide later is told how. `ask` None: nobody can answer,
        so a run that cannot continue ends, and any other waits."""
        if ask is None:
            await self._nobody()
            return
        output = (text_field(self._event, "output") or "").strip().splitlines()
        asked = f"{self._name} waits for your decision on iteration {self._event.get('iteration')}."
        if self._blocked:
            asked = f"{self._name} is blocked: {first_line(self._event)}"
        print(shown(asked), file=sys.stderr)
        _show(output[:EXCERPT])
        if len(output) > EXCERPT:
            print(f"  … {len(output) - EXCERPT} more lines", file=sys.stderr)
        while not self.answered:
            decision = await self._decision(ask, output)
            if decision is None:
                print(f"It keeps waiting: {how_to_answer(self._run_id, self._event)}", file=sys.stderr, flush=True)
                return
            await self._tell(decision, await self._feedback(ask) if decision in ("revise", "retry") else None)

    @property
    def _blocked(self) -> bool:
        return wait_of(self._event) == "blocked"

    async def _nobody(self) -> None:
        if self._blocked:
            told = "There is no terminal to answer on, so the run ends. Run it with `--detach` and answer it by"
            print(f"{told} `loop-ls runs answer`.", file=sys.stderr, flush=True)
            await self._tell("reject", None)

    async def _decision(self, ask: AskLine, output: list[str]) -> str | None:
        """None: not now."""
        answers, choices = self._answers()
        while True:
            line = await ask(f"{answers}, [v]iew it all, [l]ater? ")
            match "l" if line is None else line.strip().lower()[:1]:
                case "l":
                    return None
                case "v":
                    _show(output)
                case letter if letter in choices:
                    return choices[letter]

    def _answers(self) -> tuple[str, dict[str, str]]:
        """As they are asked for, and by their letters."""
        return _by_letter(answers_to(self._event))

    async def _feedback(self, ask: AskLine) -> str:
        return ((await ask("Your answer: " if self._blocked else "What should change? ")) or "").strip()

    async def _tell(self, decision: str, feedback: str | None) -> None:
        self.answered = True  # before the fact of it comes back
        loop_id = text_field(self._event, "loopId")
        answer = await self._engine.approve(self._run_id, loop_id, decision == "approve", decision, feedback)
        if not answer["ok"]:
            self.answered = answer["code"] != "forbidden"
            print(shown(f"loop-ls: {answer['message']}"), file=sys.stderr, flush=True)


def _by_letter(answers: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """`[a]pprove, [r]eject, ask for [c]hanges`: the first letter of an answer, or of its last word if
    that is taken."""
    asked, letters = [], dict[str, str]()
    for decision, title in answers.items():
        words = title.lower()
        at = 0 if words[0] not in letters else words.rindex(" ") + 1
        asked.append(f"{words[:at]}[{words[at]}]{words[at + 1 :]}")
        letters[words[at]] = decision
    return ", ".join(asked), letters


def _show(lines: list[str]) -> None:
    for line in lines:
        print(f"  {shown_lines(line)}", file=sys.stderr)
    sys.stderr.flush()
