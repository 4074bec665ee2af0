"""Everything that keeps a checks or cases file from meaning what it says.

What takes the loop file beside it, or the settings, is said by the rules (`rules.checks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from loop_ls.formats.checks.json_schema import schema_problem
from loop_ls.formats.checks.keys import (
    ASSERT,
    NAMES_OF_TYPES,
    REFUSED,
    SPECIAL,
    TESTS,
    VERIFIERS,
    TypeOfCheck,
)
from loop_ls.formats.checks.parts import WrittenCase, WrittenCheck, cases_in, checks_in
from loop_ls.formats.checks.target import target_of
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.json_types import (
    WORDS,
    Kind,
    is_blank,
    kind_of,
    number,
    out_of_range,
    text_of,
    texts_of,
    wrong_type,
)
from loop_ls.formats.common.key_table import Key, Type
from loop_ls.formats.common.object_parts import Item, Part, Parts
from loop_ls.formats.common.plain_value import plain
from loop_ls.formats.common.problem import Flaw, Placed
from loop_ls.formats.common.regex_check import compiled
from loop_ls.formats.common.typed_mapping import Block, Field
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Entry, Node, Sequence, resolved

_VOTES = (1, 3)
_SCALARS: tuple[Kind, ...] = ("text", "number", "true or false")


def checks_flaws(parts: Parts) -> Iterator[Placed]:
    """In the order of the file, more or less."""
    part = parts.get(VERIFIERS)
    if part is not None:
        yield from _placed(part.piece, _field(part.field))
    yield from _list(parts, ASSERT, "A check must be a mapping with `type`")
    found = list(checks_in(parts))
    for one in found:
        yield from _placed(one.piece, _check(one))
    yield from _twice("check", ((one.piece, one.node("name")) for one in found))


def cases_flaws(parts: Parts) -> Iterator[Placed]:
    """In the order of the file, more or less."""
    part = parts.get(TESTS)
    if part is None and not parts.listed(TESTS) and not parts.meant(TESTS):
        piece, at = parts.first or (None, None)
        yield Placed(piece, Flaw("CK004", at, f"Missing `{TESTS}` in a file of test cases"))
    if part is not None and isinstance(resolved(part.node), Sequence) and not parts.listed(TESTS):
        yield Placed(part.piece, Flaw("CK004", part.node, f"`{TESTS}` is empty; list one test case or more"))
    yield from _list(parts, TESTS, "A test case must be a mapping with `name`")
    found = list(cases_in(parts))
    for case in found:
        yield from _placed(case.piece, _case(case))
        own = list(case.checks)
        for one in own:
            yield from _placed(one.piece, _check(one))
        yield from _twice("check", ((one.piece, one.node("name")) for one in own))
    yield from _twice("test case", ((case.piece, case.node("name")) for case in found))


def _placed(piece: Piece, flaws: Iterable[Flaw]) -> Iterator[Placed]:
    return (Placed(piece, flaw) for flaw in flaws)


def _list(parts: Parts, name: str, needed: str) -> Iterator[Placed]:
    part, items = parts.get(name), parts.listed(name)
    if part is not None and not items and not isinstance(resolved(part.node), Sequence):
        yield Placed(part.piece, Flaw("CK003", part.node or part.entry, f"`{name}` must be a list"))
    for item in items:
        if item.block is None:
            yield Placed(item.piece, Flaw("CK003", _place_of(item, part), needed))


def _place_of(item: Item, part: Part | None) -> Node | Entry | None:
    return item.node or (None if part is None else part.entry)


def _twice(what: str, named: Iterable[tuple[Piece, Node | None]]) -> Iterator[Placed]:
    seen: set[str] = set()
    for piece, node in named:
        name = text_of(node)
        if name and name in seen:
            yield Placed(piece, Flaw("CK007", node, f"Duplicate {what} name `{name}`"))
        seen.add(name or "")


# -- values of keys -------------------------------------------------------------------------------


def _field(field: Field) -> Iterator[Flaw]:
    key, node = field.key, field.node
    if kind_of(node) == "null":
        if key.type is not Type.ANY:
            yield Flaw("CK003", node or field.entry, f"`{key.name}` is empty; it must be {_words(key)}")
        return
    if field.fault == "duration":
        yield Flaw("CK003", node, f"`{key.name}` must be {Type.DURATION.value}")
        return
    wrong = wrong_type(key, node)
    if wrong is not None:
        yield Flaw("CK003", wrong.node, f"`{key.name}` must be {_words(key)}")
        return
    text, value = text_of(node), number(node)
    if key.choices and key.name != "type" and text is not None and text not in key.choices:
        better = nearest(text, key.choices)
        listed = ", ".join(f"`{choice}`" for choice in key.choices)
        hint = f"did you mean `{better}`?" if better else f"expected {listed}"
        yield Flaw("CK003", node, f"Unknown `{key.name}` `{text}`; {hint}", better)
    limits = None if value is None else out_of_range(key, value)
    if limits is not None:
        yield Flaw("CK003", node, f"`{key.name}` must be {limits}")
    elif key.name == "votes" and value is not None and value not in _VOTES:
        yield Flaw("CK003", node, "`votes` must be 1 or 3")


def _words(key: Key) -> str:
    return WORDS.get(key.type) or key.type.value


def _fields(block: Block, *own: str) -> Iterator[Flaw]:
    for field in block.fields.values():
        if field.key.name not in own:
            yield from _field(field)


# -- a case ---------------------------------------------------------------------------------------


def _case(case: WrittenCase) -> Iterator[Flaw]:
    yield from _fields(case.block)
    if case.block.get("name") is None and not case.block.meant("name"):
        yield Flaw("CK004", _first(case.block), "Missing `name` of the test case")
    elif case.block.get("name") is not None and kind_of(case.node("name")) == "text" and is_blank(case.node("name")):
        yield Flaw("CK004", case.node("name"), "`name` is empty")


def _first(block: Block) -> Node | Entry:
    return block.node.entries[0] if block.node.entries else block.node


# -- a check --------------------------------------------------------------------------------------


def _check(one: WrittenCheck) -> Iterator[Flaw]:
    yield from _fields(one.block)
    known = one.type
    if known is None:
        yield from _no_type(one)
        return
    yield from _value(one, known)
    yield from _special(one, known)
    yield from _on(one, known)


def _no_type(one: WrittenCheck) -> Iterator[Flaw]:
    field, written = one.block.get("type"), one.text("type")
    if field is None:
        if not one.block.meant("type"):
            yield Flaw("CK004", _first(one.block), "Missing `type` of the check")
        return
    if not written:
        return  # it is told as a bad value
    instead = REFUSED.get(written.removeprefix("not-"))
    if instead is not None:
        yield Flaw("CK006", field.node, f"Unsupported check type `{written}`; use `{instead}`")
        return
    better = nearest(written, NAMES_OF_TYPES)
    hint = f"did you mean `{better}`?" if better else "use, for example, `contains`, `regex`, `is-json` or `command`"
    yield Flaw("CK006", field.node, f"Unknown check type `{written}`; {hint}", better)


def _value(one: WrittenCheck, known: TypeOfCheck) -> Iterator[Flaw]:
    field = one.block.get("value")
    type_ = one.bare_type
    if field is None or kind_of(field.node) == "null":
        if known.value and known.value_needed and not (field is None and one.block.meant("value")):
            at = one.block.fields["type"].node if field is None else (field.node or field.entry)
            yield Flaw("CK004", at, f"Missing `value`: `{type_}` needs {_VALUES[known.value]}")
        return
    if not known.value:
        yield Flaw("CK005", field.entry, f"`{type_}` ignores `value`", advice=True)
        return
    yield from _OF_VALUE[known.value](field.node, type_)


def _of_text(node: Node | None, type_: str) -> Iterator[Flaw]:
    if kind_of(node) not in _SCALARS:
        yield Flaw("CK003", node, f"The value of `{type_}` must be a string")
    elif type_ != "equals" and not str(plain(node)).strip():
        yield Flaw("CK004", node, f"`value` is empty, so every output passes `{type_}`")
    elif type_ == "regex" and (problem := compiled(str(plain(node))).problem):
        yield Flaw("CK008", node, f"Invalid pattern: {problem}")


def _of_texts(node: Node | None, type_: str) -> Iterator[Flaw]:
    found = resolved(node)
    listed = found.items if isinstance(found, Sequence) else ()
    if not listed or any(kind_of(item) not in _SCALARS for item in listed):
        yield Flaw("CK003", node, f"The value of `{type_}` must be a list of strings")
    elif any(not str(plain(item)).strip() for item in listed):
        yield Flaw("CK004", node, f"Empty value in `{type_}`: every output contains it")


def _of_words(node: Node | None, type_: str) -> Iterator[Flaw]:
    words = texts_of(node)
    if words is None:
        told = "must be a list of arguments, such as `[pytest, -q]`; it runs without a shell"
        yield Flaw("CK003", node, f"The value of `{type_}` {told}")
    elif not words or not words[0].strip():
        yield Flaw("CK004", node, "Empty command: no program to run")
    else:
        found = resolved(node)
        wrong = [] if not isinstance(found, Sequence) else [one for one in found.items if kind_of(one) != "text"]
        for item in wrong:
            yield Flaw("CK003", item or node, "Arguments of a command must be strings; add quotes")


def _of_schema(node: Node | None, type_: str) -> Iterator[Flaw]:
    problem = schema_problem(plain(node))
    if problem:
        yield Flaw("CK010", node, f"Invalid JSON Schema: {problem}")


_OF_VALUE: dict[str, Callable[[Node | None, str], Iterator[Flaw]]] = {
    "text": _of_text,
    "texts": _of_texts,
    "words": _of_words,
    "schema": _of_schema,
}
_VALUES = {
    "text": "a text",
    "texts": "a list of strings",
    "words": "the arguments of a command",
    "schema": "a JSON Schema",
}


def _special(one: WrittenCheck, known: TypeOfCheck) -> Iterator[Flaw]:
    """Fields that belong to some types only."""
    type_ = one.bare_type
    for name, field in one.block.fields.items():
        if name in SPECIAL and name not in known.fields and name != "value":
            yield Flaw("CK005", field.entry, f"`{type_}` ignores `{name}`", advice=True)
    if known.needed and not one.block.meant(known.needed):
        yield Flaw("CK004", one.block.fields["type"].node, f"`{type_}` needs `{known.needed}`")
    if known.one_of and not any(one.block.meant(name) for name in known.one_of):
        listed = ", ".join(f"`{name}`" for name in known.one_of)
        yield Flaw("CK004", one.block.fields["type"].node, f"`{type_}` needs one of {listed}")
    least, most = number(one.node("min")), number(one.node("max"))
    if type_ == "number" and least is not None and most is not None and least > most:
        yield Flaw("CK003", one.node("max"), f"`max` must be `min` ({least:g}) or more: no number passes")
    threshold = number(one.node("threshold"))
    if type_ == "llm-rubric" and threshold is not None and threshold > 1:
        yield Flaw("CK003", one.node("threshold"), "`threshold` of a rubric must be from 0 to 1")


def _on(one: WrittenCheck, known: TypeOfCheck) -> Iterator[Flaw]:
    field, written = one.block.get("on"), one.text("on")
    if field is not None and written:
        target = target_of(written)
        if target is None:
            told = f"Unknown target `{written}`; use `result`, `step.NAME`, `stage.NAME`, `loop.NAME` or `run`"
            yield Flaw("CK011", field.node, told)
        elif known.of_run and target.kind != "run":
            yield Flaw("CK011", field.node, f"`{one.bare_type}` applies only to the whole run; use `run`")
        elif target.kind == "run" and not known.of_run and one.bare_type != "command":
            yield Flaw("CK011", field.node, f"A run has no text for `{one.bare_type}`; use `result`")
    every = one.block.get("every")
    if every is not None and not written.startswith("loop."):
        yield Flaw("CK005", every.entry, "`every` has no effect without `on: loop.NAME`", advice=True)
