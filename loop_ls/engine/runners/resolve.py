"""Which runner a provider means: a known agent, a command from the settings, or a model behind an address.

In a mock run nobody is started: the scripted provider answers for every agent.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import PurePath

from loop_ls.engine.core.ports import Failure, Models
from loop_ls.engine.runners.claude import Claude
from loop_ls.engine.runners.cli import CliRunner, Dialect
from loop_ls.engine.runners.codex import Codex
from loop_ls.engine.runners.command import AnyCommand
from loop_ls.engine.runners.model import ModelRunner
from loop_ls.engine.runners.opencode import Opencode
from loop_ls.engine.runners.runner import Runner
from loop_ls.text.json_value import Json, as_object, text_field

AGENT_CLI = "agent-cli"
#: Provider -> the program that it is, without any setting.
KNOWN_AGENTS = {"claude-code": "claude", "codex": "codex", "opencode": "opencode"}
#: From the environment of the engine.
_DIALECTS: Mapping[str, Callable[[Mapping[str, str]], Dialect]] = {
    "claude": lambda environ: Claude(),
    "claude-code": lambda environ: Claude(),
    "codex": lambda environ: Codex(environ.get("OPENAI_BASE_URL") or ""),
    "opencode": lambda environ: Opencode(),
}


def runner_for(
    provider: str,
    settings: Mapping[str, Json],
    models: Models,
    mock: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Runner:
    """The runner of `provider`; `settings` is the section `providers`. Raises `Failure`."""
    environment = os.environ if environ is None else environ
    own = as_object(settings.get(provider))

    model = str(own.get("defaultModel") or "")
    if mock or not is_agent(provider, settings):
        return ModelRunner(provider, models, model)
    words = program_of(provider, settings)
    dialect = _DIALECTS.get(_speech(own, words))
    if dialect is None:
        return CliRunner(provider, words[:1], AnyCommand(words[1:]), environment, own, words)
    return CliRunner(provider, words, dialect(environment), environment, own)


def is_agent(provider: str, settings: Mapping[str, Json]) -> bool:
    """Whether a provider is a program that we start."""
    own = as_object(settings.get(provider))
    kind = own.get("kind") if isinstance(own, Mapping) else None
    return kind == AGENT_CLI or (kind is None and provider in KNOWN_AGENTS)


def is_fenced(provider: str, settings: Mapping[str, Json], root: str) -> bool:
    """Whether an agent can be kept from tools that its role may not use: it is one of those that are known, no file
    of the project at `root` that is only called so, spoken to as what it is, and started without options of the
    settings, which could switch its limits off. Raises `Failure` where the settings name no program."""
    words, speaks = program_of(provider, settings), text_field(as_object(settings.get(provider)), "speaks")
    program = PurePath(words[0])
    if len(words) > 1 or program.name not in KNOWN_AGENTS.values():
        return False
    if KNOWN_AGENTS.get(speaks, speaks) not in ("", program.name):
        return False
    return program.name == words[0] or (program.is_absolute() and not _may_be_of_project(words[0], root))


def _may_be_of_project(program: str, root: str) -> bool:
    """Whether an absolute path leads into the project. What `/proc/self/cwd` means depends on who asks."""
    changes = PurePath(os.path.normpath(program)).parts[1] in ("proc", "dev")
    return changes or bool(root and PurePath(os.path.realpath(program)).is_relative_to(os.path.realpath(root)))


def takes_tools(provider: str, settings: Mapping[str, Json]) -> bool:
    """Whether an agent can be offered tools of ours. Raises `Failure` where the settings name no program."""
    own = as_object(settings.get(provider))
    return is_agent(provider, settings) and _speech(own, program_of(provider, settings)) in _DIALECTS


def reads_files(provider: str, settings: Mapping[str, Json]) -> bool:
    """Whether an agent has tools for files: one reads by its shell alone. Raises `Failure` like `takes_tools`."""
    return _speech(as_object(settings.get(provider)), program_of(provider, settings)) != "codex"


def tells_cost(provider: str, settings: Mapping[str, Json]) -> bool:
    """Whether an agent says what its work has cost. Raises `Failure` where the settings name no program."""
    dialect = _dialect(provider, settings)
    return dialect is not None and dialect.tells_cost


def price_table(provider: str, settings: Mapping[str, Json]) -> str:
    """Whose models an agent mostly asks, as the price table names them; empty: nobody knows. Raises `Failure` like
    `tells_cost`."""
    dialect = _dialect(provider, settings)
    return "" if dialect is None else dialect.prices


def _dialect(provider: str, settings: Mapping[str, Json]) -> Dialect | None:
    made = _DIALECTS.get(_speech(as_object(settings.get(provider)), program_of(provider, settings)))
    return None if made is None else made({})


def _speech(own: Mapping[str, Json], words: tuple[str, ...]) -> str:
    return str(own.get("speaks") or PurePath(words[0]).stem)


def program_of(provider: str, settings: Mapping[str, Json]) -> tuple[str, ...]:
    """The words with which an agent is started. Raises `Failure` where the settings say none."""
    own = as_object(settings.get(provider))
    cli = own.get("cli") if isinstance(own, Mapping) else None
    match cli:
        case str() if cli.strip():
            return (KNOWN_AGENTS.get(cli, cli),)
        case list() if cli and all(isinstance(word, str) and word for word in cli):
            return tuple(cli)
        case None if provider in KNOWN_AGENTS:
            return (KNOWN_AGENTS[provider],)
        case _:
            told = f"`providers.{provider}` is an agent, but its `cli` has no program."
            raise Failure("provider_unavailable", told, "Set `cli` to a list of arguments: `cli: [my-agent, --json]`.")
