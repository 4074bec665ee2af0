"""What a run asks a person, and which answers there are: the same words on every surface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

#: By what an answer came: a terminal, an editor, the page in a browser, or a program over one of the interfaces.
Surface = Literal["cli", "vscode", "editor", "browser", "http", "socket", "mcp"]
SURFACES: Final[tuple[Surface, ...]] = get_args(Surface)
#: Surface -> who speaks there, and where that was, as the end of a sentence.
_NAMED: dict[Surface, tuple[str, str]] = {
    "cli": ("the command line", "on the command line"),
    "vscode": ("VS Code", "in VS Code"),
    "editor": ("an editor", "in an editor"),
    "browser": ("the page in a browser", "in a browser"),
    "http": ("a client of the HTTP interface", "over HTTP"),
    "socket": ("a client of the Socket.IO interface", "over Socket.IO"),
    "mcp": ("an agent over MCP", "over MCP"),
}


def surface_of(client: str) -> Surface:
    """The surface of a client by what it calls itself: that, with its own name behind a slash. One that is unknown here
    is a program over HTTP."""
    word = client.strip().partition("/")[0]
    return next((one for one in SURFACES if one == word), "http")


def speaker_at(surface: Surface) -> str:
    return _NAMED[surface][0]


#: How a pending approval is answered.
Decision = Literal["approve", "reject", "revise", "restore", "retry"]
#: What a run waits for: a decision on an output, one about protected files, an answer without which a stage or a
#: loop cannot continue, the next round of an enhance loop, a quota, whoever paused it, and whoever restarts it.
Wait = Literal["approval", "protected", "blocked", "question", "quota", "pause", "interrupted"]

#: Decision -> what the answer is called.
ANSWERS = {"approve": "Approve", "reject": "Reject", "revise": "Ask for changes"}
#: The same, where a question is about protected files that an agent touched.
PROTECTED_ANSWERS = {"approve": "Allow", "restore": "Restore files", "reject": "Stop the run"}
#: The same, where a stage or a loop cannot continue by itself.
BLOCKED_ANSWERS = {"retry": "Try again", "reject": "End the run"}
#: The same, of an enhance loop that waits between rounds.
ROUND_ANSWERS = {"continue": "Continue", "skip": "Continue without the change", "stop": "Stop the run"}
#: The same, of a run that is paused, by whomever.
PAUSE_ANSWERS = {"resume": "Resume", "stop": "Stop the run"}

#: What became of a question, by decision.
DECIDED: dict[str, str] = {
    "approve": "approved",
    "reject": "rejected",
    "revise": "another iteration with your feedback",
    "restore": "files restored",
    "retry": "tries again",
}

#: All answers to what a run waits for.
ANSWERS_TO: dict[Wait, dict[str, str]] = {
    "approval": ANSWERS,
    "protected": PROTECTED_ANSWERS,
    "blocked": BLOCKED_ANSWERS,
    "question": ROUND_ANSWERS,
    "quota": PAUSE_ANSWERS,
    "pause": PAUSE_ANSWERS,
    "interrupted": PAUSE_ANSWERS,
}
#: What only people may answer, whatever asks on their behalf: a model is told how they can.
FOR_PEOPLE: frozenset[Wait] = frozenset({"approval", "protected"})
#: Answers that take a text along.
WITH_TEXT = frozenset({"approve", "reject", "revise", "retry", "continue", "skip", "resume"})


def wait_of(asked: Mapping[str, object]) -> Wait:
    """What a pending approval (or its fact) asks for."""
    if asked.get("blocked"):
        return "blocked"
    return "protected" if is_protected(asked) else "approval"


def is_protected(asked: Mapping[str, object]) -> bool:
    """Whether a question (`pendingApproval`, or its fact) is about protected files."""
    return bool(asked.get("protected"))


def answers_to(asked: Mapping[str, object]) -> dict[str, str]:
    """Decision -> title, of a pending approval (or its fact): without changes where the project takes none."""
    return {key: title for key, title in ANSWERS_TO[wait_of(asked)].items() if key != "revise" or asked.get("revise")}


def decision_of(resolved: Mapping[str, object]) -> str:
    """The decision of an `approval_resolved`: older ones say only whether it was an approval."""
    return str(resolved.get("decision") or ("approve" if resolved.get("approved") else "reject"))


def first_line(asked: Mapping[str, object]) -> str:
    """What an agent touched, or what is missing, as a sentence."""
    return str(asked.get("output") or "").split("\n", 1)[0]


def commands(asked: Mapping[str, object], run: str) -> str:
    """What to type, as the end of a sentence; `run` is the id as far as it has to be written."""
    match wait_of(asked):
        case "protected":
            return (
                f"loop-ls runs approve {run} allows it, loop-ls runs reject {run} --restore puts the files back, "
                f"loop-ls runs reject {run} stops the run"
            )
        case "blocked":
            return (
                f'loop-ls runs answer {run} retry --text "..." tries again with your answer, '
                f"loop-ls runs reject {run} ends the run"
            )
        case _:
            return f"loop-ls runs approve {run} (or reject)"


def only_people(waiting: Mapping[str, object]) -> str:
    """What an agent is told that answers in place of a person, who may do so as this says."""
    answers, run = waiting.get("answers"), str(waiting.get("runId"))[:8]
    listed = answers if isinstance(answers, list) else []
    words = ", ".join(f"`loop-ls runs answer {run} {each['answer']}`" for each in listed)
    told = f"The owner must agree: only a person may answer this. {waiting.get('text')}"
    return f"{told} Tell them to run one of {words}."


def told_by(given: Mapping[str, object]) -> str:
    """The answer that was first, as a sentence for whoever comes later: which, where, by whom, when, and its text."""
    return f"The first answer was `{given.get('answer')}`, given{_circumstances(given)}."


def told_of(given: Mapping[str, object]) -> str:
    """The same, for whoever was not there."""
    return f"`{given.get('answer')}` was said{_circumstances(given)}."


def _circumstances(given: Mapping[str, object]) -> str:
    where = next((f" {named[1]}" for one, named in _NAMED.items() if one == given.get("via")), "")
    by = f" by `{given['by']}`" if given.get("by") else ""
    at = f" at {str(given['at'])[:19].replace('T', ' ')} UTC" if given.get("at") else ""
    text = str(given.get("text") or "").strip()
    said = f", with the text: {text if len(text) <= _TEXT else text[: _TEXT - 1] + '…'}" if text else ""
    return f"{where}{by}{at}{said}"


#: So much of the text of an answer is told again.
_TEXT = 200


def between_rounds(run: str, rejected: bool = False) -> str:
    """The same, where an enhance loop waits between rounds. `rejected`: a person has said no to its change."""
    if rejected:
        return f"`loop-ls enhance --skip {run}` or `--stop {run}`"
    return f"`loop-ls enhance --continue {run}`, `--skip {run}` or `--stop {run}`"
