"""Where a document is cut: one unit per top-level entry and per item of a top-level section of items.

Only line starts are looked at, so a cut can be wrong (a quoted text may go on at the left margin);
`syntax.tree` knows the signs of that and then reads the document as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from loop_ls.syntax.merge_conflicts import is_marker
from loop_ls.syntax.yaml.escapes import unquoted
from loop_ls.syntax.yaml.line_patterns import ODD_BLANKS, is_blank, is_dash
from loop_ls.text.pattern import pattern

Kind = Literal["lead", "entry", "head", "item", "tail", "root"]

#: What comes behind a unit: an item, another unit, or the end of the text.
Follower = Literal["item", "unit", "end"]

#: Top-level keys whose block sequences are cut into items.
SECTIONS = frozenset({"steps", "loops", "roles", "assistants"})

#: as long as libyaml lets a key be
_KEY = pattern(
    r"""(?:[&!]\S*[ \t]+)*
    (?: (?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')
      | (?P<plain>(?:[^\s#&*!|>'"%@`\[\]{},?:-]|-(?=\S))(?:[^\s:#]|:(?=\S)|(?<=\S)\#|[ \t]+(?=[^\s:#])){0,1023})
    )[ \t]*:(?=[ \t]|$)""",
    re.VERBOSE,
)
_MARKER = pattern(r"(---|\.\.\.)(?=[ \t]|$)")
_BARE_MARKER = pattern(r"---[ \t]*(?:#.*)?$")
_MISSED_BLANK = pattern(r"-[A-Za-z_][\w-]*:")

NO_ITEMS = -2
UNKNOWN = -1


class State(NamedTuple):
    """What the lines so far mean for the next one. `dash` is the indent of the section's items.

    `marked`: the `---` that may stand in front of the document is there; `begun`: its content is.
    """

    section: str | None
    dash: int
    marked: bool
    begun: bool
    over: bool


START = State(None, NO_ITEMS, False, False, False)


class Unit(NamedTuple):
    """The start of a unit: its first line, what it is, and the states in front of and in it."""

    line: int
    kind: Kind
    before: State
    after: State


def cut(lines: Iterable[str], state: State) -> Iterator[Unit]:
    """The units of `lines`, which follow a place with `state`. Lines in front of the first one that
    begins a unit make a unit of their own, the lead."""
    before, dash, over = state, state.dash, state.over
    none = True
    for number, line in enumerate(lines):
        if over or not line:
            continue
        start = line[0]
        if start == " " and before.begun and (dash == NO_ITEMS or "-" not in line[: dash + 1 or None]):
            continue
        if start == "#" or (start in " \t" and is_blank(line)) or (start in "<=" and is_marker(line)):
            continue
        found = begins(line, before)
        if found is None:
            if not before.begun:
                before = before._replace(marked=before.marked or line[0] == "-")
            continue
        if none and number > 0:
            yield Unit(0, "lead", state, before)
        kind, after = found
        yield Unit(number, kind, before, after)
        none, before, over = False, after, after.over
        dash = after.dash
    if none:
        yield Unit(0, "lead", state, before)


def begins(line: str, state: State) -> tuple[Kind, State] | None:
    """What begins with this line, which is neither blank nor a comment, and the state behind it."""
    start = line[0]
    if not state.begun and not state.marked and (start == "%" or _BARE_MARKER.match(line)):
        return None
    if (state.begun or state.marked) and (start == "%" or _MARKER.match(line)):
        return "tail", state._replace(over=True)
    if state.begun and (start == " " or is_dash(line)):
        item = _is_item(line, state.dash)
        return ("item", state._replace(dash=len(line) - len(line.lstrip(" ")))) if item else None
    if state.begun and (start in "]}|>\t" or start in ODD_BLANKS):
        return None  # cannot begin an entry at the left margin
    key = key_of(line)
    if key in SECTIONS:
        return "head", State(key, UNKNOWN, state.marked, True, False)
    if key is None and start not in "*[{!&":
        return "entry", state._replace(begun=True)  # half typed: what follows still belongs to the section
    return "entry", State(key, NO_ITEMS, state.marked, True, False)


def key_of(line: str) -> str | None:
    """The key that a line starts with at its left margin."""
    found = _KEY.match(line) if ":" in line else None
    if not found:
        return None
    quoted = found["quoted"]
    return unquoted(quoted) if quoted else found["plain"]


def _is_item(line: str, dash: int) -> bool:
    """An item that stands further left than those in front of it is one, though a wrong one."""
    if dash == NO_ITEMS:
        return False
    body = line.lstrip(" ")
    if body[0] != "-" or (dash != UNKNOWN and len(line) - len(body) > dash):
        return False
    return is_dash(body) or (dash != UNKNOWN and bool(_MISSED_BLANK.match(body)))
