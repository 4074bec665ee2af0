"""Endings: why runs and loops end, what that means, and the words that every surface uses for it.

One table. A limit that was reached is neither a success nor a failure, and no surface may blur them: the engine sends
`ending` with every run that has ended, the editor's lens, the command line and the panel show it, and the client's
TypeScript table is generated from this one. Plain Python: the language server imports it at its start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, cast, get_args

Status = Literal[
    "queued",
    "running",
    "stopping",
    "paused",
    "waiting_approval",
    "interrupted",
    "completed",
    "failed",
    "blocked",
    "cancelled",
]
#: What a list of runs may be narrowed to.
Filter = Literal["active", Status]
FILTERS: Final[tuple[str, ...]] = get_args(Filter)
#: The status of a loop as its documents know it. A loop that waits for a decision is `running`; one that cannot
#: continue without an answer is `blocked`.
LoopStatus = Literal["running", "paused", "completed", "failed", "blocked", "cancelled"]
#: The criterion of an iteration that its declared checks have judged: nobody else was asked.
CHECKS: Final = "checks"
#: What a judge says: of a failed iteration nobody asks one.
Judgement = Literal["yes", "no", "impossible", "unclear", "error"]
Success = Literal["condition_met", "approved", "goal_met", "converged", "completed", "deadline", "no_items"]
Limit = Literal[
    "max_iterations",
    "time_limit",
    "max_rounds",
    "budget",
    "fixation",
    "unchanged",
    "impossible",
    "stuck",
    "no_ops",
    "unfixable",
    "planner_error",
    "apply_rejected",
    "file_changed",
    "improved",
    "void",
]
Failing = Literal["error", "rejected", "timeout", "success_rate_not_met", "verification", "exhausted"]
Blocking = Literal["missing_artifact", "question"]
Cause = Literal["user", "teardown", "shutdown"]
Reason = Success | Limit | Failing | Blocking | Cause
#: Why an enhance loop waits for a person.
PauseReason = Literal["between_rounds", "conflict"]
Kind = Literal["success", "limit", "failure", "blocked", "stopped"]

#: verdict -> the word for it on every surface; `failed` stands for an iteration that came to no judge.
VERDICTS: dict[str, str] = {
    "yes": "YES",
    "no": "NO",
    "impossible": "IMPOSSIBLE",
    "unclear": "unclear",
    "error": "judge failed",
    "failed": "failed",
}
#: kind of a failure -> the word for it, where that is another one.
FAILURE_WORDS: dict[str, str] = {"upstream_failed": "skipped"}

#: A run with one of these has ended.
ENDED: frozenset[str] = frozenset({"completed", "failed", "blocked", "cancelled"})

Verb = Literal["pause", "resume", "stop"]
#: verb -> statuses of runs for which it means something.
POSSIBLE: dict[Verb, frozenset[str]] = {
    "pause": frozenset({"queued", "running", "waiting_approval"}),
    "resume": frozenset({"paused", "interrupted"}),
    "stop": frozenset({"queued", "running", "paused", "waiting_approval", "interrupted"}),
}


class Ending(NamedTuple):
    """`short` fits a table."""

    kind: Kind
    short: str


ENDINGS: dict[str, Ending] = {
    "condition_met": Ending("success", "condition met"),
    "approved": Ending("success", "approved"),
    "goal_met": Ending("success", "goal met"),
    "converged": Ending("success", "converged"),
    "completed": Ending("success", "completed"),
    "deadline": Ending("success", "time is up"),
    "no_items": Ending("success", "no items"),
    "max_iterations": Ending("limit", "limit reached, condition not met"),
    "max_rounds": Ending("limit", "no rounds left"),
    "time_limit": Ending("limit", "time limit reached"),
    "budget": Ending("limit", "budget used up"),
    "fixation": Ending("limit", "the same failure again"),
    "unchanged": Ending("limit", "the output no longer changes"),
    "impossible": Ending("limit", "the condition cannot be met"),
    "stuck": Ending("limit", "no progress"),
    "no_ops": Ending("limit", "the planner proposed no allowed change"),
    "unfixable": Ending("limit", "editing the file cannot fix it"),
    "planner_error": Ending("limit", "the planner gave no usable answer"),
    "apply_rejected": Ending("limit", "the change was not applied"),
    "file_changed": Ending("limit", "the file differs from what was tried"),
    "improved": Ending("limit", "improved, not converged"),
    "void": Ending("limit", "its trials were invalid"),
    "error": Ending("failure", "failed"),
    "rejected": Ending("failure", "rejected"),
    "timeout": Ending("failure", "timed out"),
    "success_rate_not_met": Ending("failure", "success rate not met"),
    "verification": Ending("failure", "verification failed"),
    "exhausted": Ending("failure", "quota, credit or usage limit used up"),
    "missing_artifact": Ending("blocked", "blocked: an artifact is missing"),
    "question": Ending("blocked", "blocked: waiting for an answer"),
    "user": Ending("stopped", "stopped"),
    "teardown": Ending("stopped", "stopped: the editor was closed"),
    "shutdown": Ending("stopped", "stopped: the engine was shut down"),
}
_SIGNS: dict[Kind, str] = {"success": "✓", "limit": "◼", "failure": "✗", "blocked": "✗", "stopped": "■"}
_STATUSES: dict[Kind, Status] = {
    "success": "completed",
    "limit": "completed",
    "failure": "failed",
    "blocked": "blocked",
    "stopped": "cancelled",
}
#: Statuses of the engine that the documents of loops have no word for.
_LOOP_STATUSES: dict[Status, LoopStatus] = {
    "queued": "running",
    "stopping": "running",
    "waiting_approval": "running",
    "interrupted": "paused",
}
SUCCESSES: frozenset[str] = frozenset(get_args(Success))
LIMITS: frozenset[str] = frozenset(get_args(Limit))
FAILINGS: frozenset[str] = frozenset(get_args(Failing))
BLOCKINGS: frozenset[str] = frozenset(get_args(Blocking))
CAUSES: frozenset[str] = frozenset(get_args(Cause))


def loop_status(status: Status, blocked: bool) -> LoopStatus:
    """`blocked`: what the run asks a person is how it can continue at all."""
    if status == "waiting_approval" and blocked:
        return "blocked"
    return _LOOP_STATUSES.get(status) or cast("LoopStatus", status)


def status_of(reason: str) -> Status:
    """The status of a run that ended for `reason`. An unknown one (a newer engine's) is a failure."""
    if reason == "cancelled":
        return "cancelled"
    found = ENDINGS.get(reason)
    return _STATUSES[found.kind] if found else "failed"


def exit_code(status: str, reason: str | None) -> int | None:
    """What `loop-ls run` ends with; None until the run has ended."""
    if status not in ENDED:
        return None
    if status == "completed":
        return 3 if reason in LIMITS else 0
    return 5 if status == "cancelled" else 4


def kind_of(status: str, reason: str | None) -> Kind:
    """Of a run or loop that has ended. The status decides; the reason only tells a limit from a success."""
    match status:
        case "cancelled":
            return "stopped"
        case "failed":
            return "failure"
        case "blocked":
            return "blocked"
        case _:
            known = ENDINGS.get(reason or "completed")
            return "success" if known is not None and known.kind == "success" else "limit"


def sign(status: str, reason: str | None) -> str:
    """One character for a result."""
    return _SIGNS[kind_of(status, reason)]


def short(reason: str | None, status: str = "") -> str:
    """A few words, without numbers. A reason of a newer engine is shown as it is written."""
    if reason in (None, ""):
        return {"cancelled": "stopped"}.get(status, status.replace("_", " ")) or "completed"
    found = ENDINGS.get(reason)
    return found.short if found else reason.replace("_", " ")


def line(
    status: str,
    reason: str | None,
    number: int = 0,
    unit: str = "iteration",
    detail: str = "",
    failed: Sequence[int] = (),
) -> str:
    """How a run or loop ended, in one line without a sign: `condition met in iteration 3`,
    `limit reached after 5 iterations, condition not met`, `failed in iteration 2: cannot connect`.

    `number`: iterations or rounds that there were; `detail`: the error, or which limit it was; `failed`: which
    iterations failed, where the loop may go on without them.
    """
    after = f" after {number} {unit}{'' if number == 1 else 's'}" if number else ""
    where = f" in {unit} {number}" if number else ""
    words = short(reason, status)
    detail = without_stop(detail)
    behind = f": {detail}" if detail else ""
    match kind_of(status, reason):
        case "success" if reason == "no_items":
            return words
        case "success" if reason == "completed" and 0 < len(failed) <= number:
            return f"{words}: {number - len(failed)} of {number} {unit}s succeeded, {_numbered(failed, unit)} failed"
        case "success":
            return f"{words}{after}" if reason in ("completed", "deadline", None, "") else f"{words}{where}"
        case "limit" if reason == "max_iterations":
            return f"limit reached{after}, condition not met"
        case "limit" if unit == "round":
            return f"gave up{after}: {words}"
        case "limit":
            return f"{words}{after}" + (f" ({detail})" if detail else "")
        case "failure":
            return f"{words}{where}{behind}"
        case "blocked":
            return f"blocked: {detail}" if detail else words
        case "stopped":
            stopped, colon, why = words.partition(": ")
            return f"{stopped}{where}{colon}{why}"


def failure_words(kind: str) -> str:
    """What failed in a round, by the kind of its failure."""
    return FAILURE_WORDS.get(kind) or kind.replace("_", " ")


def without_stop(sentence: str) -> str:
    """A sentence as the last part of a line: what follows brings its own mark."""
    return sentence if sentence.endswith("..") else sentence.removesuffix(".")


def _numbered(failed: Sequence[int], unit: str, most: int = 5) -> str:
    """`iteration 3`, `iterations 3 and 5`, `iterations 1, 2, 3, 4, 5 and 3 more`."""
    shown = [str(one) for one in failed[:most]]
    if len(failed) > most:
        shown.append(f"{len(failed) - most} more")
    *first, last = shown
    return f"{unit}s {', '.join(first)} and {last}" if first else f"{unit} {last}"


def ending(state: Mapping[str, object], failed: Sequence[int] = ()) -> dict[str, str] | None:
    """`{kind, sign, short, line}` of a run's state as it travels; None until the run has ended. `failed`: as in `line`.
    A state that says its ending keeps it."""
    if isinstance(known := state.get("ending"), dict):
        return known
    status, given, number = str(state.get("status")), state.get("reason"), state.get("iteration")
    reason = given if isinstance(given, str) else None
    if status not in ENDED:
        return None
    kind = kind_of(status, reason)
    unit = "round" if state.get("format") == "enhance" else "iteration"
    error = state.get("error")
    message = str(error.get("message") or "") if isinstance(error, dict) else ""
    detail = _first_line(str(state.get("because") or "") if kind == "limit" else message)
    told = line(status, reason, number if isinstance(number, int) else 0, unit, detail, failed)
    return {"kind": kind, "sign": _SIGNS[kind], "short": short(reason, status), "line": told}


def _first_line(text: str, most: int = 160) -> str:
    one = " ".join(text.split("\n", 1)[0].split())
    return one if len(one) <= most else f"{one[: most - 1]}…"
