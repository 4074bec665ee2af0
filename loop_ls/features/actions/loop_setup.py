"""The loop of an assistant as the fields of a form: what holds, what is wrong with other values, the file with them.

A pattern and a command are two fields here, though the file has one place for both: going from one criterion to
another and back loses neither. Off takes the criterion away and keeps the limit.
"""

from __future__ import annotations

from collections.abc import Mapping

from loop_ls.formats.assistant.keys import (
    CAP_ONLY,
    CRITERIA_TYPES,
    DEFAULT_ITERATIONS,
    MOST_ITERATIONS,
    REGEX,
    TEST_PASS,
)
from loop_ls.formats.assistant.parts import AssistantParts
from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.common.regex_check import compiled
from loop_ls.index.document import Document
from loop_ls.syntax.edit.edits import Edit
from loop_ls.syntax.edit.members import Members
from loop_ls.text.json_value import Json, text_field

#: In the order of the form.
FIELDS = ("loopEnabled", "type", "pattern", "command", "maxIterations")
DEFAULTS: dict[str, Json] = {
    "loopEnabled": False,
    "type": CAP_ONLY,
    "pattern": "",
    "command": "",
    "maxIterations": DEFAULT_ITERATIONS,
}
#: Which field holds the value of a criterion.
_VALUE_OF = {REGEX: "pattern", TEST_PASS: "command"}


def loop_values(one: AssistantParts) -> dict[str, Json]:
    """What the form shows: what is written, else what holds without it."""
    criteria = one.criteria
    value = None if criteria is None else criteria.get("value")
    text = (text_of(value.node) if value is not None else None) or ""
    type_ = one.criteria_type if one.criteria_type in CRITERIA_TYPES else CAP_ONLY
    shown = {**DEFAULTS, "loopEnabled": one.enabled, "type": type_}
    if type_ in _VALUE_OF:
        shown[_VALUE_OF[type_]] = text
    if one.max_iterations is not None:
        shown["maxIterations"] = one.max_iterations
    return shown


def loop_problems(values: Mapping[str, Json]) -> list[dict[str, str]]:
    """What keeps values from being written, one sentence for each field."""
    found: list[dict[str, str]] = []

    def wrong(name: str, message: str) -> None:
        found.append({"name": name, "message": message})

    if values["type"] not in CRITERIA_TYPES:
        wrong("type", f"`type` must be one of {', '.join(f'`{one}`' for one in CRITERIA_TYPES)}.")
    most = values["maxIterations"]
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_ITERATIONS:
        wrong("maxIterations", f"`maxIterations` must be from 1 to {MOST_ITERATIONS}.")
    if not values["loopEnabled"]:
        return found
    if values["type"] == REGEX and not values["pattern"]:
        wrong("pattern", "An empty pattern matches every output, so the loop would stop after one iteration.")
    elif values["type"] == REGEX and (problem := compiled(text_field(values, "pattern")).problem):
        wrong("pattern", f"Invalid pattern ({problem}): the loop would never stop early.")
    if values["type"] == TEST_PASS and not text_field(values, "command").strip():
        wrong("command", "Missing command: the test would never pass.")
    return found


def with_loop(document: Document, key: str, values: Mapping[str, Json]) -> str:
    """The text with these values, which have no problem. What is not another value stays as it is written."""
    for step in (_switch, _criterion, _limit):
        one = next(each for each in document.whole.assistants if each.key == key)
        text = document.text
        edits = step(document, one, _members(document, one), values)
        for edit in sorted(edits, key=lambda each: each.span, reverse=True):
            text = text.edit(edit.span, edit.text)
        if edits:
            document = Document.open(document.uri, str(text))
    return str(document.text)


def _members(document: Document, one: AssistantParts) -> Members:
    in_json = document.path.endswith(".json")
    if one.block is None:
        return Members(document.tree, in_json)
    return Members(document.tree, in_json, one.piece, one.block.node)


def _switch(document: Document, one: AssistantParts, members: Members, values: Mapping[str, Json]) -> list[Edit]:
    if one.enabled == values["loopEnabled"]:
        return []
    return members.set("loopEnabled", values["loopEnabled"])


def _limit(document: Document, one: AssistantParts, members: Members, values: Mapping[str, Json]) -> list[Edit]:
    if one.max_iterations == values["maxIterations"]:
        return []
    return members.set("maxIterations", values["maxIterations"], _last_of(one, "loopCriteria", "loopEnabled"))


def _criterion(document: Document, one: AssistantParts, members: Members, values: Mapping[str, Json]) -> list[Edit]:
    if not values["loopEnabled"]:
        return members.remove("loopCriteria")
    type_, criteria, part = values["type"], one.criteria, one.get("loopCriteria")
    value = values[_VALUE_OF[type_]] if type_ in _VALUE_OF else None
    if criteria is None or part is None or not criteria.node.entries:
        if type_ == CAP_ONLY and not one.has("loopCriteria"):
            return []  # it holds without being written
        wanted = {"type": type_} if value is None else {"type": type_, "value": value}
        return members.set("loopCriteria", wanted, _last_of(one, "loopEnabled"))
    inner = Members(document.tree, document.path.endswith(".json"), part.piece, criteria.node)
    edits = [] if one.criteria_type == type_ else inner.set("type", type_)
    written = criteria.get("value")
    if value is None:
        return edits + (inner.remove("value") if written is not None else [])
    by_words = type_ == TEST_PASS and criteria.get("argv") is not None
    if (written is None and not by_words) or (written is not None and text_of(written.node) != value):
        edits += inner.set("value", value, "type")
    return edits


def _last_of(one: AssistantParts, *names: str) -> str | None:
    return next((name for name in names if one.get(name) is not None), None)
