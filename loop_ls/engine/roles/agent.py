"""What a stage asks of whoever takes its turn: the port between role loops and their agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import Recorder
from loop_ls.formats.role_loop.roles import ROLES, Role


@dataclass(frozen=True, slots=True)
class Job:
    """One turn of one role. `session` is the starter's: artifacts and todos belong there; `execution` is
    the turn's own, fresh one. `steps`: how many model calls it may take."""

    place: Place
    stage: str
    role: Role
    prompt: str
    steps: int
    session: str
    execution: str
    project: str = ""
    sprint: str = ""
    iteration: int = 1
    skills: tuple[str, ...] = ()
    judges: bool = False  # its word may end the loop
    capped: bool = False  # somebody wrote how many steps it may take


class Agent(Protocol):
    def model(self, role: Role) -> str | None:
        """Who answers for a role, as shown in records; None where nobody does."""
        ...

    async def run(self, job: Job, recorder: Recorder) -> str:
        """The last text of the turn. Paid calls and tools go through the recorder. Raises `Failure`,
        `ModelFailure`, `Stopped`."""
        ...


def is_capped(stage: int | None, role: Role) -> bool:
    """Whether stage, settings or a file of the role say how many steps it may take. The usual numbers are those of
    models: a program counts a step for each file that it reads."""
    usual = ROLES.get(role.name)
    return stage is not None or (role.steps is not None and (usual is None or usual.steps != role.steps))
