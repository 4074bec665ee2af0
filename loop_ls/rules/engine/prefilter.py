"""What an element or a block has that a rule may be about, seen in one look.

Most rules are about something that most steps do not have. A rule says what it is `about`, in these
words or by keys of the block; where there is nothing of it, the rule is not even called.
"""

from __future__ import annotations

from functools import lru_cache

from loop_ls.formats.common.typed_mapping import Block
from loop_ls.index.element import Element
from loop_ls.syntax.nodes import Node, Sequence
from loop_ls.text.pattern import pattern

NEEDS = "needs"
USES = "uses"  # any variable
PATHS = "paths"  # variables with dots: `env.x`, `loop.x`, `draft.x`; and their first words alone
LOOP_VARIABLES = "loop variables"
ODD_BRACES = "odd braces"  # whatever is in double braces and is no variable
SINGLE_BRACES = "single braces"  # `{loop.output}`, `${env.TONE}`
STRAYS = "strays"
TAGS = "tags"
DOLLARS = "dollars"
CONDITION = "condition"  # `if`
UNTIL = "until"
LOOP = "loop"
CALL = "call"  # of another workflow
ORDER = "order"

FAULTS = "(faults)"
EMPTY = "(empty)"
UNKNOWN = "(unknown)"

Traits = tuple[str, ...]

_FIRST = ("env", "loop", "step")

_SINGLE_BRACES = pattern(r"(?<!\{)\$?\{\s*((?:env|loop|step)(?:\.[\w-]+)+)\s*\}(?!\})")


def single_braces(text: str) -> tuple[tuple[int, int, str], ...]:
    """What looks like a variable with a dot in one pair of braces: start, end and name."""
    return tuple((*found.span(), found[1]) for found in _SINGLE_BRACES.finditer(text))


@lru_cache(maxsize=64)
def of_element(element: Element) -> Traits:
    found = []
    if element.needs:
        found.append(NEEDS)
    if element.loop is not None:
        found.append(LOOP)
    if element.reference is not None:
        found.append(CALL)
    if element.strays:
        found.append(STRAYS)
    if "execution_order" in element.block.fields:
        found.append(ORDER)
    _of_slots(element, found)
    if element.uses:
        found.append(USES)
        names = [use[0] for use in element.uses if "." in use[0] or use[0] in _FIRST]
        if names:
            found.append(PATHS)
            if any(name[:5] == "loop." for name in names):
                found.append(LOOP_VARIABLES)
    return tuple(found)


def _of_slots(element: Element, found: list[str]) -> None:
    for slot in element.slots:
        text, kind = slot.scalar.text, slot.kind
        if kind == "if":
            found.append(CONDITION)
        elif kind == "until":
            found.append(UNTIL)
        if "$" in text and DOLLARS not in found:
            found.append(DOLLARS)
        if "{" in text and SINGLE_BRACES not in found and single_braces(text):
            found.append(SINGLE_BRACES)
        if "{" in text and TAGS not in found and ("{%" in text or "{#" in text):
            found.append(TAGS)
        for island in slot.islands:
            if island.kind != "variable" and ODD_BRACES not in found:
                found.append(ODD_BRACES)


def has_gap(node: Node | None) -> bool:
    """Whether a list has an entry with nothing behind its dash."""
    return isinstance(node, Sequence) and None in node.items


@lru_cache(maxsize=64)
def of_block(block: Block) -> Traits:
    """Its keys, and what is wrong with some of them."""
    found = [*block.fields]
    if block.unknown:
        found.append(UNKNOWN)
    faults = empty = False
    for _, entry, _, wrong, nothing in block.fields.values():
        if wrong:
            faults = True
        if nothing or has_gap(entry.value):
            empty = True
    if faults:
        found.append(FAULTS)
    if empty:
        found.append(EMPTY)
    return tuple(found)
