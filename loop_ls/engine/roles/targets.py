"""Which model speaks for a role, and which one judges: settings, and what a mock run needs (none)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from loop_ls.engine.capabilities.values import OTHER
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.runners.resolve import is_agent, is_fenced, program_of
from loop_ls.formats.common.target import Target
from loop_ls.formats.role_loop.model import EvaluationBound, GoalBound, RoleLoop
from loop_ls.text.json_value import Json, as_object

MOCK = Target("mock", "mock")


def role_target(role: str, settings: Mapping[str, Json], mock: bool = False) -> Target | None:
    """Of the role itself (`roles.<name>`), else the one of the interactive assistant (`assist`), whose provider counts
    for a role that names a model alone."""
    own = as_object(settings.get("roles")).get(role)
    found = _target(own, settings) or _target(settings.get("assist"), settings)
    if found is not None and (model := as_object(own).get("model")):
        found = Target(found.provider, str(model))
    return found or (MOCK if mock else None)


def player_of(role: str, settings: Mapping[str, Json], root: str) -> str:
    """The agent program that plays a role, `OTHER` for one whose tools nobody here can take away; empty: a model."""
    target, providers = role_target(role, settings), as_object(settings.get("providers"))
    if target is None or not is_agent(target.provider, providers):
        return ""
    try:
        known = is_fenced(target.provider, providers, root)
        return PurePath(program_of(target.provider, providers)[0]).name if known else OTHER
    except Failure:  # said where it is started
        return OTHER


def utility_targets(settings: Mapping[str, Json], mock: bool = False) -> tuple[Target, ...]:
    """Who judges goals and gates: `judge`, else `assist`. Empty: nobody."""
    found = _target(settings.get("judge"), settings) or _target(settings.get("assist"), settings)
    found = found or (MOCK if mock else None)
    return () if found is None else (found,)


def _target(value: object, settings: Mapping[str, Json]) -> Target | None:
    """A provider with the model that it names, else with the provider's usual one."""
    if not isinstance(value, Mapping) or not value.get("provider"):
        return None
    provider = str(value["provider"])
    known = as_object(settings.get("providers")).get(provider)
    usual = known.get("defaultModel") if isinstance(known, Mapping) else None
    return Target(provider, str(value.get("model") or usual or ""))


def asked_of(loop: RoleLoop, settings: Mapping[str, Json]) -> list[tuple[str, tuple[Target, ...]]]:
    """Every model that the loop asks, with who asks it. Raises `Refused` where nobody is named."""
    roles = dict.fromkeys(stage.role for stage in loop.stages)
    found: list[tuple[str, tuple[Target, ...]]] = []
    for role in roles:
        target = role_target(role, settings)
        if target is None:
            told = f"No provider configured for role `{role}`: neither the role nor `assist` has a provider and model."
            hint = f"Add `roles.{role}` or `assist` with `provider` and `model` to .loop-ls.yaml."
            raise Refused("provider_unavailable", told, hint, {"role": role})
        found.append((f"Role `{role}`", (target,)))
    judging = utility_targets(settings)
    gated = isinstance(loop.termination, EvaluationBound) and loop.approval.mode == "llm"
    if gated and not judging:
        told = "`approval` has the mode `llm`, but no judge model is configured."
        raise Refused("provider_unavailable", told, "Add `judge` or `assist` with `provider` and `model`.")
    if judging and (gated or isinstance(loop.termination, GoalBound)):
        found.append(("The judge of the loop", judging))
    return found
