"""Endings and remarks of runs as lines of the terminal, the same in every command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from loop_ls.contract import endings, questions
from loop_ls.contract.amounts import clock, cost_of, count, money, tokens_used
from loop_ls.contract.endings import VERDICTS, line, short, sign, status_of
from loop_ls.report.terminal_text import shown
from loop_ls.text.json_value import JsonObject, float_field, int_field, text_field

if TYPE_CHECKING:
    from loop_ls.contract.answers import Iteration, Stage
    from loop_ls.contract.run_state import RunStateView


def last_line(text: str) -> str:
    """The line a stream is at, or the one before when nothing of it has come yet."""
    lines = [line for line in text.splitlines() if line.strip()]
    return shown(lines[-1].strip()) if lines else ""


def error_text(row: Iteration | Stage | RunStateView) -> str:
    """What went wrong with a run or a part of it; empty where nothing did."""
    error = row.get("error")
    return error["message"] if error else ""


def verdict_word(verdict: str) -> str:
    """YES, NO, IMPOSSIBLE or ?."""
    return VERDICTS[verdict] if verdict in ("yes", "no", "impossible") else "?"


def loop_ending(reason: str | None, iterations: int, failed: Sequence[int] = ()) -> str:
    """How a loop ended; `failed`: the iterations that it went on without. A limit never looks like success."""
    status = status_of(reason or "completed")
    return f"{sign(status, reason)} {line(status, reason, iterations, failed=failed)}"


def ending(state: RunStateView, said: str = "") -> str:
    """How a run ended, in one line: reason, iteration, cost, time. A limit never looks like success. `said` is the
    error where the line above tells of it."""
    told = endings.ending(state)
    line = (
        told["line"].removesuffix(f": {endings.without_stop(said)}") if told and said else told["line"] if told else ""
    )
    how = f"{told['sign']} {shown(line)}" if told else short(str(state.get("reason") or state.get("status")))
    used = tokens_used(state)
    tokens = count(used, "token") if used else ""
    reused = "" if state.get("calls") or not state.get("source") else "all answers reused, none billed"
    parts = (how, reused, cost_of(state), tokens, clock(state.get("elapsedMs", 0)))
    return " · ".join(part for part in parts if part)


def how_to_answer(run_id: str, asked: Mapping[str, object]) -> str:
    """What to type where a run waits for a person; `asked` is its question."""
    return questions.commands(asked, run_id[:6])


def worktree_line(state: RunStateView) -> str:
    """What waits for a decision after a run in a worktree of its own; empty where nothing does."""
    made = state.get("worktree")
    if made is None or state["status"] not in endings.ENDED or made.get("decision") not in (None, "restored"):
        return ""
    if not made.get("changed"):
        return f"Nothing changed on branch {made['branch']}"
    return (
        f"{count(made['changed'], 'file')} changed on branch {made['branch']}. {changes_to_decide(state['runId'][:6])}"
    )


def changes_to_decide(run_id: str) -> str:
    """What to type where the changes of a run wait for a decision."""
    return f"Show: loop-ls runs changes {run_id}. Then: apply, keep or discard, e.g. loop-ls runs apply {run_id}"


def noted(event: JsonObject) -> str:
    """What a person should hear of while a run goes on."""
    match event.get("kind"):
        case "budget_warning" if event.get("capUsd") is not None:
            return f"{money(float_field(event, 'spentUsd'))} of {money(float_field(event, 'capUsd'))} spent"
        case "budget_warning":
            return f"{int_field(event, 'spentTokens'):,} of {int_field(event, 'capTokens'):,} tokens used"
        case "note_added":
            return f"note for the next prompt: {text_field(event, 'text')}"
        case "note_given":
            return f"{count(int_field(event, 'notes') or 0, 'note')} in the prompt of {text_field(event, 'place')}"
        case "prompt_changed":
            return f"changed prompt at {text_field(event, 'place')}"
        case "unchanged_output_warning":
            what = "empty" if event.get("empty") else "the same"
            return f"the last {event.get('repeated')} outputs of `{event.get('loop')}` were {what}"
        case _:
            told = how_to_answer(str(event.get("runId", "")), event)
            if questions.wait_of(event) != "approval":
                return shown(f"{questions.first_line(event)} {told}")
            return f"your decision on iteration {event.get('iteration')}: {told}"
