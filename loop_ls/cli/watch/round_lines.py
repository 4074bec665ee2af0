"""What an enhance loop did to a file and why, in a few lines below its end; all of it is one command away."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loop_ls.contract.amounts import money
from loop_ls.report.terminal_text import first_line, fitted, shown

if TYPE_CHECKING:
    from loop_ls.client import EngineClient
    from loop_ls.contract.answers import TimelineRound

_WIDTH = 160
_MOST_REFUSED = 3


async def show_rounds(engine: EngineClient, run_id: str) -> None:
    told = await engine.enhance(run_id, "timeline")
    if not told["ok"]:
        return
    if because := told["status"].get("because"):
        print(shown(f"  {because}"), file=sys.stderr)
    for entry in told["rounds"]:
        changes = ", ".join(f"{one.get('op')} {one.get('target')}" for one in entry["applied"]) or "no change"
        failed = ", ".join(str(one.get("step")) for one in entry["failed"])
        how = "did not finish" if entry.get("unfinished") and not failed else f"failed {failed or 'nothing'}"
        print(shown(f"  round {entry['round']}: {how}; {changes}{_cost(entry)}"), file=sys.stderr)
        for one in entry["failed"]:
            if one.get("kind") != "upstream_failed":
                why = " ".join(str(one.get("message")).split())
                print(shown(f"    {one.get('step')}: {why}"), file=sys.stderr)
        for line in _reasons(entry):
            print(fitted(shown(f"    {line}"), _WIDTH), file=sys.stderr)
    print(f"Full timeline: loop-ls enhance --timeline {run_id[:6]}", file=sys.stderr)


def _reasons(entry: TimelineRound) -> Iterator[str]:
    """Why a round led to what it did, whether or not anything was applied."""
    if trials := entry.get("trials"):
        yield trials
    if rationale := first_line(entry["rationale"]):
        yield f"why: {rationale}"
    for said in entry.get("feedback", ()):
        how, of = "rejected by a person:" if said["negative"] else "a person on", said.get("step") or "the round"
        yield f"{how} {of}: {first_line(said['text'])}"
    for one in entry["rejected"][:_MOST_REFUSED]:
        yield f"refused: {one.get('op')} {one.get('target') or ''}: {first_line(str(one.get('message')))}"
    if (more := len(entry["rejected"]) - _MOST_REFUSED) > 0:
        yield f"refused: {more} more"
    for one in entry["unfixable"]:
        yield f"cannot be fixed: {one.get('failure')}: {first_line(str(one.get('reason')))}"
    if not_taken := entry.get("notTaken"):
        yield f"not applied: {not_taken}"
    if planned := entry.get("planned"):
        yield planned


def _cost(entry: TimelineRound) -> str:
    """What the round and its plan have cost; nothing where nothing is paid."""
    parts = {"run": entry.get("roundUsd"), "plan": entry.get("plannerUsd")}
    told = [f"{name} {money(usd)}" for name, usd in parts.items() if usd]
    return f" ({', '.join(told)})" if told else ""
