"""What an edit changed, in the topics that rules ask about (see `rules.engine.tracked_view`).

Works on two versions of one document that share whatever the edit did not touch. Too many topics
cost time, too few would keep a finding that is no longer true: a property test compares with a check
from scratch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, count
from operator import is_not
from typing import TypeVar

from loop_ls.formats.workflow.placeholder_syntax import producers
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.index.names import definitions
from loop_ls.rules.engine import tracked_view as topics
from loop_ls.rules.engine.queries import is_env_unread, last_step
from loop_ls.rules.engine.tracked_view import Topic
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Mapping

T = TypeVar("T")


def difference(old: Sequence[T], new: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """What is left of two sequences when their common beginning and end are taken away, and of equally long ones what
    is the same in between. Compares identities."""
    start = _common(old, new)
    old, new = old[start:], new[start:]
    end = _common(old[::-1], new[::-1])
    old, new = old[: len(old) - end], new[: len(new) - end]
    if len(old) != len(new):
        return old, new
    differs = list(map(is_not, old, new))
    return tuple(compress(old, differs)), tuple(compress(new, differs))


def _common(old: Sequence[T], new: Sequence[T]) -> int:
    return next(compress(count(), map(is_not, old, new)), min(len(old), len(new)))


def changed_topics(
    old: Document, new: Document, gone: Sequence[Element], come: Sequence[Element], pieces: Iterable[Piece]
) -> set[Topic]:
    """The topics of an edit that replaced the elements `gone` by `come` and touched `pieces`."""
    found: set[Topic] = set()
    if gone or come:
        found |= _of_elements(old, new, gone, come)
    if old.head is not new.head:
        found |= _of_head(old, new)
    if old.tree.faults != new.tree.faults or old.tree.root_kind != new.tree.root_kind:
        found.add(topics.FAULTS)
    if any(_is_odd(piece) for piece in pieces):
        found.update((topics.ODD, topics.SHAPE))
    return found


def _of_elements(old: Document, new: Document, gone: Sequence[Element], come: Sequence[Element]) -> set[Topic]:
    found: set[Topic] = {topics.MODELS}
    if last_step(old.elements) is not last_step(new.elements):
        found.add(topics.LAST)
    if [element.kind for element in gone] != [element.kind for element in come]:
        found.add(topics.SHAPE)
    found.update(_of_names(old, new, gone, come))
    found.update(("mentions", name) for name in _mentioned_otherwise(gone, come))
    found.update(("mentions", name.rpartition(".")[0]) for name in _mentioned_otherwise(gone, come) if "." in name)
    touched = [element.mentioned for element in (*gone, *come)]
    found.update(("users", name) for name in new.parameters if any(name in names for names in touched))
    found.update(("users", name) for name in {*old.parameters} ^ {*new.parameters})
    same_graph = old.graph is new.graph
    if not same_graph or [one.loop_mode for one in gone] != [one.loop_mode for one in come]:
        found.add(topics.GRAPH)
    if not same_graph or old.graph.cycles:
        found.add(topics.CYCLES)
    if old.parameters is not new.parameters:
        found.add("parameters")
    return found


def _of_names(old: Document, new: Document, gone: Sequence[Element], come: Sequence[Element]) -> Iterator[Topic]:
    names = dict.fromkeys(one.name for element in (*gone, *come) for one in definitions(element))
    for name in names:
        yield "place", name
    for name in names:
        before, after = old.names.get(name, ()), new.names.get(name, ())
        if [_meaning(one.element, one.kind) for one in before] != [_meaning(one.element, one.kind) for one in after]:
            yield "name", name
        if [one.kind for one in before] != [one.kind for one in after]:
            yield topics.NAMES


def _meaning(element: Element, kind: str) -> tuple[object, ...]:
    policy = element.loop.text("on_failure") if element.loop is not None else None
    return kind, element.name, element.mode, element.loop_mode, element.node.execution_order, policy


def _mentioned_otherwise(gone: Sequence[Element], come: Sequence[Element]) -> set[str]:
    if len(gone) != 1 or len(come) != 1:
        return set(chain.from_iterable(element.mentioned for element in (*gone, *come)))
    before, after = gone[0], come[0]
    names = set(before.mentioned ^ after.mentioned)
    for variable in set(before.node.reads) ^ set(after.node.reads):
        names.update(producers(variable))
    if before.name != after.name:  # who mentions it is asked without the element itself
        names.update((before.name, after.name))
    return names


def _of_head(old: Document, new: Document) -> set[Topic]:
    found: set[Topic] = {topics.PIECES, topics.SHAPE}
    for name in old.head.names | new.head.names:
        before, after = old.head.get(name), new.head.get(name)
        if before is None or after is None or before.piece is not after.piece:
            found.add(("top", name))
    if ("top", "execution") in found:
        found.add(topics.MODELS)
        found.update(("execution", key) for key in _settings_changed(old, new))
    if old.env.keys() != new.env.keys() or is_env_unread(old) != is_env_unread(new):
        found.update(("env", ("mentions", "env")))  # a mentioned constant may be misspelt, or no longer
    return found


def _settings_changed(old: Document, new: Document) -> Iterator[str]:
    before = old.execution.fields if old.execution is not None else {}
    after = new.execution.fields if new.execution is not None else {}
    for key in {*before, *after}:
        one, other = before.get(key), after.get(key)
        if one is None or other is None or one.value != other.value or isinstance(one.value, tuple):
            yield key


def _is_odd(piece: Piece) -> bool:
    """Whether a piece may hold entries of `steps` or `loops` that are no elements."""
    if piece.section not in ("steps", "loops"):
        return False
    return piece.node is not None if piece.kind == "head" else not isinstance(piece.node, Mapping)
