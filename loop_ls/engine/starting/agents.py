"""The agents of the command line among the providers that a start would ask: programs that need consent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from loop_ls.engine.ports import Failure
from loop_ls.engine.refusal import Refused
from loop_ls.engine.runners.choosing import is_agent, program_of
from loop_ls.engine.starting.consent import StartedProgram


def agents(names: Iterable[str], providers: Mapping[str, Any], folder: str) -> list[StartedProgram]:
    """`providers` is that section of the settings, `folder` where they work. Raises `Refused` where the
    settings name no program."""
    return [
        StartedProgram(program(name, providers), folder) for name in sorted(set(names)) if is_agent(name, providers)
    ]


def program(name: str, providers: Mapping[str, Any]) -> tuple[str, ...]:
    """The words with which an agent starts. Raises `Refused`."""
    try:
        return program_of(name, providers)
    except Failure as failure:
        raise Refused("provider_unavailable", failure.message, failure.hint, {"provider": name}) from failure
