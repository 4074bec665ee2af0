"""Which model speaks for a role, and which one judges: settings, and what a mock run needs (none)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loop_ls.formats.common.target import Target

MOCK = Target("mock", "mock")


def role_target(role: str, settings: Mapping[str, Any], mock: bool = False) -> Target | None:
    """Of the role itself (`roles.<name>`), else the one of the interactive assistant (`assist`)."""
    own = (settings.get("roles") or {}).get(role)
    found = _target(own, settings) or _target(settings.get("assist"), settings)
    return found or (MOCK if mock else None)


def utility_targets(settings: Mapping[str, Any], mock: bool = False) -> tuple[Target, ...]:
    """Who judges goals and gates: `judge`, else `assist`. Empty: nobody."""
    found = _target(settings.get("judge"), settings) or _target(settings.get("assist"), settings)
    found = found or (MOCK if mock else None)
    return () if found is None else (found,)


def _target(value: Any, settings: Mapping[str, Any]) -> Target | None:
    """A provider with the model that it names, else with the provider's usual one."""
    if not isinstance(value, Mapping) or not value.get("provider"):
        return None
    provider = str(value["provider"])
    known = (settings.get("providers") or {}).get(provider)
    usual = known.get("defaultModel") if isinstance(known, Mapping) else None
    return Target(provider, str(value.get("model") or usual or ""))
