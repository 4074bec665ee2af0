"""The text of an assistant file as values that can be run, or the reasons why it cannot.

Tolerant where the loop is (`TOLERATED`): a criterion that cannot be judged never ends the loop, which
then runs to its last iteration.
"""

from __future__ import annotations

from loop_ls.formats.assistant.keys import ASSISTANT_FILE, DEFAULT_ITERATIONS
from loop_ls.formats.assistant.model import Assistant, Criteria, Retry
from loop_ls.formats.assistant.parts import AssistantParts, assistants_of
from loop_ls.formats.assistant.problems import TOLERATED, assistant_flaws
from loop_ls.formats.common.isolate import ISOLATE
from loop_ls.formats.common.json_types import flag, number, text_of, texts_of, whole
from loop_ls.formats.common.object_parts import Parts, parts_of_piece
from loop_ls.formats.common.typed_mapping import Block
from loop_ls.formats.workflow.problem_to_refusal import refusal, syntax_refusals
from loop_ls.formats.workflow.refusals import Refusal
from loop_ls.syntax.nodes import Node
from loop_ls.syntax.tree import Tree, read_json, read_yaml
from loop_ls.text.lines import Text


def read_assistants(text: str | Text, json: bool = False) -> tuple[Assistant, ...] | list[Refusal]:
    """Every assistant of a file, or everything against it, in order. Never raises on content."""
    lines = text if isinstance(text, Text) else Text.of(text)
    tree = read_json(lines) if json else read_yaml(lines)
    refusals = list(syntax_refusals(tree, "AL001", "An assistant must be a mapping with `name` and `persona`"))
    if refusals:
        return refusals
    parts = parts_of(tree)
    refusals = [refusal(tree, one) for one in assistant_flaws(parts) if one.flaw.code not in TOLERATED]
    if refusals:
        return sorted(refusals, key=lambda one: one.span)
    return tuple(map(_assistant, assistants_of(parts)))


def read_assistant(text: str | Text, key: str | None = None, json: bool = False) -> Assistant | list[Refusal]:
    """The assistant with this id, or the only one. An empty list: there is none, or the choice is open."""
    found = read_assistants(text, json)
    if isinstance(found, list):
        return found
    chosen = [one for one in found if key is None or one.id == key]
    return chosen[0] if chosen and (key is not None or len(chosen) == 1) else []


def parts_of(tree: Tree) -> Parts:
    return Parts.of(ASSISTANT_FILE, (parts_of_piece(piece, ASSISTANT_FILE) for piece in tree.pieces))


def _assistant(one: AssistantParts) -> Assistant:
    iterations = whole(one.node("maxIterations"))
    return Assistant(
        id=one.key,
        name=one.name,
        persona=text_of(one.node("persona")) or "",
        description=text_of(one.node("description")) or "",
        purpose=text_of(one.node("purpose")),
        model=text_of(one.node("model")),
        provider=text_of(one.node("provider")) or "claude-code",
        permission_mode=text_of(one.node("permissionMode")) or "default",
        allowed_tools=texts_of(one.node("allowedTools")) or (),
        skills=texts_of(one.node("skills")) or (),
        servers=texts_of(one.node("servers")) or (),
        memory=text_of(one.node("memory")),
        memory_enabled=flag(one.node("memoryEnabled")) is True,
        max_budget_usd=one.budget,
        loop_enabled=one.enabled,
        criteria=_criteria(one.criteria),
        max_iterations=DEFAULT_ITERATIONS if iterations is None else iterations,
        approval_timeout_seconds=number(one.node("approvalTimeoutSeconds")),
        max_total_budget_usd=number(one.node("maxTotalBudgetUsd")),
        max_duration_seconds=number(one.node("maxDurationSeconds")),
        stall_after=whole(one.node("stallAfter")),
        retry=_retry(one),
        isolate=text_of(one.node(ISOLATE)),
    )


def _criteria(block: Block | None) -> Criteria | None:
    """Without a text in `type`, or in `value` where it counts, nothing but the limit ends the loop."""
    if block is None:
        return None
    type_, value = text_of(_node(block, "type")), text_of(_node(block, "value"))
    argv = texts_of(_node(block, "argv"))
    if type_ is None or (value is None and type_ in ("regex", "test_pass") and argv is None):
        return Criteria()
    if value is None and block.has("value") and _node(block, "value") is not None:
        return Criteria()
    limit = number(_node(block, "timeoutSeconds"))
    return Criteria(
        type=type_,
        value=value or "",
        argv=argv,
        timeout_seconds=60.0 if limit is None else limit,
        cwd=text_of(_node(block, "cwd")),
        include_output=flag(_node(block, "includeOutput")) is True,
        last_line=flag(_node(block, "lastLine")) is True,
        in_a_row=max(1, whole(_node(block, "inARow")) or 1),
    )


def _retry(one: AssistantParts) -> Retry | None:
    part = one.get("retry")
    block = None if part is None else part.field.value
    if not isinstance(block, Block):
        return None
    return Retry(whole(_node(block, "attempts")) or 0, number(_node(block, "backoffSeconds")) or 0.0)


def _node(block: Block, name: str) -> Node | None:
    field = block.get(name)
    return None if field is None else field.node
