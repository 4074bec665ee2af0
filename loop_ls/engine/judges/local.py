"""Judging a condition that names the text to look for, without a model (`formats.workflow.local_condition`)."""

from __future__ import annotations

import re

from loop_ls.engine.context.interpolation import interpolate
from loop_ls.engine.context.scope import Scope
from loop_ls.formats.workflow.local_condition import MARKER, LocalCondition, Place


class NothingToLookFor(ValueError):
    """An interpolated condition names an empty text, which every output contains."""


def holds(condition: LocalCondition, output: str, scope: Scope) -> bool:
    """Whether an output meets the condition. Raises `NothingToLookFor`."""
    needles = [interpolate(text, scope).text for text in condition.objects]
    if not all(needle.strip() for needle in needles):
        raise NothingToLookFor
    found = [_found(needle, condition.place, output) for needle in needles]
    return (all(found) if condition.every else any(found)) != condition.negated


def _found(needle: str, place: Place, output: str) -> bool:
    match place:
        case "start":
            return re.match(_pattern(needle), output.lstrip()) is not None
        case "end":
            return re.search(_pattern(needle) + r"\Z", output.rstrip()) is not None
        case "whole":
            return output.strip() == needle.strip()
        case "line":
            return any(line.strip() == needle.strip() for line in re.split(r"\r\n?|\n", output))
        case "anywhere":
            return re.search(_pattern(needle), output) is not None


def _pattern(needle: str) -> str:
    if MARKER.fullmatch(needle):
        return r"(?<!\w)" + r"\s+".join(map(re.escape, needle.split())) + r"(?!\w)"
    return re.escape(needle)
