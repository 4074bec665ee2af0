"""What a run left that checks look at, and the texts that one check looks at of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from loop_ls.formats.checks.model import Check
from loop_ls.formats.workflow.placeholder_syntax import substituted
from loop_ls.text.json_value import Json


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """`result` is None where the run gave none. A step that was skipped has None; one that is not in `steps` never
    came to an end. `loops` are the outputs of the iterations. `usd`: None where a price is unknown."""

    result: str | None = None
    steps: Mapping[str, str | None] = field(default_factory=dict)
    loops: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    usd: float | None = None
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class CheckedText:
    """One text that a check looks at; `iteration` where it looks at each."""

    text: str
    iteration: int | None = None


def looked_at(check: Check, recorded: RecordedResult) -> tuple[CheckedText, ...] | str:
    """The texts that a check looks at, or why there is none."""
    target = check.on
    match target.kind:
        case "result":
            return "the run returned no result" if recorded.result is None else (CheckedText(recorded.result),)
        case "run":
            return (CheckedText(recorded.result or ""),)
        case "step" | "stage":
            text = recorded.steps.get(target.name)
            if text is not None:
                return (CheckedText(text),)
            return f"the {target.kind} `{target.name}` was {'skipped' if target.name in recorded.steps else 'not run'}"
        case "loop":
            outputs = recorded.loops.get(target.name, ())
            if not outputs:
                return f"the loop `{target.name}` had no iteration"
            if target.every:
                return tuple(CheckedText(text, number) for number, text in enumerate(outputs, 1))
            return (CheckedText(outputs[-1]),)


def with_variables(check: Check, variables: Mapping[str, Json]) -> Check:
    """The check with the values of a case in place of `{{NAME}}` in its texts. The words of a command stay as they
    are written: they were agreed to."""
    if check.type == "command":
        return check

    def value(name: str) -> str | None:
        found = variables.get(name)
        return None if found is None else str(found)

    return replace(check, value=_filled(check.value, lambda text: substituted(text, value)))


def _filled(value: Json, fill: Callable[[str], str]) -> Json:
    match value:
        case str():
            return fill(value)
        case list():
            return [_filled(item, fill) for item in value]
        case _:
            return value
