"""Checks that look at a text and nothing else: pure, and with a limit of time where a pattern is searched."""

from __future__ import annotations

from loop_ls.engine.checks.json_values import NoJson, as_number, at_path, json_parts, some_json, whole_json
from loop_ls.engine.checks.outcome import Outcome, failed, passed, undecided
from loop_ls.formats.checks.json_schema import PATTERN_LIMIT, SCHEMA_LIMIT, TookTooLong, Unresolved, misfit
from loop_ls.formats.checks.model import Check
from loop_ls.formats.common.regex_check import compiled, found_in
from loop_ls.formats.workflow.verdict_prompt import verdict_in
from loop_ls.text.json_value import Json


def judge_text(check: Check, output: str, limit: float = PATTERN_LIMIT) -> Outcome:
    """Whether an output passes a check that takes nothing but a text. `not-` turns it around; an error stays one."""
    try:
        found = _verdict(check, output) if check.type == "verdict" else _judge(check, output.strip(), limit)
    except TookTooLong:
        found = undecided(check, f"the JSON Schema took longer than {SCHEMA_LIMIT:g} s")
    except Unresolved as reason:  # it does not fit, which `not-` makes no pass of
        found = undecided(check, str(reason)) if check.negated else failed(check, str(reason))
    return turned_around(found) if check.negated else found


def turned_around(found: Outcome) -> Outcome:
    match found.verdict:
        case "pass":
            return failed(found.check, found.reason or "it passes, but must not")
        case "fail":
            return passed(found.check, found.reason)
        case "error":
            return found


def _judge(check: Check, output: str, limit: float) -> Outcome:
    if looks_for_nothing(check):
        return undecided(check, "its value is empty for this input; exclude the check with `without` in the test case")
    match check.type:
        case "equals":
            held = output == check.text.strip()
            return _when(check, held, f"the output is {'' if held else 'not '}{_quoted(check.text)}")
        case "contains":
            return _contains(check, check.text in output)
        case "icontains":
            return _contains(check, check.text.casefold() in output.casefold())
        case "starts-with":
            held = output.startswith(check.text.strip())
            return _when(check, held, f"the output {'starts' if held else 'does not start'} with {_quoted(check.text)}")
        case "contains-all":
            absent = [one for one in check.words if one not in output]
            told = f"these are missing: {', '.join(map(_quoted, absent))}" if absent else "contains all of the values"
            return _when(check, not absent, told)
        case "contains-any":
            there = [one for one in check.words if one in output]
            told = f"contains {_quoted(there[0])}" if there else "contains none of the values"
            return _when(check, bool(there), told)
        case "regex":
            return _pattern(check, output, limit)
        case "is-json":
            return _is_json(check, output)
        case "contains-json":
            return _contains_json(check, output)
        case "number":
            return _number(check, output)
        case _:
            return undecided(check, f"`{check.type}` needs more than text")


def looks_for_nothing(check: Check) -> bool:
    """Whether a placeholder has left nothing to look for: every output would pass."""
    match check.type:
        case "contains" | "icontains" | "starts-with" | "regex":
            return not check.text.strip()
        case "contains-any" | "contains-all":
            return any(not word.strip() for word in check.words)
        case _:
            return False


def _when(check: Check, held: bool, told: str) -> Outcome:
    return passed(check, told) if held else failed(check, told)


def _contains(check: Check, held: bool) -> Outcome:
    told = f"{_quoted(check.text)} is in the output" if held else f"{_quoted(check.text)} is not in the output"
    return _when(check, held, told)


def _verdict(check: Check, output: str) -> Outcome:
    held = verdict_in(output) == "pass"
    return _when(check, held, f"the answer {'says' if held else 'does not say'} PASS")


def _pattern(check: Check, output: str, limit: float) -> Outcome:
    source = compiled(check.text).source
    if source is None:
        return undecided(check, f"Invalid pattern: {compiled(check.text).problem}")
    found = found_in(source, output, limit, exact_case=True)
    if found is None:
        return undecided(check, f"the pattern took longer than {limit:g} s")
    return _when(check, found, f"the pattern {_quoted(check.text)} is {'' if found else 'not '}found")


def _is_json(check: Check, output: str) -> Outcome:
    try:
        value = whole_json(output)
    except NoJson as reason:
        return failed(check, f"the output {reason}")
    problem = _problem(check, value)
    return _when(check, not problem, problem or "the output is JSON")


def _contains_json(check: Check, output: str) -> Outcome:
    problem = ""
    for value in json_parts(output):
        misfits = _problem(check, value)
        if not misfits:
            return passed(check, "the output contains JSON")
        problem = problem or misfits
    return failed(check, problem or "the output contains no JSON")


def _problem(check: Check, value: Json) -> str:
    return "" if check.value is None else misfit(value, check.value, SCHEMA_LIMIT)


def _number(check: Check, output: str) -> Outcome:
    try:
        value = at_path(some_json(output), check.path) if check.path else output
    except NoJson as reason:
        return failed(check, f"the output {reason}")
    found = as_number(value)
    what = f"`{check.path}`" if check.path else "the output"
    if found is None:
        return failed(check, f"{what} is not a number: {_quoted(str(value))}")
    if check.minimum is not None and found < check.minimum:
        return failed(check, f"{what} is {found:g}, less than {check.minimum:g}")
    if check.maximum is not None and found > check.maximum:
        return failed(check, f"{what} is {found:g}, more than {check.maximum:g}")
    if check.equals is not None and found != check.equals:
        return failed(check, f"{what} is {found:g}, not {check.equals:g}")
    return passed(check, f"{what} is {found:g}")


def _quoted(text: str) -> str:
    shown = " ".join(text.split())
    return f"`{shown[:77]}…`" if len(shown) > 78 else f"`{shown}`"
