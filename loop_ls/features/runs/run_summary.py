"""One line about a run, for views that list runs: in the words of the lens above it.

`said(run)` -> `(sign, line)`; `seen(state)` makes the view of a run of which only the state is known.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loop_ls.features.answers import LoopView, ShownRun
from loop_ls.features.lenses.lenses import progress_of_loop, progress_of_run, with_state
from loop_ls.features.lenses.object_files import ended_of_whole, progress_of_whole
from loop_ls.features.runs.enhance_rounds import Rounds, ended_in_rounds, progress_in_words
from loop_ls.features.runs.outcome_texts import ENDED, ended_in_words, run_in_words, sign
from loop_ls.features.runs.shown_run import shown_run
from loop_ls.text.json_value import as_object, float_field

if TYPE_CHECKING:
    from loop_ls.contract.run_view import fold
    from loop_ls.text.json_value import JsonObject


def seen(state: JsonObject, view: fold.RunView | None = None) -> ShownRun:
    """What is shown of a run; without a view of its facts, as far as its state tells."""
    run = shown_run(state, view)
    if state.get("format") == "enhance" and (run.rounds is None or not run.rounds.most):
        run = replace(run, rounds=_rounds(state, run))
    return run


def said(run: ShownRun) -> tuple[str, str]:
    """A character for the result (empty while it goes on) and the line."""
    ended = run.status in ENDED
    if run.rounds is not None:
        first, _, rest = (
            ended_in_rounds(run.rounds).partition(" ") if ended else ("", "", progress_in_words(run.rounds))
        )
        return first, rest
    if run.kind in ("definition", "assistant"):
        line = ended_of_whole(run) if ended else with_state(run, progress_of_whole(run))
        return sign(run.status, run.reason) if ended else "", line
    if run.kind == "workflow":
        line = run_in_words(run) if ended else with_state(run, progress_of_run(run))
        return sign(run.status, run.reason) if ended else "", line
    loop = run.loops.get(run.name) or LoopView(
        run.name, run.status, run.iteration, run.max_iterations, run.reason, error=run.error
    )
    if ended:
        return sign(loop.status, loop.reason), ended_in_words(loop)
    return "", with_state(run, progress_of_loop(loop) if loop.iteration else "starting")


def _rounds(state: JsonObject, run: ShownRun) -> Rounds:
    """The counter of an enhance loop whose facts are not here."""
    question = state.get("question")
    match run.status:
        case "completed":
            phase = "converged" if run.reason == "converged" else "gave_up"
        case "paused" if isinstance(question, dict):
            phase = "conflict" if question.get("reason") == "conflict" else "awaiting_user"
        case "cancelled" | "failed" | "interrupted":
            phase = run.status
        case _:
            phase = "running_round"
    caps = state.get("caps")
    cap = float_field(caps, "budgetUsd") if isinstance(caps, dict) else None
    most = run.max_iterations or 0
    asked = as_object(question)
    rejected, unusable = asked.get("rejected") is True, asked.get("conflict") == "document_invalid"
    spent, reason = run.cost_usd or 0.0, run.reason or ""
    return Rounds(phase, run.iteration, most, spent, cap or 0.0, reason, rejected=rejected, unusable=unusable)
