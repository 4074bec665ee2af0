"""What an element or a block has that a rule may be about, seen in one look.

Most rules are about something that most steps do not have. A rule says what it is `about`, in these
words or by keys of the block; where there is nothing of it, the rule is not even called.
"""

from __future__ import annotations

from collections.abc import Iterator
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
_CONDITIONS = {"if": CONDITION, "until": UNTIL}

_SINGLE_BRACES = pattern(r"(?<!\{)\$?\{\s*((?:env|loop|step)(?:\.[\w-]+)+)\s*\}(?!\})")


def single_braces(text: str) -> tuple[tuple[int, int, str], ...]:
    """What looks like a variable with a dot in one pair of braces: start, end and name."""
    if "{" not in text:  # the pattern begins anywhere: it would take a quarter of a key's time in a long prompt
        return ()
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
    found += dict.fromkeys(_of_slots(element))
    if element.uses:
        found.append(USES)
        if any("." in use.name or use.name in _FIRST for use in element.uses):
            found.append(PATHS)
        if any(use.name.startswith("loop.") for use in element.uses):
            found.append(LOOP_VARIABLES)
    return tuple(found)


def _of_slots(element: Element) -> Iterator[str]:
    for slot in element.slots:
        text = slot.scalar.text
        if slot.kind in _CONDITIONS:
            yield _CONDITIONS[slot.kind]
        if "$" in text:
            yield DOLLARS
        if single_braces(text):
            yield SINGLE_BRACES
        if "{%" in text or "{#" in text:
            yield TAGS
        if any(island.kind != "variable" for island in slot.islands):
            yield ODD_BRACES


def has_gap(node: Node | None) -> bool:
    """Whether a list has an entry with nothing behind its dash."""
    return isinstance(node, Sequence) and None in node.items


@lru_cache(maxsize=64)
def of_block(block: Block) -> Traits:
    """Its keys, and what is wrong with some of them."""
    found = [*block.fields]
    if block.unknown:
        found.append(UNKNOWN)
    if any(field.faults for field in block.fields.values()):
        found.append(FAULTS)
    if any(field.empty or has_gap(field.entry.value) for field in block.fields.values()):
        found.append(EMPTY)
    return tuple(found)
