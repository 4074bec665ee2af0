"""Evaluation of declared checks on what a run left.

The pieces: `formats.checks.read` gives `Checks` and `Case`s, `formats.checks.model.checks_of` merges them into the
`Check`s of one trial, `RecordedResult` is what the run left, and `evaluated` gives an `Outcome` for each: pass, fail
or error with a reason and a score. What costs something is done by `Evaluators`: a program for `command`, a model for
`llm-rubric`. `outcome.all_pass`, `total_score` and `feedback` sum up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from loop_ls.contract.amounts import money
from loop_ls.engine.checks.outcome import Outcome, failed, passed, undecided
from loop_ls.engine.checks.recorded_result import CheckedText, RecordedResult, looked_at, with_variables
from loop_ls.engine.checks.text_checks import judge_text, turned_around
from loop_ls.formats.checks.model import Check
from loop_ls.text.json_value import Json


class Evaluators(Protocol):
    """What checks need of the world. `output` is what the check looks at; neither turns a `not-` around."""

    async def command(self, check: Check, looked: CheckedText) -> Outcome: ...

    async def rubric(self, check: Check, looked: CheckedText) -> Outcome: ...


async def evaluated(
    checks: Iterable[Check], recorded: RecordedResult, means: Evaluators, variables: Mapping[str, Json] | None = None
) -> tuple[Outcome, ...]:
    """The outcomes in the order of the checks; one that looks at each iteration has one for each. `variables` are
    those of the case."""
    found: list[Outcome] = []
    for check in checks:
        found += await outcomes_of(with_variables(check, variables or {}), recorded, means)
    return tuple(found)


async def outcomes_of(check: Check, recorded: RecordedResult, means: Evaluators) -> Sequence[Outcome]:
    """All outcomes of one check: more than one where it looks at each iteration."""
    if check.type in ("cost", "latency"):
        return (_of_run(check, recorded),)
    looked = looked_at(check, recorded)
    if isinstance(looked, str):
        return (passed(check, looked) if check.optional else failed(check, looked),)
    return [await _judged(check, one, means) for one in looked]


async def _judged(check: Check, looked: CheckedText, means: Evaluators) -> Outcome:
    match check.type:
        case "command":
            found = await means.command(check, looked)
        case "llm-rubric":
            found = await means.rubric(check, looked)
        case _:  # a pattern or a schema may take a while
            return replace(await asyncio.to_thread(judge_text, check, looked.text), iteration=looked.iteration)
    return replace(turned_around(found) if check.negated else found, iteration=looked.iteration)


def _of_run(check: Check, recorded: RecordedResult) -> Outcome:
    limit = check.threshold or 0.0
    if check.type == "latency":
        told = f"the run took {recorded.milliseconds:.0f} ms; at most {limit:g} pass"
        found = passed(check, told) if recorded.milliseconds <= limit else failed(check, told)
    elif recorded.usd is None:
        return undecided(check, "the cost of the run is unknown, because the price of a call is unknown")
    else:
        told = f"the run cost {money(recorded.usd)}; at most ${limit:g} pass"
        found = passed(check, told) if recorded.usd <= limit else failed(check, told)
    return turned_around(found) if check.negated else found
