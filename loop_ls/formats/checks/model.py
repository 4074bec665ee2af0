"""Checks and test cases as values, and what a case is checked by. See `formats.checks.read`.

A `Check` looks at one place of a run (`Target`): the result, the output of a step, of a loop or of each of its
iterations, or the run as a whole. `checks_of` merges the checks of the file with those of a case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Literal

from loop_ls.text.json_value import Json
from loop_ls.text.record import equal_record

#: `verdict` is that of a verifier, and cannot be written: `verifiers` lists those.
CheckType = Literal[
    "equals",
    "contains",
    "icontains",
    "starts-with",
    "contains-all",
    "contains-any",
    "regex",
    "is-json",
    "contains-json",
    "number",
    "llm-rubric",
    "command",
    "cost",
    "latency",
    "verdict",
]
#: `warn`: a failed check is told and fails nothing.
Severity = Literal["error", "warn"]
TargetKind = Literal["result", "step", "stage", "loop", "run"]

#: Seconds that a command may take where nothing else is said.
COMMAND_LIMIT = 60.0


@equal_record
class Target:
    """What a check looks at. `name` is the step, the stage of a role loop, or the loop; `every`: each iteration of the
    loop, not only the last."""

    kind: TargetKind = "result"
    name: str = ""
    every: bool = False

    @property
    def written(self) -> str:
        """As the key `on` spells it."""
        return f"{self.kind}.{self.name}" if self.name else self.kind


@equal_record
class Check:
    """`value` is what its type compares with: a text, texts, the arguments of a command, a JSON Schema. `equals`,
    `minimum` and `maximum` are those of `number`, `threshold` that of `llm-rubric`, `cost` (dollars) and `latency`
    (milliseconds). `hint` is what a planner is told instead of the value, which it sees only with `reveal`."""

    name: str
    type: CheckType
    negated: bool = False
    value: Json = None
    on: Target = Target()
    weight: float = 1.0
    severity: Severity = "error"
    hint: str = ""
    reveal: bool = False
    optional: bool = False
    path: str = ""
    minimum: float | None = None
    maximum: float | None = None
    equals: float | None = None
    threshold: float | None = None
    provider: str = ""
    model: str = ""
    votes: int = 1
    timeout: float = COMMAND_LIMIT

    @property
    def words(self) -> tuple[str, ...]:
        """The texts of a value that is a list: a command, or texts to look for."""
        return tuple(map(str, self.value)) if isinstance(self.value, (list, tuple)) else ()

    @property
    def text(self) -> str:
        """The value where it is a text, a number or a truth."""
        return self.value if isinstance(self.value, str) else _spelled(self.value)


def _spelled(value: Json) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)


@equal_record
class Checks:
    """The checks of a loop file. `verifiers` are steps whose answer begins with PASS or FAIL; None: the file does not
    say which they are."""

    verifiers: tuple[str, ...] | None = None
    checks: tuple[Check, ...] = ()


@equal_record
class Case:
    """One input that a loop is tested with. `without` are names of checks of the file that do not hold for it.
    `holdout`: None where nothing is said. `skip` is the reason for which it is left out."""

    name: str
    variables: Mapping[str, Json] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    without: tuple[str, ...] = ()
    holdout: bool | None = None
    skip: str = ""


#: What a case stands for in whose file there are none: the input that the run was started with.
AS_STARTED = Case("input")

#: From so many cases on some are held out where no case says so, and so many of them are one.
HOLDOUT_FROM = 5
HOLDOUT_EVERY = 5


def checks_of(declared: Checks, case: Case = AS_STARTED) -> tuple[Check, ...]:
    """Everything that a case is checked by: the file's without those that it names, then its own. One of the same
    name takes the place of the file's."""
    own = {one.name: one for one in case.checks}
    kept = [own.pop(one.name, one) for one in declared.checks if one.name not in case.without or one.name in own]
    return (*kept, *own.values())


def held_out(cases: Iterable[Case]) -> frozenset[str]:
    """The names of the cases of which a planner hears nothing. Without `holdout` in any case every fifth is one, in
    an order that does not depend on their places."""
    listed = [one for one in cases if not one.skip]
    if any(one.holdout is not None for one in listed):
        return frozenset(one.name for one in listed if one.holdout)
    if len(listed) < HOLDOUT_FROM:
        return frozenset()
    in_order = sorted(listed, key=lambda one: hashlib.sha256(one.name.encode()).hexdigest())
    return frozenset(one.name for one in in_order[HOLDOUT_EVERY - 1 :: HOLDOUT_EVERY])
