"""The roles that every installation knows: what they may do, and how many steps they get.

A project adds its own in the settings. A name that is in neither is no role: it never gets any access.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, cast, get_args

from loop_ls.text.json_value import Json

Access = Literal["full", "readonly-shell", "readonly", "minimal"]

#: What an access level lets a stage do, in words.
ACCESS: dict[Access, str] = {
    "full": "reads and writes files, runs any command, uses the web, memory and other tools",
    "readonly-shell": "reads files and runs commands that only read",
    "readonly": "reads files, runs no command",
    "minimal": "has no tools",
}


#: Steps of a stage where neither stage nor role nor settings say a number, and the most that count.
STEPS, MOST_STEPS = 48, 100


class Role(NamedTuple):
    """`steps`: the most model calls of one turn; None: whatever the settings say. `tools`: those of its access that it
    may use, in our words or those of Claude Code; None: all of them. `file`: where it is written down, below the folder
    of its project, if that is a file of its own."""

    name: str
    access: Access
    steps: int | None
    text: str
    tools: tuple[str, ...] | None = None
    file: str = ""


ROLES: dict[str, Role] = {
    role.name: role
    for role in (
        Role("plan", "readonly", 30, "Studies the goal and writes steps that others carry out."),
        Role("coder", "full", 48, "Carries out what was planned, and runs the checks."),
        Role("reviewer", "readonly", 15, "Judges what was done and says what is missing."),
        Role("explorer", "readonly-shell", 20, "Looks into files and documents and reports what is there."),
        Role("muse", "readonly-shell", 32, "Finds many different ideas."),
        Role("philosopher", "readonly", 24, "Weighs ideas and looks for patterns and tensions."),
        Role("orchestrator", "full", None, "Coordinates work that needs several roles."),
        Role("assistant", "readonly", None, "Answers questions."),
        Role("identity-curator", "readonly", None, "Keeps notes and memories in order."),
        Role("title-generator", "minimal", None, "Finds a title."),
        Role("vision", "minimal", None, "Describes pictures."),
    )
}

#: What Claude Code calls tools that we have, too.
OF_CLAUDE: dict[str, str] = {
    "Read": "file_read",
    "Glob": "file_list",
    "Grep": "file_search",
    "Write": "file_write",
    "Edit": "file_edit",
    "Bash": "shell",
    "WebFetch": "web_fetch",
}
_SAME = {"ls": "Glob", "multiedit": "Edit", **{name.lower(): name for name in OF_CLAUDE}}
_SAME |= {ours: name for name, ours in OF_CLAUDE.items()}


def claude_tools(tools: Iterable[str]) -> tuple[str, ...]:
    """Tools that a role names, in the words of Claude Code."""
    return tuple(dict.fromkeys(_SAME.get(tool.lower(), tool) for tool in tools))


def our_tools(tools: Iterable[str]) -> frozenset[str]:
    """The same in our words; those of an MCP server by the name of the tool, with and without its server."""
    plain = (tool.removeprefix("mcp__") for tool in claude_tools(tools))
    return frozenset(name for tool in plain for name in (OF_CLAUDE.get(tool, tool), tool.rpartition("__")[2]))


_LEVELS: tuple[Access, ...] = get_args(Access)


def steps_of(stage: int | None, role: Role | None) -> int:
    """How many model calls a stage may take: its own number, else the role's, else the usual one; 0 is unlimited, which
    is the most."""
    wanted = next((each for each in (stage, role.steps if role else None) if each is not None), STEPS)
    return MOST_STEPS if wanted <= 0 else min(wanted, MOST_STEPS)


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
    texts = (values.get("description"), values.get("instructions"))
    first = next((one.strip().split("\n")[0] for one in texts if isinstance(one, str) and one.strip()), "")
    usual = built_in.text if built_in else "A role of this project."
    tools = values.get("tools")
    named = tuple(map(str, tools)) if isinstance(tools, list) else None
    file = values.get("file")
    return Role(name, cast(Access, level), steps, first or usual, named, file if isinstance(file, str) else "")
