"""The one argument object of a command: checked against a table, refused in one sentence."""

from __future__ import annotations

from typing import Any

from loop_ls.server.command_answers import refused

Json = dict[str, Any]
#: name -> (what it has to be, in words; the types)
Shape = dict[str, tuple[str, tuple[type, ...]]]

_TEXT = ("a text", (str,))
_COUNT = ("a whole number", (int,))
_FLAG = ("true or false", (bool,))
_OBJECT = ("an object", (dict,))

TARGETS = ("workflow", "loop", "step", "definition", "assistant")
#: Of these a file has many, so they are named.
_NAMED = ("loop", "step")

RUN: Shape = {
    "uri": _TEXT,
    "target": _OBJECT,
    "input": _TEXT,
    "goal": _TEXT,
    "message": _TEXT,
    "parameters": _OBJECT,
    "maxIterations": _COUNT,
    "mock": _FLAG,
    "item": _COUNT,
    "limits": _OBJECT,
    "sessionId": _TEXT,
    "idempotencyKey": _TEXT,
    "consent": _TEXT,
}
CONTROL: Shape = {"runId": _TEXT}
STATUS: Shape = {"runId": _TEXT, "graph": _FLAG, "place": _TEXT}
HISTORY: Shape = {
    "runId": _TEXT,
    "place": _TEXT,
    "afterSeq": _COUNT,
    "untilSeq": _COUNT,
    "cut": _COUNT,
    "prompts": _FLAG,
    "show": _FLAG,
}
RUNS: Shape = {"status": _TEXT, "uri": _TEXT, "limit": _COUNT}
EVENTS: Shape = {"runId": _TEXT, "afterSeq": _COUNT, "limit": _COUNT, "cut": _COUNT, "follow": _FLAG}
PREVIEW: Shape = {"uri": _TEXT, "target": _OBJECT, "iteration": _COUNT, "runId": _TEXT}
ESTIMATE: Shape = {"uri": _TEXT, "target": _OBJECT}
APPROVE: Shape = {"runId": _TEXT, "loopId": _TEXT, "approved": _FLAG, "decision": _TEXT, "feedback": _TEXT}
FORK: Shape = {"runId": _TEXT, "iteration": _COUNT, "loop": _TEXT, "consent": _TEXT}
IMPORT: Shape = {"run": _OBJECT, "uri": _TEXT}
REPLAY: Shape = {"runId": _TEXT, "uri": _TEXT}
TEST_UNTIL: Shape = {
    "uri": _TEXT,
    "loop": _TEXT,
    "output": _TEXT,
    "runId": _TEXT,
    "times": _COUNT,
    "mock": _FLAG,
    "consent": _TEXT,
}
ENHANCE: Shape = {**RUN, "text": _TEXT, "step": _TEXT, "negative": _FLAG, "show": _FLAG}
ENABLE: Shape = {"uri": _TEXT, "enabled": _FLAG, "overrides": _OBJECT}
SETUP: Shape = {"uri": _TEXT, "values": _OBJECT}
DEFINITIONS: Shape = {"runnables": _FLAG}
LOOP_SETUP: Shape = {"uri": _TEXT, "name": _TEXT, "values": _OBJECT}
NOTHING: Shape = {}


def checked(command: str, argument: Any, shape: Shape, required: tuple[str, ...] = ()) -> Json:
    """The refusal as an answer, or an empty object. Names that are not in the table are ignored: a
    newer client may say more than this server knows."""
    if not isinstance(argument, dict):
        return refused("bad_argument", f"`{command}` takes one object as its argument.")
    for name in required:
        if argument.get(name) is None:
            return refused("bad_argument", f"`{command}` needs `{name}` in its argument.")
    for name, value in argument.items():
        wanted = shape.get(name)
        if wanted is None or value is None:
            continue
        words, types = wanted
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            return refused("bad_argument", f"`{name}` of `{command}` is {words}.")
    for name in ("maxIterations", "limit", "iteration", "times", "cut"):
        if isinstance(value := argument.get(name), int) and value < 1:
            return refused("bad_argument", f"`{name}` of `{command}` is at least 1.")
    return _checked_target(argument.get("target"))


def _checked_target(target: Any) -> Json:
    if target is None:
        return {}
    kind, name = target.get("kind"), target.get("name")
    if kind not in TARGETS:
        return refused("bad_argument", f"`target.kind` is one of {', '.join(f'`{one}`' for one in TARGETS)}.")
    if kind in _NAMED and not (isinstance(name, str) and name):
        return refused("bad_argument", f"`target.name` says which {kind} to run.")
    return {}
