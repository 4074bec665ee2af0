"""Runs side by side: how each ended, whom it asked, what it cost, what was said of it, and where outputs differ."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loop_ls.cli.arguments import print_json
from loop_ls.cli.engine.connect import refuse
from loop_ls.cli.runs.runs_table import SHORT, iteration, outcome
from loop_ls.cli.watch.words import verdict_word
from loop_ls.client import EngineClient
from loop_ls.client.refusal import refusal
from loop_ls.contract.amounts import clock, count, money
from loop_ls.engine.checks.outcome import recorded_score
from loop_ls.report.terminal_text import shown, width
from loop_ls.text.json_value import JsonObject, text_field

if TYPE_CHECKING:
    from loop_ls.contract.answers import History, Refusal
    from loop_ls.contract.run_state import RunStateView

RESULT = "result"


@dataclass(frozen=True, slots=True)
class Run:
    """What is compared of one run. `verdicts`: loop -> those of its iterations in order; `checks`: check -> what came
    of it last; `outputs`: step or loop -> its output, and the result."""

    state: RunStateView
    models: tuple[str, ...]
    verdicts: Mapping[str, str]
    checks: Mapping[str, str]
    score: float | None
    outputs: Mapping[str, str]

    @property
    def short(self) -> str:
        return self.state["runId"][:SHORT]

    @property
    def checks_told(self) -> str:
        """`3 of 4 passed, score 0.75`; empty where nothing was checked."""
        if not self.checks:
            return ""
        passed = sum(verdict == "pass" for verdict in self.checks.values())
        score = "" if self.score is None else f", score {self.score:.2f}"
        return f"{passed} of {len(self.checks)} passed{score}"

    def wire(self) -> JsonObject:
        return {
            "runId": self.state["runId"],
            "status": self.state["status"],
            "reason": self.state.get("reason"),
            "costUsd": self.state.get("costUsd"),
            "elapsedMs": self.state.get("elapsedMs", 0),
            "iteration": self.state.get("iteration"),
            "models": list(self.models),
            "verdicts": dict(self.verdicts),
            "checks": dict(self.checks),
            "score": self.score,
        }


async def compare(engine: EngineClient, ids: Sequence[str], as_json: bool, full: bool = False) -> int:
    """Print runs side by side."""
    if len(ids) < 2:
        return refuse(refusal("bad_argument", "Choose two or more runs to compare."), as_json)
    found = list[Run]()
    for run_id in ids:
        one = await looked_up(engine, run_id)
        if not isinstance(one, Run):
            return refuse(one, as_json)
        found.append(one)
    if as_json:
        return print_json(wire(found))
    print("\n".join(told(found, full)))
    return 0


async def looked_up(engine: EngineClient, run_id: str) -> Run | Refusal:
    history = await engine.history(run_id)
    if not history["ok"]:
        return history
    facts, after = list[JsonObject](), 0
    while True:
        page = await engine.events(run_id, after)
        if not page["ok"]:
            return page
        facts += page["events"]
        if page["next"] is None or not page["events"]:
            return run_of(history, facts)
        after = page["next"]


def run_of(history: History, facts: Sequence[JsonObject]) -> Run:
    """`facts` are all of the run."""
    state = history["state"]
    calls = (fact for fact in facts if fact.get("kind") == "call" and fact.get("model"))
    models = dict.fromkeys(f"{text_field(one, 'provider')}/{text_field(one, 'model')}" for one in calls)
    decided = {_check(fact): fact for fact in facts if fact.get("kind") == "checked"}
    verdicts: dict[str, list[str]] = {}
    for row in history["history"]:
        if row["depth"] == 0 and (verdict := row.get("verdict")):
            verdicts.setdefault(row["loop"], []).append(verdict_word(verdict))
    outputs = {stage["name"] or "": stage["output"] for stage in history["stages"] if "output" in stage}
    return Run(
        state,
        tuple(models),
        {loop: " ".join(said) for loop, said in verdicts.items()},
        {name: text_field(fact, "verdict") for name, fact in decided.items()},
        recorded_score(decided.values()),
        outputs | {RESULT: state.get("lastOutput") or ""},
    )


def _check(fact: JsonObject) -> str:
    on = text_field(fact, "on")
    return text_field(fact, "check") if on == RESULT else f"{text_field(fact, 'check')} ({on})"


def table(runs: Sequence[Run]) -> list[str]:
    """One column for each run. Rows in which nobody has anything to say are left out."""
    rows = [(label, cells) for label, cells in _rows(runs) if any(cells)]
    shown_rows = [(shown(label), [shown(cell) for cell in cells]) for label, cells in rows]
    labels = max(width(label) for label, _ in shown_rows)
    widths = [max(width(cells[number]) for _, cells in shown_rows) for number in range(len(runs))]
    return ["  ".join((_padded(label, labels), *map(_padded, cells, widths))).rstrip() for label, cells in shown_rows]


def _rows(runs: Sequence[Run]) -> Iterator[tuple[str, list[str]]]:
    yield "run", [run.short for run in runs]
    yield "ended as", [outcome(run.state) for run in runs]
    yield "asked", [", ".join(run.models) for run in runs]
    yield "cost", [money(run.state.get("costUsd")) for run in runs]
    yield "used", [count(run.state["tokens"]["input"] + run.state["tokens"]["output"], "token") for run in runs]
    yield "time", [clock(run.state.get("elapsedMs", 0)) for run in runs]
    yield "iteration", [iteration(run.state) for run in runs]
    for loop in _names(run.verdicts for run in runs):
        yield f"until of {loop}", [run.verdicts.get(loop, "") for run in runs]
    yield "checks", [run.checks_told for run in runs]
    for check in _names(run.checks for run in runs):
        yield f"  {check}", [run.checks.get(check, "") for run in runs]


def _names(each: Iterator[Mapping[str, str]]) -> dict[str, None]:
    """In the order in which they are met first."""
    return dict.fromkeys(name for one in each for name in one)


def differing(one: Run, other: Run) -> list[str]:
    """Steps and loops whose outputs are not the same, and the result."""
    return [name for name in _names(iter((one.outputs, other.outputs))) if _output(one, name) != _output(other, name)]


def difference(one: Run, other: Run, name: str) -> list[str]:
    """The two outputs of a step or loop, or the two results, as people read a change."""
    before, after = (_output(run, name).splitlines() for run in (one, other))
    title, new = f"{name} of {one.short}", f"{name} of {other.short}"
    return list(difflib.unified_diff(before, after, title, new, lineterm=""))


def _output(run: Run, name: str) -> str:
    return run.outputs.get(name, "")


def _padded(text: str, room: int) -> str:
    return text + " " * (room - width(text))


def told(runs: Sequence[Run], full: bool) -> list[str]:
    """The table, and what differs from the first run; `full`: in each step, not in the result alone."""
    lines = table(runs)
    first, *others = runs
    for other in others:
        names = differing(first, other)
        lines += ["", f"{first.short} and {other.short}: {_differ(names)}"]
        for name in names if full else [name for name in names if name == RESULT]:
            lines += [shown(line) for line in difference(first, other, name)]
    return lines


def _differ(names: Sequence[str]) -> str:
    if not names:
        return "all outputs are identical"
    return f"different outputs of {', '.join('the result' if name == RESULT else f'`{shown(name)}`' for name in names)}"


def wire(runs: Sequence[Run]) -> JsonObject:
    first, *others = runs
    differences: list[JsonObject] = [
        {
            "runId": other.state["runId"],
            "outputs": [
                {"name": name, "diff": "\n".join(difference(first, other, name))} for name in differing(first, other)
            ],
        }
        for other in others
    ]
    return {"ok": True, "runs": [run.wire() for run in runs], "differences": list(differences)}
