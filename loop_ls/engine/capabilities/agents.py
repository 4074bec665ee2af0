"""The agents of the command line among the providers that a start would ask: programs that need consent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from loop_ls.engine.capabilities.values import Program
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.core.price_table import Price, amounts
from loop_ls.engine.providers.config import fallbacks
from loop_ls.engine.runners.resolve import KNOWN_AGENTS, is_agent, is_fenced, program_of
from loop_ls.text.json_value import Json, as_object


def agents(
    names: Iterable[str],
    providers: Mapping[str, Json],
    folder: str,
    variables: Iterable[str] = (),
    apart: bool = False,
) -> list[Program]:
    """`providers` is that section of the settings, `folder` where they work, `variables` those whose values are
    in their prompts. `apart`: they only read, and are kept from what the project says to them. Raises `Refused`
    where the settings name no program, or let an agent stand in for a model."""
    asked = sorted(set(names))
    for name in asked:
        _stands_in_for_none(name, providers)
    found = []
    for name in asked:
        if is_agent(name, providers):
            words = program(name, providers)
            works, fenced = not apart and _reads_project(words), is_fenced(name, providers, folder)
            price = amounts(Price.read(as_object(providers.get(name)).get("price")))
            reads = apart and fenced
            found.append(Program(words, folder, tuple(variables), works, fenced, price=price, only_reads=reads))
    return found


def _reads_project(words: tuple[str, ...]) -> bool:
    """Whether a project can have settings of its own for it, which may start further programs."""
    return Path(words[0]).name in KNOWN_AGENTS.values()


def _stands_in_for_none(name: str, providers: Mapping[str, Json]) -> None:
    """An agent works with tools of its own, and nobody bounds what it costs: it is no other model. Where it was
    only passed over, nobody would know why. Raises `Refused`."""
    for other in fallbacks(name, providers):
        if is_agent(other.provider, providers):
            told = (
                f"`providers.{name}.fallback` contains `{other.provider}`, which is an agent and cannot "
                "replace a model."
            )
            hint = "Remove it from that list; workflows can use it in `providers` of `execution` or a step."
            raise Refused("bad_argument", told, hint, {"provider": name})


def program(name: str, providers: Mapping[str, Json]) -> tuple[str, ...]:
    """The words with which an agent starts. Raises `Refused`."""
    try:
        return program_of(name, providers)
    except Failure as failure:
        raise Refused("provider_unavailable", failure.message, failure.hint, {"provider": name}) from failure
