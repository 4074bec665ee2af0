"""What to tell about a key, in Markdown: meaning, type, default, range, where it comes from (UP-19).

Everything is taken from the table of keys; hover and completion say the same.
"""

from __future__ import annotations

from loop_ls.features.text.humanize import listed
from loop_ls.formats.common.key_table import Key, Shape, Type
from loop_ls.text.markdown import code

_SHORT = {
    Type.TEXT: "text",
    Type.INTEGER: "integer",
    Type.NUMBER: "number",
    Type.BOOLEAN: "true | false",
    Type.DURATION: "duration",
    Type.TEXTS: "list",
    Type.TEXT_OR_TEXTS: "string or list",
    Type.NUMBERS: "list of numbers",
    Type.BLOCK: "mapping",
    Type.BLOCKS: "list of mappings",
    Type.BLOCK_MAP: "names and mappings",
    Type.TEXT_MAP: "names and strings",
    Type.ARGUMENTS: "names and values",
    Type.ANY: "anything",
}


def key_text(key: Key, shape: Shape) -> str:
    """The whole explanation of a key of `shape`."""
    parts = [f"**{code(key.name)}** {_of(shape)}", key.text, *facts(key, shape)]
    if key.reference:
        parts.append(f"*{key.reference}*")
    return "\n\n".join(parts)


def facts(key: Key, shape: Shape) -> list[str]:
    """Type, default, range and origin as one line of short statements."""
    found = [_type(key)]
    if key.required:
        found.append("required")
    elif key.required_in:
        found.append(f"required with `mode: {key.required_in}`")
    elif key.name in shape.one_of:
        found.append("one of the modes: every step has exactly one")
    if key.only_in and not key.required_in:
        found.append(f"only with `mode: {key.only_in}`")
    if key.default is not None:
        found.append(f"default {_default(key)}")
    if (limits := _range(key)) is not None:
        found.append(limits)
    if key.inherits:
        found.append(f"if missing: from {listed([code(name) for name in key.inherits], 'then')}")
    if key.interpolated:
        found.append("`{{variables}}` are filled in" + (", unknown ones fail" if key.strict else ""))
    return [" · ".join(found)]


def short(key: Key) -> str:
    """The type in a word or two, for the list of completions."""
    kind = " | ".join(key.choices) if key.choices else _SHORT[key.type]
    if key.required:
        return f"{kind}, required"
    return f"{kind}, default {key.default}" if key.default else kind


def _of(shape: Shape) -> str:
    return f"— key of {shape.title}"


def _type(key: Key) -> str:
    if key.choices and key.type is Type.TEXT:
        return listed([code(choice) for choice in key.choices], "or")
    return key.type.value


def _default(key: Key) -> str:
    assert key.default is not None
    return code(key.default) if " " not in key.default else key.default


def _range(key: Key) -> str | None:
    low, high = key.minimum, key.maximum
    if low is not None and high is not None:
        return f"from {low:g} to {high:g}"
    if low is not None:
        return f"at least {low:g}"
    if high is not None:
        return f"above zero, at most {high:g}" if key.positive else f"at most {high:g}"
    return "above zero" if key.positive else None
