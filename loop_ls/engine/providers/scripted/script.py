"""A script of answers: what a scripted provider says to which question, in which iteration.

Plain values, read from a file next to the workflow (`<name>.answers.yaml`) or from the settings
(`providers.<name>.script`, the values or a file):

    price: {input: 3, output: 15}     # dollars for a million tokens, to show costs; default none
    delay: 0.3                        # seconds before the first word
    pace: 40                          # words in a second; default at once
    answers:
      - when: {step: write}           # step, loop, purpose, place (with *), contains; all that stand here
        say: [first draft, better draft]   # one for each iteration; the last one stays
      - when: {purpose: judge}
        say: ["NO", "YES"]
      - say: {fail: rate_limited, retryAfter: 2, times: 1, then: fine}
      - say: {calls: [{tool: add, arguments: {a: 1}}], then: done}   # one round of tools; a list of lists: several

Which answer is given depends on the place of the question alone, so a run that was interrupted hears
the same again.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Mapping

from loop_ls.engine.core.messages import ToolCall
from loop_ls.engine.core.ports import ModelRequest
from loop_ls.engine.core.price_table import Price
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.text.json_value import as_object
from loop_ls.text.record import equal_record

CONDITIONS = ("step", "loop", "purpose", "place", "contains")
#: What may stand in a script, in one of its answers, and in what that says.
KEYS, ANSWER_KEYS = ("answers", "price", "delay", "pace"), ("when", "say")
LINE_KEYS = ("text", "delay", "fail", "retryAfter", "times", "calls", "then")
FAILURES = (
    *("auth", "not_found", "bad_request", "rate_limited", "server", "unreachable"),
    *("timeout", "truncated", "empty", "bad_answer"),
)

_TURN = re.compile(r"/(\d+)(?:\.\d+)?(?=[/:]|$)")


class ScriptFault(Exception):
    """The script cannot be followed; the message is one sentence."""


@equal_record
class Line:
    """One thing to say, or (`fail`) a failure for the first `times` attempts and `text` afterwards, or
    (`calls`) tools to ask for, one list for each round, and `text` after them."""

    text: str = ""
    calls: tuple[tuple[ToolCall, ...], ...] = ()
    delay: float | None = None
    fail: str | None = None
    retry_after: float | None = None
    times: int | None = None


@equal_record
class Cue:
    """Which questions get which lines."""

    when: Mapping[str, str]
    lines: tuple[Line, ...]

    def fits(self, request: ModelRequest) -> bool:
        return all(_fits(name, value, request) for name, value in self.when.items())

    def line(self, request: ModelRequest) -> Line:
        return self.lines[min(iteration(request.place), len(self.lines)) - 1]


@equal_record
class Script:
    cues: tuple[Cue, ...]
    delay: float = 0.0
    pace: float | None = None
    price: Price | None = None
    source: str = "the settings"

    def line(self, request: ModelRequest) -> Line | None:
        return next((cue.line(request) for cue in self.cues if cue.fits(request)), None)


def iteration(place: str) -> int:
    """The innermost iteration a place lies in; 1 outside of loops."""
    turns = _TURN.findall(place)
    return max(1, int(turns[-1])) if turns else 1


def step(place: str) -> str:
    """The innermost element a place lies in (`develop/3/write` -> `write`, `develop/3:judge` -> `develop`)."""
    names = [part.partition(":")[0] for part in place.split("/")]
    named = [name for name in names if not re.fullmatch(r"\d+(\.\d+)?", name)]
    return named[-1] if named else ""


def _fits(name: str, value: str, request: ModelRequest) -> bool:
    match name:
        case "step":
            return step(request.place) == value
        case "loop":
            return re.search(rf"(?:^|/){re.escape(value)}/\d+(?:\.\d+)?(?:[/:]|$)", request.place) is not None
        case "purpose":
            return request.purpose == value
        case "place":
            return fnmatch.fnmatchcase(request.place, value)
        case _:
            return value in request.prompt


def read_script(value: object, source: str = "the settings") -> Script:
    """A mapping with `answers`, or the answers alone. Raises `ScriptFault`."""
    if isinstance(value, list):
        value = {"answers": value}
    if not isinstance(value, Mapping) or not isinstance(value.get("answers"), list):
        raise ScriptFault(f"{source}: a script must be a mapping with a list `answers`")
    _known(value, KEYS, source, "a script")
    cues = tuple(_cue(each, f"{source}, answer {number}") for number, each in enumerate(value["answers"], 1))
    return Script(
        cues,
        delay=_seconds(value.get("delay"), f"{source}: `delay`") or 0.0,
        pace=_seconds(value.get("pace"), f"{source}: `pace`"),
        price=_price(value.get("price"), f"{source}: `price`"),
        source=source,
    )


def _cue(value: object, where: str) -> Cue:
    if not isinstance(value, Mapping) or "say" not in value:
        raise ScriptFault(f"{where}: missing `say`")
    _known(value, ANSWER_KEYS, where, "an answer")
    when = value.get("when") or {}
    unknown = [name for name in when if name not in CONDITIONS] if isinstance(when, Mapping) else ["when"]
    if unknown:
        raise ScriptFault(f"{where}: unknown condition `{unknown[0]}`; expected {', '.join(CONDITIONS)}")
    said = value["say"] if isinstance(value["say"], list) else [value["say"]]
    if not said:
        raise ScriptFault(f"{where}: `say` is empty")
    return Cue({name: str(wanted) for name, wanted in when.items()}, tuple(_line(each, where) for each in said))


def _line(value: object, where: str) -> Line:
    if not isinstance(value, Mapping):
        return Line("" if value is None else str(value))
    _known(value, LINE_KEYS, where, "`say`")
    fail = value.get("fail")
    if fail is not None and fail not in FAILURES:
        raise ScriptFault(f"{where}: unknown failure `{fail}`; expected {', '.join(FAILURES)}")
    times, calls = value.get("times"), _rounds(value.get("calls"), where)
    if (fail or calls) and "text" in value:
        raise ScriptFault(f"{where}: use `then`, not `text`, for the answer after `{'fail' if fail else 'calls'}`")
    if times is not None and (isinstance(times, bool) or not isinstance(times, int) or times < 0):
        raise ScriptFault(f"{where}: `times` must be an integer from 0, not `{times}`")
    return Line(
        text=str(value.get("then" if fail or calls else "text") or ""),
        calls=calls,
        delay=_seconds(value.get("delay"), f"{where}: `delay`"),
        fail=fail,
        retry_after=_seconds(value.get("retryAfter"), f"{where}: `retryAfter`"),
        times=times if times is not None else (1 if value.get("then") else None),
    )


def _known(value: Mapping[object, object], keys: tuple[str, ...], where: str, what: str) -> None:
    """What nobody reads would be silently without effect, and often stands one level too high."""
    for key in value:
        if key in keys:
            continue
        if keys is ANSWER_KEYS and key in LINE_KEYS:
            raise ScriptFault(f"{where}: `{key}` belongs inside `say`: write `say: {{{key}: ...}}`")
        if keys is ANSWER_KEYS and key in CONDITIONS:
            raise ScriptFault(f"{where}: `{key}` belongs inside `when`: write `when: {{{key}: ...}}`")
        near = nearest(str(key), keys)
        guess = f"; did you mean `{near}`?" if near else f"; expected {', '.join(keys)}"
        raise ScriptFault(f"{where}: unknown key `{key}` in {what}{guess}")


def _price(value: object, what: str) -> Price | None:
    if value is None:
        return None
    found = Price.read(value)
    if found is None or not as_object(value).keys() <= {"input", "output"}:
        raise ScriptFault(f"{what} must be dollars per million tokens, such as {{input: 3, output: 15}}")
    return found


def _rounds(value: object, where: str) -> tuple[tuple[ToolCall, ...], ...]:
    """Calls of tools: a list of them is one round, a list of lists several."""
    if value is None:
        return ()
    rounds = value if isinstance(value, list) and value and isinstance(value[0], list) else [value]
    return tuple(_calls(each, number, where) for number, each in enumerate(rounds, 1))


def _calls(value: object, number: int, where: str) -> tuple[ToolCall, ...]:
    listed = value if isinstance(value, list) else [value]
    found = []
    for position, each in enumerate(listed, 1):
        if not isinstance(each, Mapping) or not each.get("tool"):
            raise ScriptFault(f"{where}: a call needs a `tool`")
        arguments = each.get("arguments") or {}
        if not isinstance(arguments, Mapping):
            raise ScriptFault(f"{where}: `arguments` of a call must be a mapping")
        written = json.dumps(dict(arguments), ensure_ascii=False)
        found.append(ToolCall(f"call_{number}_{position}", str(each["tool"]), dict(arguments), written))
    return tuple(found)


def _seconds(value: object, what: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 86_400:
        raise ScriptFault(f"{what} must be a number from 0, not `{value}`")
    return float(value)
