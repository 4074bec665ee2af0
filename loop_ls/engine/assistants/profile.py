"""How an assistant's settings reach its agent: tools, model, budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loop_ls.engine.roles.targets import utility_targets
from loop_ls.formats.assistant.keys import TOOLS
from loop_ls.formats.assistant.model import Assistant
from loop_ls.formats.common.target import Target
from loop_ls.text.json_value import Json, as_object

#: Tools that every assistant has.
ALWAYS = ("Read", "WebSearch", "WebFetch")

#: What the names of kinds of models stand for where the settings say nothing else (`models`).
TIERS = {"opus": "claude-opus-4-8", "sonnet": "claude-sonnet-4-6", "haiku": "claude-haiku-4-5"}
_BY_PURPOSE = {"analysis": "opus", "review": "opus", "chat": "haiku"}


def tools_of(assistant: Assistant) -> tuple[str, ...]:
    chosen = assistant.allowed_tools or TOOLS
    return tuple(dict.fromkeys((*chosen, *ALWAYS)))


def model_of(assistant: Assistant, provider: Mapping[str, Json]) -> str | None:
    """The model of the file, else that of its provider's settings, else the one for its purpose. Tiers
    mean something to Claude Code alone: any other agent chooses for itself where nothing is written."""
    tiers = {**TIERS, **_tiers(provider.get("tiers"))}
    if assistant.model:
        return tiers.get(assistant.model, assistant.model)
    if default := provider.get("defaultModel"):
        return str(default)
    if assistant.provider != "claude-code" or not _is_claude(provider):
        return None
    return tiers[_BY_PURPOSE.get(assistant.purpose or "", "sonnet")]


def memory_target(assistant: Assistant, settings: Mapping[str, Json]) -> Target:
    """Who keeps its memory file: the model that judges for the project, else the smallest of its own provider."""
    if utility := utility_targets(settings):
        return utility[0]
    provider = as_object(as_object(settings.get("providers")).get(assistant.provider))
    if assistant.provider == "claude-code" and _is_claude(provider):
        return Target(assistant.provider, {**TIERS, **_tiers(provider.get("tiers"))}["haiku"])
    return Target(assistant.provider, model_of(assistant, provider) or "")


def asked_for_memory(assistant: Assistant, settings: Mapping[str, Json]) -> list[tuple[str, tuple[Target, ...]]]:
    """Who is asked to keep it, with what for; nobody where there is none."""
    return [(f"The memory of `{assistant.name}`", (memory_target(assistant, settings),))] if assistant.memory else []


def budget_of(caps: Iterable[float | None]) -> float | None:
    """The narrowest of all caps of one iteration."""
    return min((cap for cap in caps if cap is not None), default=None)


def _tiers(given: object) -> dict[str, str]:
    return {name: str(model) for name, model in given.items()} if isinstance(given, Mapping) else {}


def _is_claude(provider: Mapping[str, Json]) -> bool:
    cli = provider.get("cli")
    first = cli[0] if isinstance(cli, list) and cli else cli
    speaks = provider.get("speaks")
    return provider.get("kind") in (None, "agent-cli") and (
        speaks == "claude-code" if speaks else str(first or "claude").rpartition("/")[2] in ("claude", "claude-code")
    )
