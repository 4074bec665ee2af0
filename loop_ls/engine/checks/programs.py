"""Programs that judge: one is started once in a run, and what it said is read from the record ever after.

The command of a declared check and the one of an assistant's criterion are the same thing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict

from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.checks.outcome import Outcome, failed, passed, undecided
from loop_ls.engine.core.ports import Recorder
from loop_ls.engine.judges.test_command import Command, CommandResult
from loop_ls.formats.checks.model import Check
from loop_ls.text.json_value import JsonObject, from_fields

#: Of what a command prints, the end is the reason.
TAIL = 1_000


def _nothing(answer: Mapping[str, object]) -> Iterable[Fact]:
    return ()


async def recorded_result(
    command: Command,
    recorder: Recorder,
    key: str,
    facts: Callable[[Mapping[str, object]], Iterable[Fact]] = _nothing,
) -> CommandResult:
    """How the command ended, recorded under `key` with the facts that follow from it."""

    async def done() -> JsonObject:
        return asdict(await command.run())

    with recorder.undivided():  # a pause waits for its end
        return from_fields(CommandResult, await recorder.call(key, done, facts))


def outcome_of(check: Check, found: CommandResult) -> Outcome:
    """A program that did not come to its end has not passed, and `not-` makes no pass of that."""
    output = found.output[-TAIL:]
    reason = f"{found.told}\n{output}" if output else found.told
    if found.passed:
        return passed(check, reason)
    return undecided(check, reason) if check.negated and not found.decided else failed(check, reason)
