"""A loop without engine, file and process: a runner that only speaks, and a journal in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loop_ls.engine.assistants.program import AssistantProgram, Start
from loop_ls.engine.core.loop_driver import Outcome
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.runners.runner import Assignment, Work, deaf
from loop_ls.formats.assistant.model import Assistant, Criteria
from loop_ls.testing.recorder import MemoryRecorder

Answers = str | Failure


class Saying:
    """Answers at once, the last answer again and again, and remembers what it was asked."""

    name: str = "fake"
    program: tuple[str, ...] = ()

    def __init__(self, *answers: Answers) -> None:
        self.answers: tuple[Answers, ...] = answers or ("ok",)
        self.asked: list[Assignment] = []

    async def run(self, work: Assignment, hear: Any = deaf) -> Work:
        self.asked.append(work)
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(answer, Failure):
            raise answer
        return Work(answer, "fake", usd=0.1, session=work.session)

    @property
    def messages(self) -> list[str]:
        return [work.message for work in self.asked]


@dataclass
class Alone:
    """One loop; `keys` are fields of `Assistant`."""

    runner: Saying
    criteria: Criteria | None = None
    most: int = 3
    root: Path = Path(".")
    environ: dict[str, str] = field(default_factory=dict)
    pattern_limit: float = 5.0
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    unchanged: int | None = None
    keys: dict[str, Any] = field(default_factory=dict)

    async def run(self, message: str = "do it") -> Outcome:
        start = Start(
            self._assistant(), message, self.most, str(self.root), "fixer.assistant.yaml", unchanged=self.unchanged
        )
        return await AssistantProgram(self.environ, self.pattern_limit).loop(start, self.runner, self.recorder)

    def _assistant(self) -> Assistant:
        own = {"criteria": self.criteria, "max_iterations": self.most, "loop_enabled": True, **self.keys}
        return Assistant("fixer", "Fixer", "You repair.", **own)


async def ran(criteria: Criteria | None, *answers: Answers, most: int = 3, **more: Any) -> tuple[Alone, Outcome]:
    alone = Alone(Saying(*answers), criteria, most, **more)
    return alone, await alone.run()
