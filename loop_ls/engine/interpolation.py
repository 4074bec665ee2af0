"""Placeholders `{{name}}` in a text: one pass over what was written (workflow spec 3.1, 3.2).

Inserted values are never looked at again (D41). Braces around anything but a name are text: no
expressions, no nesting, no filters, no escapes.
"""

from __future__ import annotations

from dataclasses import dataclass

from loop_ls.engine.environment import Lookup, filled
from loop_ls.engine.scope import Scope
from loop_ls.formats.variables import substituted


@dataclass(frozen=True, slots=True)
class Rendered:
    """A text with its values in place. `unknown` names stay as written, each listed once."""

    text: str
    unknown: tuple[str, ...] = ()


def interpolate(text: str, scope: Scope) -> Rendered:
    """Put values in place of the names that exist, and leave the others as they are written."""
    unknown: dict[str, None] = {}

    def value(name: str) -> str | None:
        found = scope.get(name)
        if found is None:
            unknown[name] = None
        return found

    return Rendered(substituted(text, value), tuple(unknown))


def expand_environment(env: dict[str, str], lookup: Lookup) -> tuple[dict[str, str], list[str]]:
    """`env` with each `${NAME}` replaced, and the names that are unset (empty text, WF508)."""
    found = {key: filled(text, lookup) for key, text in env.items()}
    unset = dict.fromkeys(name for _, names in found.values() for name in names)
    return {key: text for key, (text, _) in found.items()}, list(unset)
