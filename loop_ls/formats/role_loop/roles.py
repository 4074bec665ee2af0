"""The roles that every installation knows: what they may do, and how many steps they get.

A project adds its own in the settings. A name that is in neither is no role: it never gets any access.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, cast, get_args

from loop_ls.text.json_value import Json

Access = Literal["full", "readonly-shell", "readonly", "minimal"]

#: What an access level lets a stage do, in words.
ACCESS: dict[Access, str] = {
    "full": "reads and writes files, runs any command, uses the web, memory and further tools",
    "readonly-shell": "reads files and runs commands that only read",
    "readonly": "reads files, runs no command",
    "minimal": "has no tools",
}


class Role(NamedTuple):
    """`steps`: the most model calls of one turn; None: whatever the settings say."""

    name: str
    access: Access
    steps: int | None
    text: str


ROLES: dict[str, Role] = {
    role.name: role
    for role in (
        Role("plan", "readonly", 30, "Studies the goal and writes steps that others carry out."),
        Role("coder", "full", 48, "Carries out what was planned, and runs the checks."),
        Role("reviewer", "readonly", 15, "Judges what was done and says what is missing."),
        Role("explorer", "readonly-shell", 20, "Looks into files and documents and reports what is there."),
        Role("muse", "readonly-shell", 32, "Finds many different ideas."),
        Role("philosopher", "readonly", 24, "Weighs ideas and looks for patterns and tensions."),
        Role("orchestrator", "full", None, "Directs work that takes several hands."),
        Role("assistant", "readonly", None, "Answers questions."),
        Role("identity-curator", "readonly", None, "Keeps notes and memories in order."),
        Role("title-generator", "minimal", None, "Finds a title."),
        Role("vision", "minimal", None, "Describes pictures."),
    )
}

_LEVELS: tuple[Access, ...] = get_args(Access)


def known_roles(configured: Mapping[str, Json] | None = None) -> dict[str, Role]:
    """The roles by name; `configured` are the plain values of the setting `roles`, which win."""
    found = dict(ROLES)
    for name, values in (configured or {}).items():
        own = values if isinstance(values, Mapping) else {}
        found[name] = _configured(name, own, found.get(name))
    return found


def _configured(name: str, values: Mapping[str, Any], built_in: Role | None) -> Role:
    level = values.get("access")
    if level not in _LEVELS:
        level = built_in.access if built_in else "readonly"
    steps = values.get("maxSteps")
    if not isinstance(steps, int):
        steps = built_in.steps if built_in else None
    text = values.get("instructions")
    first = text.strip().split("\n")[0] if isinstance(text, str) else ""
    return Role(name, cast(Access, level), steps, first or (built_in.text if built_in else "A role of this project."))
