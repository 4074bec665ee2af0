"""What rules know of other files: who is called, who calls, and what a called workflow is like.

Plain values that compare equal as long as nothing changed that a rule could notice, so that an edit
of one file makes the rules of another run again only when it matters to them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, NamedTuple

from loop_ls.text.record import equal_record


@equal_record
class Summary:
    """A workflow as its callers see it.

    `reads` are the simple variables used anywhere in it, `parameters` those that it does not define,
    `names` its steps and loops. `loop_variables` are used outside of its own loops. `last_prompt` is
    the prompt of the step that gives the result, None where that step has no prompt. `has_tools`: some
    step may use servers or skills.
    """

    name: str
    parameters: tuple[str, ...] = ()
    reads: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    loop_variables: tuple[str, ...] = ()
    last_step: str = ""
    last_prompt: str | None = None
    has_tools: bool = False

    @property
    def reads_input(self) -> bool:
        return "input" in self.reads


@equal_record
class Callee:
    """What a reference means. `key` is None where it means nothing; then `suggestions` may say what
    was meant, and `unsaved` tells of an open text of this name that is no file. `shadowed` is the root
    workflow that the one beside the caller hides (WF606); `by_folder`: only the caller's folder makes
    the reference work (WF612)."""

    key: str | None
    summary: Summary | None = None
    suggestions: tuple[str, ...] = ()
    unsaved: bool = False
    shadowed: str | None = None
    by_folder: bool = False
    is_caller: bool = False


class Call(NamedTuple):
    """One call of this file by another: from where, how, and with which arguments. `taken_as` says what the caller
    makes of the result: arguments of the next iteration (`previous`), and steps that read it."""

    path: str
    workflow: str
    element: str
    kind: Literal["template", "loop"]
    loop_mode: Literal["refine", "iterate"] | None
    supplies: frozenset[str]
    taken_as: tuple[str, ...] = ()

    def gives(self, name: str) -> bool:
        return name in self.supplies or (name == "item" and self.loop_mode == "iterate")


#: Names of which is remembered who does not supply them.
_MOST_NAMES = 64


@equal_record
class Callers:
    """All calls of this file, in the order of their files."""

    calls: tuple[Call, ...] = ()

    @property
    def loops(self) -> tuple[Call, ...]:
        return tuple(call for call in self.calls if call.kind == "loop")

    def without(self, name: str) -> tuple[Call, ...]:
        """The calls that do not supply a variable: looked for once, since a workflow may be called from many places."""
        known = self._without
        if name not in known:
            if len(known) >= _MOST_NAMES:
                known.clear()
            known[name] = tuple(call for call in self.calls if not call.gives(name))
        return known[name]

    def give(self, name: str) -> bool:
        """Whether some call supplies a variable."""
        return len(self.without(name)) < len(self.calls)

    @cached_property
    def _without(self) -> dict[str, tuple[Call, ...]]:
        return {}


@equal_record
class Circle:
    """A way from a call back to its own file. `guarded`: a step with `if` stands on every such way."""

    keys: tuple[str, ...]
    guarded: bool
