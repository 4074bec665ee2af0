"""The shape of a run's start as everybody who shows it reads it: for runs that come from elsewhere.

What this engine writes has it anyway. A record that has not must not get in: it would spoil the list of all runs.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from loop_ls.text.json_value import JsonObject


class _Part(BaseModel):
    """What a newer loop-ls adds is nobody's harm."""

    model_config = ConfigDict(extra="allow", strict=True)


class Stage(_Part):
    role: str
    label: str


class StartPlan(_Part):
    keys: dict[str, str] = {}
    elements: list[str] | None = None
    maxIterations: int | None = None
    item: int | None = None
    stages: list[Stage] = []
    resolved: JsonObject = {}
    projectId: str | None = None
    disk: str | None = None
    knobs: JsonObject = {}
    planner: dict[str, str] = {}
    roots: list[list[str | None]] = []


class Criterion(_Part):
    type: str
    value: str


class StartLimits(_Part):
    maxIterations: int | None = None
    criterion: Criterion | None = None
    budgetUsd: float | None = None
    maxTokens: int | None = None
    wallClock: float | str | None = None
    unchanged: int | None = None


class Target(_Part):
    kind: str
    name: str | None = None


class ImportedStart(_Part):
    """`ImportedStart.model_validate(body)` raises `ValidationError` with the place of what is wrong."""

    plan: StartPlan = StartPlan()
    limits: StartLimits = StartLimits()
    target: Target
    files: dict[str, str] = {}
