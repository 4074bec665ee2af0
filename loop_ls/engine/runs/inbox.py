"""What waits for people: one list over all runs, made of their states, and what happened while nobody looked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from loop_ls.contract.amounts import waiting_until
from loop_ls.contract.answers import AnswerOption, Missed, Waiting
from loop_ls.contract.endings import ENDED, ending
from loop_ls.contract.questions import (
    ANSWERS_TO,
    FOR_PEOPLE,
    WITH_TEXT,
    Wait,
    answers_to,
    decision_of,
    first_line,
    told_of,
    wait_of,
)
from loop_ls.contract.run_state import PendingApproval
from loop_ls.contract.run_view.rounds import why_it_waits
from loop_ls.engine.events import Event, RunState, utc
from loop_ls.text.json_value import as_object, plain_object, text_field

#: Characters of what a question is about, and of missed events that are told at once.
CONTEXT, MOST_MISSED = 20_000, 200


def inbox(states: Iterable[RunState]) -> list[Waiting]:
    """The longest first."""
    return sorted((one for state in states for one in waiting(state)), key=lambda one: one.get("since", ""))


def waiting(state: RunState) -> Iterator[Waiting]:
    """What one run waits for: its questions, and whoever lets it continue."""
    if state.ended:
        return
    for asked in state.asked:
        yield _asked(state, asked)
    if state.question is not None and state.question["kind"] == "loop_paused":
        yield _between_rounds(state)
    elif state.status == "interrupted":
        yield _one(state, "interrupted", f"`{state.name}` was interrupted; nothing is spent until you resume it.")
    elif state.status == "paused":
        yield _paused(state)


def _asked(state: RunState, asked: PendingApproval) -> Waiting:
    wait = wait_of(asked)
    number = asked.get("iteration")
    match wait:
        case "protected":
            text = f"`{state.name}`, iteration {number}: {first_line(asked)} Checks do not count until you decide."
        case "blocked":
            text = f"`{state.name}` is blocked: {first_line(asked)}"
        case _:
            text = f"`{state.name}` waits for your decision on iteration {number}."
    found = _one(state, wait, text, answers_to(asked))
    found |= {"id": asked.get("loopId", ""), "context": str(asked.get("output") or "")[:CONTEXT]}
    if since := asked.get("since"):
        found["since"] = since
    if number is not None:
        found["iteration"] = number
    return found


def _between_rounds(state: RunState) -> Waiting:
    asked = state.question
    assert asked is not None
    text = f"`{state.name}` waits between rounds, after round {asked.get('round')}."
    rejected = asked.get("rejected") is True
    titles = {key: title for key, title in ANSWERS_TO["question"].items() if key != "continue" or not rejected}
    found = _one(state, "question", f"{text} {why_it_waits(plain_object(asked))}".rstrip(), titles)
    if named := asked.get("question"):
        found["id"] = named
    if since := asked.get("since"):
        found["since"] = since
    return found


def _paused(state: RunState) -> Waiting:
    if state.resumes_at:
        because = f": {state.because.rstrip('.')}" if state.because else ""
        found = _one(state, "quota", f"`{state.name}` is {waiting_until(state.resumes_at)}{because}.")
        return found | {"until": state.resumes_at}
    found = _one(state, "pause", f"`{state.name}` is paused.")
    for given in reversed(state.answers):
        if given["answer"] == "pause":
            if by := given.get("by"):
                found["by"] = by
            if via := given.get("via"):
                found["via"] = via
            break
    return found


def _one(state: RunState, kind: Wait, text: str, titles: Mapping[str, str] | None = None) -> Waiting:
    titles = ANSWERS_TO[kind] if titles is None else titles
    options: list[AnswerOption] = [
        {"answer": answer, "title": title, "text": answer in WITH_TEXT} for answer, title in titles.items()
    ]
    found: Waiting = {
        "runId": state.run_id,
        "name": state.name,
        "format": state.format,
        "kind": kind,
        "text": text,
        "answers": options,
        "forPeople": kind in FOR_PEOPLE,
    }
    if state.waits_since is not None:
        found["since"] = utc(state.waits_since)
    if state.path:
        found["path"] = state.path
    if state.user:
        found["user"] = state.user
    return found


#: Facts that say something to a person who was not there.
TOLD = frozenset(
    {
        *("run_started", "manual_approval_required", "approval_resolved", "loop_paused", "loop_continued"),
        *("paused", "resumed", "stopping", "interrupted", *ENDED),
    }
)


def missed(event: Event, state: RunState) -> Missed | None:
    """What a fact says to a person who was not there; None: nothing. `state` is the one of now."""
    text = _told(event, state)
    if text is None:
        return None
    at, position = utc(event.at), event.position
    found: Missed = {"runId": event.run_id, "name": state.name, "position": position, "at": at, "text": text}
    return {**found, "user": state.user} if state.user else found


def _told(event: Event, state: RunState) -> str | None:
    body, at = event.body, utc(event.at)
    who = {"by": body.get("by"), "via": body.get("via"), "at": at}
    match event.kind:
        case "run_started":
            return "It was started."
        case "manual_approval_required":
            return "It asked you." if wait_of(body) == "approval" else f"It asked: {first_line(body)}"
        case "approval_resolved":
            return told_of({**who, "answer": decision_of(body), "text": body.get("feedback")})
        case "loop_paused":
            return "It waits between rounds."
        case "loop_continued":
            choice = as_object(body.get("answer")).get("choice")
            return told_of({**who, "by": body.get("user"), "answer": choice})
        case "paused" if body.get("until"):
            return f"It is {waiting_until(text_field(body, 'until'))}."
        case "paused" | "resumed" | "stopping" if body.get("via"):
            return told_of({**who, "answer": {"paused": "pause", "resumed": "resume"}.get(event.kind, "stop")})
        case "paused" | "resumed" | "interrupted":
            return f"It was {event.kind}."
        case kind if kind in ENDED:
            how = ending(dict(state.wire())) or {}
            return f"It ended: {how.get('line') or kind}."
        case _:
            return None
