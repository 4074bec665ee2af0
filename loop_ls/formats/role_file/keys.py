"""The one table of keys of a role file. Those of a role in the settings are taken from there."""

from __future__ import annotations

from loop_ls.formats.common.case_advice import camel_advice
from loop_ls.formats.common.key_table import Key, Type, shape
from loop_ls.formats.settings.keys import ROLE

_OF_SETTINGS = tuple(key for key in ROLE.keys.values() if key.name not in ("instructions", "tools"))

#: Keys of Claude Code that have no meaning for a role.
OF_CLAUDE = frozenset(
    {
        *("color", "disallowedTools", "permissionMode", "mcpServers", "hooks", "maxTurns", "skills", "initialPrompt"),
        *("memory", "effort", "background", "isolation"),
    }
)

_KEYS = (
    Key("name", Type.TEXT, "Name of the role, as role loops use it.", default="the name of the file"),
    Key(
        "tools",
        Type.TEXT_OR_TEXTS,
        "Tools that the role may use, of those that its access allows: a list, or `Read, Grep`. Without `access`, its "
        "access follows from them.",
    ),
    *_OF_SETTINGS,
)

ROLE_FILE = shape(
    "role file",
    "a role file",
    "One role of role loops: its settings; its instructions are the text below.",
    *_KEYS,
    wrong=camel_advice(_KEYS, steps="maxSteps", permissions="access", title="name"),
)
