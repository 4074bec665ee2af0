"""The tools by which agents of other programs write, start, watch and control loops.

Pure: what an engine can do is passed in, so the same tools work inside the engine and over HTTP. Answers
are texts, as models read them; a refusal is a text that says what would be right.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar, cast

from loop_ls.contract.amounts import waiting_until
from loop_ls.contract.answers import (
    Answered,
    ChangesDone,
    CheckedFile,
    CheckFinding,
    Controlled,
    Definition,
    DefinitionList,
    Done,
    FileEstimate,
    Inbox,
    Loop,
    NewRun,
    Refusal,
    RunChanges,
    RunList,
    Waiting,
)
from loop_ls.contract.questions import ANSWERS_TO, only_people, wait_of
from loop_ls.contract.questions import first_line as first_line_of
from loop_ls.contract.run_state import RunStateView
from loop_ls.contract.run_view.rounds import listed
from loop_ls.contract.validation import problem_of
from loop_ls.engine.api.schemas import object_schema
from loop_ls.engine.api.views import loop_row
from loop_ls.engine.projections.history import Row
from loop_ls.engine.roles.outcome import NO_OUTPUT, first_line
from loop_ls.formats.registry import ROLE_LOOP
from loop_ls.text.json_value import Json, JsonObject, as_object, text_field

A = TypeVar("A", bound=Done)

GOAL, SUMMARY = 80, 200
#: Characters of a diff that a model is shown.
DIFF = 20_000


class ToolHistory(Done):
    """A run with its iterations, at least the latest one."""

    state: RunStateView
    history: list[Row]


class Loops(Protocol):
    """What the tools need of an engine; answers are those of every surface."""

    async def start(self, argument: JsonObject) -> NewRun | Refusal: ...

    async def control(self, verb: str, run_id: str) -> Controlled | Refusal: ...

    async def enhance(self, verb: str, run_id: str, given: JsonObject) -> JsonObject | Refusal:
        """What is said to an enhance loop (`choose`, `feedback`), or asked about it (`timeline`)."""
        ...

    async def inbox(self, after: int | None) -> Inbox | Refusal: ...

    async def answer(self, run_id: str, given: JsonObject) -> Answered | Refusal:
        """`{answer, text?, question?, agent?}`; `agent`: no person has said it."""
        ...

    async def changes(self, run_id: str) -> RunChanges | Refusal: ...

    async def decide_changes(self, run_id: str, decision: str) -> ChangesDone | Refusal: ...

    async def runs(self) -> RunList | Refusal: ...

    async def history(self, run_id: str) -> ToolHistory | Refusal:
        """`{ok, state, history: [iteration]}`; at least the latest one, which is all that is told: models ask often."""
        ...

    async def definitions(self) -> DefinitionList | Refusal: ...

    async def check(self, path: str, text: str | None) -> CheckedFile | Refusal: ...

    async def estimate(self, path: str, name: str | None) -> FileEstimate | Refusal: ...


class ToolRefusal(Exception):
    """The sentence that the model gets."""


class AskPerson(Exception):
    """Only a person may give this answer: the client is asked to ask its own, where it can. `told` is the sentence that
    the model gets where it cannot."""

    def __init__(self, waiting: Waiting, told: str) -> None:
        super().__init__(told)
        self.waiting, self.told = waiting, told


@dataclass(frozen=True, slots=True)
class AgentTool:
    name: str
    description: str
    #: Its type in `contract.requests`.
    argument: str
    call: Callable[[Loops, Mapping[str, Json]], Awaitable[str]]
    #: It changes nothing, so a client may use it without asking its user.
    reads: bool = False

    @property
    def schema(self) -> JsonObject:
        return object_schema(self.argument)


async def use(loops: Loops, name: str, arguments: Mapping[str, Json]) -> tuple[str, bool]:
    """The answer of a tool, and whether it is a refusal. Raises `AskPerson`."""
    tool = TOOLS.get(name)
    if tool is None:
        return f"Unknown tool `{name}`; expected {', '.join(TOOLS)}.", True
    if problem := problem_of(tool.argument, arguments, f"`{name}`"):
        return problem.message, True
    if told := _unknown_arguments(name, tool, arguments):
        return told, True
    try:
        return await tool.call(loops, arguments), False
    except ToolRefusal as refusal:
        return str(refusal), True


def _unknown_arguments(name: str, tool: AgentTool, given: Mapping[str, Json]) -> str:
    """An argument that would be ignored: whoever sends a limit must not believe that it holds."""
    known = as_object(tool.schema.get("properties"))
    strange = next((one for one in given if one not in known), None)
    if strange is None:
        return ""
    expected = ", ".join(f"`{one}`" for one in known)
    return f"`{name}` has no argument `{strange}`; " + (f"expected {expected}." if known else "it takes none.")


# -- start -------------------------------------------------------------------------------------------


async def loop_start(loops: Loops, given: Mapping[str, Json]) -> str:
    argument: JsonObject = {"definition": given["definition"], "goal": given["goal"], "origin": "mcp"}
    argument["parameters"] = parameters = _parameters(given.get("parameters"))
    for name in ("project_id", "project_slug", "session_id"):
        if given.get(name):
            argument[name] = given[name]
    if given.get("idempotency_key"):
        argument["idempotencyKey"] = given["idempotency_key"]
    if given.get("enhance"):  # whether the file may be written without an editor, the project says
        argument["enhance"] = {"start": True}
    limit = given.get("max_iterations")
    if limit is not None:
        argument["max_iterations"] = limit
    answer = _allowed(await loops.start(argument))
    found = _allowed(await loops.history(answer["runId"]))
    state, rows = found["state"], found["history"]
    told = {
        "loop_id": answer["runId"],
        "definition": state["name"],
        "goal": state.get("goal"),
        "max_iterations": limit,
        "parameters": parameters or None,
        "roles": [stage["role"] for stage in listed(rows[0]["stages"])] if rows else [],
        "termination": as_object(state.get("criterion")).get("type"),
        "session_id": state.get("sessionId"),
        "project_id": state.get("projectId"),
        "message": f"The loop runs in the background; loop_status reports its progress: {answer['runId']}.",
    }
    if warned := answer.get("warnings"):
        told["warnings"] = warned
    if ignored := answer.get("ignored"):
        told["ignored_parameters"] = ignored
    return _json(told)


def _parameters(given: Json) -> JsonObject:
    if given is None or given == "":
        return {}
    value: object = given
    if isinstance(given, str):
        try:
            value = json.loads(given)
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, dict):
        raise ToolRefusal('`parameters` must be a JSON object as a string, such as {"depth": "deep"}.')
    return value


# -- watch -------------------------------------------------------------------------------------------


async def loop_list(loops: Loops, given: Mapping[str, Json]) -> str:
    status = given.get("status") or None
    rows = [loop_row(state) for state in _allowed(await loops.runs())["runs"]]
    found = [row for row in rows if status in (None, row["status"])]
    if not found:
        return f"No loops with status {status}." if status else "No loops."
    return "\n".join(_line(row) for row in found)


def _line(row: Loop) -> str:
    state = row["state"]
    goal = " ".join(str(row["goal"] or row["definition_name"] or "").split())
    short = goal if len(goal) <= GOAL else f"{goal[:GOAL]}..."
    limit = f"/{row['max_iterations']}" if row["max_iterations"] else ""
    stage = f" stage {state['stage']}" if state.get("stage") else ""
    at = f"iteration {row['current_iteration']}{limit}{stage}"
    asks = "  waits for a decision" if state.get("pendingApproval") else ""
    return f"{row['id']}  {row['status']}  {row['definition_name']}  {at}  {short}  started {row['started_at']}{asks}"


async def loop_status(loops: Loops, given: Mapping[str, Json]) -> str:
    found = _allowed(await loops.history(text_field(given, "id")))
    state, rows = found["state"], found["history"]
    row, latest = loop_row(state), rows[-1] if rows else None
    stages = listed(latest["stages"]) if latest else []
    return _json(
        {
            "id": row["id"],
            "definition": row["definition_name"],
            "status": row["status"],
            "goal": row["goal"],
            "current_iteration": row["current_iteration"],
            "current_stage": state.get("turn") or state.get("stage"),
            "max_iterations": row["max_iterations"],
            "started_at": row["started_at"],
            "completed_at": row["completed_at"],
            "last_activity_at": row["last_activity_at"],
            "deadline": row["deadline"],
            "elapsed_seconds": row["elapsed_seconds"],
            "active_seconds": row["active_seconds"],
            "completion_reason": row["completion_reason"],
            "dispatch": state.get("dispatch"),
            "metadata": row["metadata"],
            "current_iteration_status": latest["status"] if latest else None,
            "stages": [_stage(number, stage) for number, stage in enumerate(stages)],
            "waiting": waiting_until(state.get("resumesAt")) or None,
            "asks": _asks(state),
            "error": state.get("error"),
            **(await _rounds(loops, state) if state["format"] == "enhance" else {}),
        }
    )


def _asks(state: RunStateView) -> str | None:
    """What the loop waits for, for a model that asks how it stands."""
    pending = state.get("pendingApproval")
    if pending is None:
        return None
    wait = wait_of(pending)
    what = {"protected": first_line_of(pending), "blocked": first_line_of(pending)}.get(wait, "A person must decide.")
    return f"{what} See loop_inbox for the rest."


async def _rounds(loops: Loops, state: RunStateView) -> JsonObject:
    """What an enhance loop came to, and what it would change where it waits for an answer."""
    told = as_object(await loops.enhance("timeline", state["runId"], {}))
    entry = (listed(told.get("rounds")) or [{}])[-1]
    found: JsonObject = {"because": as_object(told.get("status")).get("because"), "round": entry.get("round")}
    for name in ("failed", "proposed", "rejected", "unfixable"):
        found[name] = [_reason(one) for one in listed(entry.get(name))]
    found |= {"rationale": entry.get("rationale"), "diff": entry.get("diff")}
    return {"rounds": found | ({"answer": _ANSWERS} if _waits(state) else {})}


def _reason(one: JsonObject) -> str:
    head = " ".join(str(one[name]) for name in ("op", "target", "step", "failure", "kind") if one.get(name))
    why = one.get("message") or one.get("reason")
    return f"{head}: {first_line(str(why))}" if why else head


def _waits(state: RunStateView) -> bool:
    return state["format"] == "enhance" and state["status"] == "paused" and bool(state.get("question"))


def _stage(number: int, stage: Row) -> Row:
    summary = text_field(stage, "result_summary") or text_field(stage, "output")
    return {
        "index": stage.get("stage_index", number),
        "role": stage.get("role"),
        "label": stage.get("label") or stage.get("name"),
        "status": stage["status"],
        "summary": summary if len(summary) <= SUMMARY else f"{summary[:SUMMARY]}...",
        "metadata": as_object(stage.get("metadata")),
    }


# -- control -----------------------------------------------------------------------------------------

_ANSWERS = (
    "loop_control with the action `continue` (make the change), `skip` (continue without it), `feedback` or `stop`"
)
#: What a start of other formats is told.
_GOALS = {"workflow": "workflow; `goal` is its input", "assistant": "assistant; `goal` is the message to it"}
_DONE = {"pause": "paused", "resume": "resumed", "stop": "stopped"}


async def loop_control(loops: Loops, given: Mapping[str, Json]) -> str:
    action, id_ = text_field(given, "action"), text_field(given, "id")
    if action in ("continue", "skip", "feedback"):
        return await _told(loops, action, id_, text_field(given, "text"))
    if action == "resume" and id_.lower() != "all" and _waits(_allowed(await loops.history(id_))["state"]):
        raise ToolRefusal(f"The loop waits between rounds; loop_status shows its change. Answer by {_ANSWERS}.")
    rows = _allowed(await loops.control(action, id_))["runs"]
    if id_.lower() == "all":
        count = f"{len(rows)} loop{'' if len(rows) == 1 else 's'}"
        return f"{count} {_DONE[action]}." if rows else f"No loop to {action}."
    told = "cancelled" if action == "stop" else rows[0]["status"]
    return f"Loop {rows[0]['runId']} is {told}."


async def _told(loops: Loops, action: str, id_: str, text: str) -> str:
    """An answer to an enhance loop that waits between rounds."""
    if id_.lower() == "all":
        raise ToolRefusal(f"`{action}` is about one loop: name it.")
    if action == "feedback" and not text.strip():
        raise ToolRefusal("`feedback` needs a `text`.")
    verb, said = ("feedback", {"text": text}) if action == "feedback" else ("choose", {"choice": action})
    _allowed(cast("Done | Refusal", await loops.enhance(verb, id_, cast("JsonObject", said))))
    return "The feedback is used for the next plan." if action == "feedback" else f"Loop {id_} continues."


# -- what waits ---------------------------------------------------------------------------------------


async def loop_inbox(loops: Loops, given: Mapping[str, Json]) -> str:
    after = given.get("after")
    found = _allowed(await loops.inbox(after if isinstance(after, int) and after > 0 else None))
    told = [_waiting(one) for one in found["waiting"]] or ["Nothing waits for an answer."]
    told += [f"{one['runId']}  {one['at']}  {one['name']}: {one['text']}" for one in found.get("missed", ())]
    return "\n".join([*told, f"position: {found['position']}"])


def _waiting(one: Waiting) -> str:
    answers = ", ".join(each["answer"] for each in one["answers"])
    lines = [f"{one['runId']}  {one['kind']}: {one['text']}"]
    lines += [f"    {line}" for line in one.get("context", "").splitlines()]
    for_people = "    Only your user may answer; loop_answer asks them if your program can." if one["forPeople"] else ""
    named = f" (question {one['id']})" if one.get("id") else ""
    return "\n".join([*lines, f"    answers: {answers}{named}", *([for_people] if for_people else [])])


async def loop_answer(loops: Loops, given: Mapping[str, Json]) -> str:
    """What only people may answer is passed to the person of the client."""
    id_, question, answer = text_field(given, "id"), text_field(given, "question"), text_field(given, "answer")
    for one in _allowed(await loops.inbox(None))["waiting"]:
        meant = one["runId"].startswith(id_) and question in ("", one.get("id"))
        if meant and one["forPeople"] and answer in ANSWERS_TO[one["kind"]]:
            raise AskPerson(one, only_people(one))
    said: JsonObject = {"answer": answer, "text": text_field(given, "text"), "question": question}
    return await give(loops, id_, {**said, "agent": True})


async def give(loops: Loops, id_: str, given: JsonObject) -> str:
    """Raises `ToolRefusal`."""
    done = _allowed(await loops.answer(id_, given))
    return f"Answered loop {done['runId']}: {done['answer']}."


# -- changes ------------------------------------------------------------------------------------------


async def loop_changes(loops: Loops, given: Mapping[str, Json]) -> str:
    id_, decision = text_field(given, "id"), text_field(given, "decision")
    if decision:
        done = _allowed(await loops.decide_changes(id_, decision))
        return f"The changes of loop {done['runId']} are {done['decision']}. {done.get('told', '')}".rstrip()
    found = _allowed(await loops.changes(id_))
    files = "\n".join(f"{one['status']}: {one['path']}" for one in found["files"]) or "No file is changed."
    decided = f" They are {found['decision']}." if "decision" in found else ""
    cut = "\n(The diff is longer.)" if found["cut"] or len(found["diff"]) > DIFF else ""
    told = f"Changes of loop {found['runId']} on branch {found['branch']}.{decided}\n{files}"
    return f"{told}\n\n{found['diff'][:DIFF]}{cut}".rstrip()


async def loop_definitions(loops: Loops, given: Mapping[str, Json]) -> str:
    found = _allowed(await loops.definitions())["definitions"]
    lines = [line for one in found for line in _definition(one)]
    return "\n".join(lines) or "No loop definitions."


def _definition(one: Definition) -> list[str]:
    if one.get("error"):
        return [f"{one['name']}: cannot be started: {first_line(str(one['error']))}"]
    termination = one["termination"]
    if one["format"] != ROLE_LOOP:
        told = _GOALS.get(one["format"])
        return [] if told is None else [f"{one['name']}: {one['description']}".rstrip(": "), f"    {told}"]
    roles = " → ".join(role["role"] for role in one["roles"])
    ends = NO_OUTPUT if termination is None else termination["type"]
    lines = [f"{one['name']}: {one['description']}", f"    roles: {roles}; ends: {ends}"]
    parameters = [f"{each['name']}{'' if each['required'] else '?'}" for each in one["parameters"]]
    return [*lines, f"    parameters: {', '.join(parameters)}"] if parameters else lines


# -- write -------------------------------------------------------------------------------------------


async def loop_check(loops: Loops, given: Mapping[str, Json]) -> str:
    path, text = str(given["path"]), given.get("text")
    found = _allowed(await loops.check(path, str(text) if text else None))
    if not found["findings"]:
        return f"{path}: no findings."
    lines = [line for one in found["findings"] for line in _finding(path, one)]
    more = found["count"] - len(found["findings"])
    return "\n".join([*lines, f"{more} more findings."] if more else lines)


def _finding(path: str, one: CheckFinding) -> list[str]:
    line = f"{path}:{one['line']}:{one['column']}: {one['severity']} {one['rule']}: {one['message']}"
    if "fix" not in one:
        return [line]
    return [line, f"    fix: {one['fix']}", *(f"    {changed}" for changed in one.get("diff", "").splitlines())]


async def loop_estimate(loops: Loops, given: Mapping[str, Json]) -> str:
    name = given.get("name")
    found = _allowed(await loops.estimate(str(given["path"]), str(name) if name else None))
    return _json({name: found[name] for name in ("calls", "usd", "why")})


# -- parts -------------------------------------------------------------------------------------------


def _allowed(answer: A | Refusal) -> A:
    """The answer of an operation. Raises `ToolRefusal` with what the engine said."""
    if answer["ok"]:
        return cast("A", answer)
    refused = cast("Refusal", answer)
    if refused["code"] == "consent_required":  # a model cannot agree: it can tell its user what to do
        names = ("code", "message", "hint", "capabilities", "programs", "tools", "endpoints")
        told: Mapping[str, object] = refused
        raise ToolRefusal(_json({name: told.get(name) for name in names}))
    raise ToolRefusal(f"{refused['message']} {refused['hint']}".rstrip())


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


TOOLS: dict[str, AgentTool] = {
    tool.name: tool
    for tool in (
        AgentTool(
            "loop_start",
            "Start a loop from a definition, a workflow or an assistant with a goal. It runs in the background.",
            "StartTool",
            loop_start,
        ),
        AgentTool("loop_list", "List loops, newest first.", "ListTool", loop_list, reads=True),
        AgentTool(
            "loop_status",
            "Get the state of a loop: iteration, stage, time, results of its stages.",
            "StatusTool",
            loop_status,
            reads=True,
        ),
        AgentTool(
            "loop_control",
            "Pause, resume or stop one loop or all. A pause waits for the end of the current stage. Answer an enhance "
            "loop that waits between rounds.",
            "ControlTool",
            loop_control,
        ),
        AgentTool(
            "loop_inbox",
            "List what waits for an answer in all loops: questions, pauses, quotas, with the possible answers.",
            "InboxTool",
            loop_inbox,
            reads=True,
        ),
        AgentTool(
            "loop_answer",
            "Answer what a loop waits for, as loop_inbox lists it. Approvals are given by people: your user is asked, "
            "if your program can ask.",
            "AnswerTool",
            loop_answer,
        ),
        AgentTool(
            "loop_changes",
            "Show what a loop changed in its own Git worktree, or apply, keep or discard it once the loop has ended."
            " Decide only if your user said so.",
            "ChangesTool",
            loop_changes,
        ),
        AgentTool(
            "loop_definitions",
            "List the loop definitions, workflows and assistants that can be started.",
            "DefinitionsTool",
            loop_definitions,
            reads=True,
        ),
        AgentTool(
            "loop_check",
            "Check a loop file (workflow, assistant, role loop, settings) before it is run: findings with their fixes. "
            "Nothing is run or written. Call it after each change of a loop file.",
            "CheckTool",
            loop_check,
            reads=True,
        ),
        AgentTool(
            "loop_estimate",
            "Estimate the minimum and maximum model calls and dollars of a run of a loop file.",
            "EstimateTool",
            loop_estimate,
            reads=True,
        ),
    )
}
