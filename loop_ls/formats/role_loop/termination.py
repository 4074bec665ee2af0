"""A termination condition read from its nodes: the value that ends a loop, and what is wrong with it.

One reading for the checker, which wants the faults, and the engine, which wants the value.
Placeholders count with the texts that are known of them.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.json_types import flag, is_blank, kind_of, number, numeric_text, text_of, whole
from loop_ls.formats.common.plain_value import plain
from loop_ls.formats.common.problem import Flaw
from loop_ls.formats.common.read_value import read_block
from loop_ls.formats.common.typed_mapping import Block
from loop_ls.formats.role_loop import keys
from loop_ls.formats.role_loop.model import (
    REVIEW_ROUNDS,
    EvaluationBound,
    GoalBound,
    IterationBound,
    Manual,
    Termination,
    TimeBound,
    ToolBound,
)
from loop_ls.formats.role_loop.placeholders import Filled, Values, fill
from loop_ls.syntax.nodes import Mapping, Node, resolved


class Reading(NamedTuple):
    """`type` is None where it is faulty or not known before a start. `block` is the value's own, if it has one.
    `limit_parameter`: the number of rounds is the value of this parameter."""

    value: Termination | None = None
    flaws: tuple[Flaw, ...] = ()
    type: str | None = None
    block: Block | None = None
    limit_parameter: str | None = None


def read_termination(node: Node, values: Values) -> Reading:
    found = resolved(node)
    if not isinstance(found, Mapping):
        return Reading(
            flaws=(Flaw("RL012", node, "`termination_condition` must be an object with `type` and `value`"),)
        )
    reader = _Reader(read_block(keys.TERMINATION, found), values)
    value = reader.read()
    return Reading(value, tuple(reader.flaws), reader.type, reader.inner, reader.limit_parameter)


class _Reader:
    def __init__(self, block: Block, values: Values) -> None:
        self.block, self.values = block, values
        self.flaws: list[Flaw] = []
        self.type: str | None = None
        self.inner: Block | None = None
        self.limit_parameter: str | None = None

    def read(self) -> Termination | None:
        self.type = self._type()
        match self.type:
            case keys.EVALUATION:
                return self._evaluation()
            case keys.ITERATIONS:
                return self._iterations()
            case keys.GOAL:
                return self._goal()
            case keys.TIME:
                return self._time()
            case keys.MANUAL:
                return Manual()
            case keys.TOOL:
                return self._tool()
            case _:
                return None

    def _type(self) -> str | None:
        field = self.block.get("type")
        listed = ", ".join(f"`{one}`" for one in keys.TERMINATIONS)
        if field is None or is_blank(field.node):
            if field is not None or not self.block.meant("type"):
                at = self.block.node if field is None or field.node is None else field.node
                self._flaw(at, f"Missing `type` in `termination_condition`; expected {listed}", "RL011")
            return None
        written = text_of(field.node)
        if written is None:
            self._flaw(field.node, f"`type` must be a string; expected {listed}", "RL011")
            return None
        filled = fill(written, self.values)
        if filled.open:
            return None
        if filled.text in keys.TERMINATIONS:
            return filled.text
        parameter = _only(written, filled)
        better = nearest(filled.text, keys.TERMINATIONS)
        hint = f"did you mean `{better}`?" if better else f"expected {listed}"
        sentence = f"Unknown termination type `{filled.text}`; {hint}"
        self.flaws.append(Flaw("RL011", field.node or self.block.node, sentence, better, parameter))
        return None

    # -- one type each ----------------------------------------------------------------------------

    def _evaluation(self) -> Termination | None:
        node = self._value("the criteria that the last stage judges by")
        if node is None:
            return None
        if kind_of(node) == "text":
            return EvaluationBound(self._text(node, "the criteria") or "")
        block = self._object(node, keys.EVALUATION)
        if block is None:
            return None
        criteria = self._required_text(block, "criteria")
        rounds = block.get("max_review_rounds")
        if rounds is None:
            return EvaluationBound(criteria or "", REVIEW_ROUNDS)
        return EvaluationBound(criteria or "", self._limit(rounds.node, "max_review_rounds"))

    def _iterations(self) -> Termination | None:
        sibling, own = self.block.get("max_iterations"), self.block.get("value")
        if sibling is not None:
            sentence = "Use `value` for the number of `iteration_bound`; `max_iterations` also works"
            self.flaws.append(Flaw("RL012", sibling.entry, sentence, advice=True))
        field = own or sibling
        if field is None:
            self._value("a number of iterations")
            return None
        return IterationBound(self._limit(field.node, f"`{field.key.name}` of `iteration_bound`"))

    def _goal(self) -> Termination | None:
        node = self._value("`goal_prompt` and `max_iterations`")
        block = None if node is None else self._object(node, keys.GOAL)
        if block is None:
            return None
        prompt = block.get("goal_prompt")
        text = "" if prompt is None or is_blank(prompt.node) else self._text(prompt.node, "`goal_prompt`")
        return GoalBound(text or "", self._required_limit(block, "max_iterations"))

    def _time(self) -> Termination | None:
        node = self._value("seconds, or the date when the loop ends")
        if node is None:
            return None
        hard = self.block.get("hard")
        is_hard = hard is not None and flag(hard.node) is True
        seconds = whole(node)
        text = text_of(node)
        parameter = None
        if text is not None:
            filled = fill(text, self.values)
            if filled.open:
                return TimeBound(hard=is_hard)
            seconds, parameter = numeric_text(filled.text), _only(text, filled)
            if seconds is None:
                deadline = _date(filled.text)
                if deadline is not None:
                    return TimeBound(deadline=deadline, hard=is_hard)
        if seconds is not None and seconds > 0:
            return TimeBound(seconds, hard=is_hard)
        sentence = "`time_bound` must be seconds above 0, or a date such as `2031-12-31T18:00:00Z`"
        self._flaw(node, sentence, parameter=parameter)
        return None

    def _tool(self) -> Termination | None:
        node = self._value("`tool`, `operator`, `threshold` and `max_iterations`")
        block = None if node is None else self._object(node, keys.TOOL)
        if block is None:
            return None
        arguments = block.get("arguments")
        if arguments is not None and kind_of(arguments.node) not in ("object", "null"):
            self._flaw(arguments.node, "`arguments` must be an object")
        given = plain(arguments.node) if arguments is not None and not self.flaws else None
        return ToolBound(
            self._required_text(block, "tool") or "",
            self._operator(block),
            self._threshold(block),
            self._required_limit(block, "max_iterations"),
            given if isinstance(given, dict) else {},
        )

    # -- parts ------------------------------------------------------------------------------------

    def _value(self, what: str) -> Node | None:
        """What is written behind `value`; its absence is a flaw."""
        field = self.block.get("value")
        if field is not None and field.node is not None:
            return field.node
        if not self.block.meant("value"):
            self._flaw(self.block.node, f"Missing `value`: `{self.type}` needs {what}")
        return None

    def _object(self, node: Node, type_: str) -> Block | None:
        found, shape = resolved(node), keys.VALUES[type_]
        if isinstance(found, Mapping):
            self.inner = read_block(shape, found)
            return self.inner
        needed = " and ".join(f"`{key.name}`" for key in shape.keys.values() if key.required)
        self._flaw(node, f"`{type_}` needs an object with {needed}")
        return None

    def _limit(self, node: Node | None, what: str) -> int | None:
        """A number above 0, as a text if need be; None where it is faulty or not known yet."""
        name = what if what.startswith("`") else f"`{what}`"
        count, parameter = whole(node), None
        text = text_of(node)
        if text is not None:
            filled = fill(text, self.values)
            if filled.open:
                return None
            count, parameter = numeric_text(filled.text), _only(text, filled)
        if count is not None and count > 0:
            self.limit_parameter = parameter
            return count
        self._flaw(node or self.block.node, f"{name} must be an integer above 0", parameter=parameter)
        return None

    def _required_limit(self, block: Block, name: str) -> int | None:
        node = self._required(block, name)
        return None if node is None else self._limit(node, name)

    def _required_text(self, block: Block, name: str) -> str | None:
        node = self._required(block, name)
        return None if node is None else self._text(node, f"`{name}`")

    def _required(self, block: Block, name: str) -> Node | None:
        field = block.get(name)
        if field is not None and field.node is not None:
            return field.node
        if not block.meant(name):
            self._flaw(block.node, f"Missing `{name}` in {block.shape.title}")
        return None

    def _text(self, node: Node | None, what: str) -> str | None:
        text = text_of(node)
        if text is None:
            self._flaw(node or self.block.node, f"{what} must be a string")
            return None
        filled = fill(text, self.values)
        if filled.text.strip() or filled.open:
            return filled.text
        self._flaw(node or self.block.node, f"{what} must not be empty", parameter=_only(text, filled))
        return None

    def _operator(self, block: Block) -> str:
        node = self._required(block, "operator")
        if node is None:
            return ""
        text = text_of(node)
        filled = fill(text, self.values) if text is not None else Filled("")
        if filled.text not in keys.OPERATORS and not filled.open:
            self._flaw(
                node, f"`operator` must be one of {', '.join(keys.OPERATORS)}", parameter=_only(text or "", filled)
            )
        return filled.text

    def _threshold(self, block: Block) -> float | None:
        node = self._required(block, "threshold")
        if node is None:
            return None
        text = text_of(node)
        if text is None:
            found, parameter = number(node), None
        else:
            filled = fill(text, self.values)
            if filled.open:
                return None
            found, parameter = _float(filled.text), _only(text, filled)
        if found is None:
            self._flaw(node, "`threshold` must be a number", parameter=parameter)
        return found

    def _flaw(
        self,
        at: Node | None,
        message: str,
        code: str = "RL012",
        parameter: str | None = None,
    ) -> None:
        self.flaws.append(Flaw(code, at or self.block.node, message, parameter=parameter))


def _only(text: str, filled: Filled) -> str | None:
    """The parameter, where a text is its placeholder and nothing else."""
    return filled.names[0] if filled.names and text.strip() == f"{{{{{filled.names[0]}}}}}" else None


def _date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def _float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None
