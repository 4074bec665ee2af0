"""The text of a checks or cases file as values, or the reasons why it cannot be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from loop_ls.formats.checks.keys import ASSERT, CASES_FILE, CHECKS_FILE, VERIFIERS, WITHOUT, taken_apart
from loop_ls.formats.checks.model import COMMAND_LIMIT, Case, Check, Checks, Target, TargetKind
from loop_ls.formats.checks.parts import WrittenCase, WrittenCheck, cases_in, checks_in
from loop_ls.formats.checks.problems import cases_flaws, checks_flaws
from loop_ls.formats.checks.target import target_of
from loop_ls.formats.common.json_types import flag, number, text_of, texts_of, whole
from loop_ls.formats.common.key_table import Shape
from loop_ls.formats.common.object_parts import Parts, parts_of_piece
from loop_ls.formats.common.plain_value import plain
from loop_ls.formats.workflow.problem_to_refusal import refusal, syntax_refusals
from loop_ls.formats.workflow.refusals import Refusal
from loop_ls.syntax.tree import Tree, read_yaml
from loop_ls.text.lines import Text


def read_checks(text: str | Text) -> Checks | list[Refusal]:
    """The checks of a file, or everything against it, in order. Never raises on content."""
    tree = _tree(text)
    if refusals := list(syntax_refusals(tree, "CK001", f"A checks file must be a mapping with `{ASSERT}`")):
        return refusals
    parts = _parts(tree, CHECKS_FILE)
    if refusals := [refusal(tree, one) for one in checks_flaws(parts) if not one.flaw.advice]:
        return sorted(refusals, key=lambda one: one.span)
    verifiers = None if parts.get(VERIFIERS) is None else texts_of(parts.node(VERIFIERS)) or ()
    return Checks(verifiers, _named(checks_in(parts)))


def read_cases(text: str | Text) -> tuple[Case, ...] | list[Refusal]:
    """The test cases of a file, or everything against it, in order. Never raises on content."""
    tree = _tree(text)
    if refusals := list(syntax_refusals(tree, "CK001", "A file of test cases must be a mapping with `tests`")):
        return refusals
    parts = _parts(tree, CASES_FILE)
    if refusals := [refusal(tree, one) for one in cases_flaws(parts) if not one.flaw.advice]:
        return sorted(refusals, key=lambda one: one.span)
    return tuple(map(_case, cases_in(parts)))


def _tree(text: str | Text) -> Tree:
    return read_yaml(text if isinstance(text, Text) else Text.of(text))


def _parts(tree: Tree, shape: Shape) -> Parts:
    return Parts.of(shape, (parts_of_piece(piece, shape) for piece in tree.pieces))


def _case(written: WrittenCase) -> Case:
    variables = plain(written.node("vars"))
    return Case(
        name=written.name,
        variables=variables if isinstance(variables, dict) else {},
        checks=_named(written.checks),
        without=texts_of(written.node(WITHOUT)) or (),
        holdout=flag(written.node("holdout")),
        skip=text_of(written.node("skip")) or "",
    )


def _named(written: Iterable[WrittenCheck]) -> tuple[Check, ...]:
    """Each with a name: its own, else its type, with a number from the second of a kind on."""
    found = list(written)
    taken = {one.text("name") for one in found}
    used: Counter[str] = Counter()
    named = []
    for one in found:
        name = one.text("name")
        while not name:
            used[one.key] += 1
            name = one.key if used[one.key] == 1 else f"{one.key}-{used[one.key]}"
            name = "" if name in taken else name
        named.append(_check(one, name))
    return tuple(named)


def _check(one: WrittenCheck, name: str) -> Check:
    known = taken_apart(one.text("type"))
    assert known is not None, "a check of no type is refused"
    type_, negated = known
    return Check(
        name=name,
        type=type_,
        negated=negated,
        value=plain(one.node("value")),
        on=_target(one),
        weight=_number(one, "weight", 1.0),
        severity="warn" if one.text("severity") == "warn" else "error",
        hint=one.text("hint"),
        reveal=flag(one.node("reveal")) is True,
        optional=flag(one.node("optional")) is True,
        path=one.text("path"),
        minimum=number(one.node("min")),
        maximum=number(one.node("max")),
        equals=number(one.node("equals")),
        threshold=number(one.node("threshold")),
        provider=one.text("provider"),
        model=one.text("model"),
        votes=whole(one.node("votes")) or 1,
        timeout=one.block.number("timeout") or COMMAND_LIMIT,
    )


def _target(one: WrittenCheck) -> Target:
    """`cost` and `latency` are of the run, whatever is said."""
    kind: TargetKind = "run" if one.type is not None and one.type.of_run else "result"
    found = target_of(one.text("on"), flag(one.node("every")) is True)
    return Target(kind) if found is None else found


def _number(one: WrittenCheck, name: str, default: float) -> float:
    found = number(one.node(name))
    return default if found is None else found
