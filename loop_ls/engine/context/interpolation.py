"""Placeholders `{{name}}` in a text: one pass over what was written.

Inserted values are never looked at again (D41). Braces around anything but a name are text: no
expressions, no nesting, no filters, no escapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loop_ls.engine.context.scope import Scope
from loop_ls.engine.core.env_substitution import Lookup, filled
from loop_ls.engine.core.ports import Failure
from loop_ls.formats.common.key_table import CONSEQUENCES, Key
from loop_ls.formats.workflow.placeholder_syntax import substituted


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


def check_known(key: Key, owner: str, unknown: Sequence[str], hint: str = "") -> None:
    """Raise `Failure` where the table of keys says that an unknown variable fails this field of `owner`."""
    if unknown and key.unknown == "fails":
        raise Failure("unknown_variable", undefined(f"`{key.name}` of `{owner}`", unknown), hint)


def undefined(where: str, names: Sequence[str], key: Key | None = None) -> str:
    """The sentence about names that nothing defines; with a key, what becomes of its text."""
    listed = ", ".join(f"`{{{{{name}}}}}`" for name in names)
    consequence = f"; {CONSEQUENCES[key.unknown]}" if key is not None else ""
    return f"{where} uses {listed}, which is not defined{consequence}"


def expand_environment(env: dict[str, str], lookup: Lookup) -> tuple[dict[str, str], list[str]]:
    """`env` with each `${NAME}` replaced, and the names that are unset (empty text, WF508)."""
    found = {key: filled(text, lookup) for key, text in env.items()}
    unset = dict.fromkeys(name for _, names in found.values() for name in names)
    return {key: text for key, (text, _) in found.items()}, list(unset)
