"""The settings of enhance loops as values: `enhance`, and what a workflow's own entry says above it.

Ranges stand in the table of keys (`settings.keys`); what is out of range is not taken, and the value below
it holds. Who the planner is when nobody says so depends on the file, and is not decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from loop_ls.formats.common.key_table import Key, Type
from loop_ls.formats.common.target import Target
from loop_ls.formats.settings.keys import ENHANCED
from loop_ls.text.json_value import Json, as_object, from_fields
from loop_ls.text.record import equal_record

INHERIT = "inherit"
#: The six fields of the one-time setup, in its order.
SETUP = ("maxRounds", "budgetCapUsd", "convergenceMode", "pauseBetweenRounds", "plannerProvider", "plannerModel")

_KEYS: dict[str, Key] = {name: key for name, key in ENHANCED.keys.items() if name != "enabled"}


@equal_record
class Knobs:
    """Frozen when a loop starts. Durations in seconds."""

    max_rounds: int = 3
    budget_cap_usd: float = 5.0
    convergence_mode: Literal["strict", "lenient"] = "strict"
    pause_between_rounds: bool = False
    planner_provider: str = INHERIT
    planner_model: str = INHERIT
    on_fixation: Literal["abort", "warn"] = "abort"
    max_ops_per_round: int = 8
    max_edited_steps_per_round: int = 5
    ack_timeout_seconds: float = 30.0
    planner_timeout_seconds: float = 120.0
    planner_attempts: int = 2
    pause_timeout_seconds: float = 0.0
    excerpt_chars: int = 2000
    fallback_pool: tuple[Target, ...] = ()
    verifiers: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    transient_backoff_seconds: float = 5.0
    apply_when_headless: bool = False
    on_give_up: Literal["keep", "revert", "best"] = "keep"
    unknown_price_usd_per_call: float = 0.05
    min_pass_rate: float = 0.7
    confidence: float = 0.9
    confirm_runs: int = 1
    minibatch: int = 3
    accept_probability: float = 0.8
    holdout_runs: int = 2
    max_trials_per_text: int = 30
    max_trials: int = 60


class Wrong(NamedTuple):
    """A value that is not taken, and why: one sentence."""

    name: str
    message: str


def knobs(section: object, workflow: str | None = None) -> tuple[Knobs, tuple[Wrong, ...]]:
    """The knobs of a workflow (by its key) from the section `enhance`, and what of it is not taken."""
    values, wrong = taken(as_object(section))
    mine, more = taken(_own(section, workflow))
    named = {_snake(name): _value(name, value) for name, value in {**values, **mine}.items()}
    return from_fields(Knobs, named), (*wrong, *more)


def is_enabled(section: object, workflow: str | None) -> bool:
    """Whether a run of this workflow is an enhance loop."""
    return _own(section, workflow).get("enabled") is True


def taken(values: Mapping[str, Json]) -> tuple[dict[str, Json], tuple[Wrong, ...]]:
    """The knobs among these values that are right, and what is wrong with the others."""
    right: dict[str, Json] = {}
    wrong: list[Wrong] = []
    for name, value in values.items():
        key = _KEYS.get(name)
        if key is None:
            continue
        told = fault(key, value)
        if told is None:
            right[name] = value
        else:
            wrong.append(Wrong(name, f"`{name}` {told}"))
    return right, tuple(wrong)


def fault(key: Key, value: Json) -> str | None:
    """What is wrong with a value; None: nothing."""
    if key.name == "fallbackPool":
        good = isinstance(value, list) and all(_pair(one) is not None for one in value)
        return None if good else "must be a list of objects with `provider` and `model`"
    if key.name == "files":
        good = isinstance(value, list) and all(isinstance(one, str) and lies_below(one) for one in value)
        return None if good else "is a list of files below the workspace, such as `parts/draft.yaml`"
    match key.type:
        case Type.TEXTS:
            good = isinstance(value, list) and all(isinstance(one, str) and one for one in value)
            return None if good else "must be a list of names"
        case Type.BOOLEAN:
            return None if isinstance(value, bool) else "must be `true` or `false`"
        case Type.INTEGER | Type.NUMBER:
            return _number_fault(key, value)
        case _ if key.choices:
            listed = " or ".join(f"`{one}`" for one in key.choices)
            return None if value in key.choices else f"must be {listed}"
        case _:
            return None if isinstance(value, str) and value else "must be a string"


def lies_below(path: str) -> bool:
    """Whether a path, as it is written, leads nowhere but below the workspace."""
    parts = path.split("/")
    return not any(one in ("", ".", "..") for one in parts) and not any(sign in path for sign in "\\:~")


def defaults() -> dict[str, Json]:
    """Every knob with what holds when nobody says anything."""
    usual = Knobs()
    return {name: list(value) if isinstance(value := getattr(usual, _snake(name)), tuple) else value for name in _KEYS}


def knobs_as_written(section: Mapping[str, Json]) -> dict[str, Json]:
    """Every knob with what holds under this section, by the names of the settings."""
    right, _ = taken(section)
    return {**defaults(), **right}


def is_knob(name: str) -> bool:
    return name in _KEYS


def _number_fault(key: Key, value: Json) -> str | None:
    whole = key.type is Type.INTEGER
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        return "must be an integer" if whole else "must be a number"
    if key.positive and value <= 0:
        return "must be more than 0"
    low, high = key.minimum, key.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        if high is None:
            return f"must be {low:g} or more"
        return f"must be at most {high:g}" if low is None else f"must be from {low:g} to {high:g}"
    return None


def _own(section: object, workflow: str | None) -> Mapping[str, Json]:
    return as_object(as_object(as_object(section).get("workflows")).get(workflow or ""))


def _value(name: str, value: Json) -> object:
    if isinstance(value, list):
        return tuple(pair for one in value if (pair := _pair(one))) if name == "fallbackPool" else tuple(value)
    return float(value) if isinstance(value, int) and _KEYS[name].type is Type.NUMBER else value


def _pair(value: Json) -> Target | None:
    if not isinstance(value, Mapping) or value.keys() != {"provider", "model"}:
        return None
    provider, model = value["provider"], value["model"]
    return Target(provider, model) if isinstance(provider, str) and isinstance(model, str) else None


def _snake(name: str) -> str:
    return "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name)
