"""The verdict of a model on an iteration: a question, and how its answer is read.

A judge is believed only as far as its own evidence goes: a verdict that its findings contradict approves
nothing (UP-72).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from loop_ls.engine.journal.serialization import plain
from loop_ls.engine.roles.findings import Point, points_of
from loop_ls.engine.roles.outcome import first_line
from loop_ls.text.json_value import JsonObject

#: So many braces are tried as the beginning of the object: each try may read all that follows.
TRIES = 100
_GRAVE = frozenset({"critical", "important"})
_GOAL = re.compile(r"\bNOT[\s\-_]*ACHIEVED\b")
_MARKS = "*_`#>~-—: \t\"'"


@dataclass(frozen=True, slots=True)
class GoalVerdict:
    achieved: bool
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """`contradiction` says where the verdict and its findings do not fit."""

    approved: bool
    findings: tuple[Point, ...] = ()
    rationale: str = ""
    contradiction: str | None = None


def goal_question(goal: str, criteria: str, outcomes: Sequence[str], output: str) -> str:
    parts = [
        "Has this goal been reached? Judge strictly by what is there, not by what was announced.",
        f"## Goal\n\n{goal}",
    ]
    if criteria.strip():
        parts.append(f"## What counts as reached\n\n{criteria}")
    if outcomes:
        parts.append("## Earlier iterations\n\n" + "\n".join(f"- {line}" for line in outcomes))
    parts.append(f"## Output of the last stage\n\n{output}")
    parts.append(
        "Answer with ACHIEVED or NOT_ACHIEVED alone on the first line. Then say why in one to three sentences; "
        "if it is not reached, list what is missing, one line each: `- critical, important or minor: what, and where`."
    )
    return "\n\n".join(parts)


def read_goal(answer: str) -> GoalVerdict:
    """The first line decides; anything but a plain ACHIEVED is not achieved."""
    lines = answer.strip().splitlines() or [""]
    first = lines[0].strip(_MARKS).upper()
    achieved = re.match(r"ACHIEVED\b", first) is not None and not _GOAL.search(first)
    return GoalVerdict(achieved, "\n".join(lines[1:]).strip() or ("" if achieved else first_line(answer)))


def gate_question(goal: str, criteria: str, output: str) -> str:
    return "\n\n".join(
        (
            "Judge whether this review approves the work. Go by what it found, not by its tone.",
            f"## Goal\n\n{goal}",
            f"## Acceptance criteria\n\n{criteria}",
            f"## The review\n\n{output}",
            'Answer with one JSON object and nothing else: {"requirements_met": true or false, "quality_pass": true '
            'or false, "findings": [{"severity": "critical", "important" or "minor", "summary": "...", "location": '
            '"..."}], "rationale": "..."}',
        )
    )


def read_gate(answer: str) -> GateVerdict | None:
    """The verdict; None where the answer holds no such object."""
    value = _object(answer)
    if value is None or not isinstance(met := value.get("requirements_met"), bool):
        return None
    said = met and value.get("quality_pass") is True
    findings = points_of(value.get("findings"))
    grave = [each for each in findings if each.severity in _GRAVE]
    contradiction = None
    if said and grave:
        contradiction = f"the judge approved and found this: {grave[0].severity}: {grave[0].summary}"
    return GateVerdict(said and not grave, findings, str(value.get("rationale") or ""), contradiction)


def _object(text: str) -> JsonObject | None:
    """The first JSON object in a text."""
    decoder = json.JSONDecoder()
    for found in islice(re.finditer(r"\{", text), TRIES):
        try:
            value, _ = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return plain(value)
    return None
