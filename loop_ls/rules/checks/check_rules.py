"""Checks of a loop file, in its checks file or in one of its test cases: keys, types, values and places."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.checks.keys import VERIFIERS
from loop_ls.formats.checks.model import Target
from loop_ls.formats.checks.parts import cases_in, checks_in
from loop_ls.formats.checks.target import INPUT, Places, target_of
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.common.object_parts import Parts
from loop_ls.formats.common.regex_check import compiled, is_explosive
from loop_ls.formats.common.secret import is_secret
from loop_ls.formats.common.typed_mapping import Block, Unknown
from loop_ls.formats.registry import TEST_CASES
from loop_ls.index.checked_file import places_in
from loop_ls.rules.checks.value_variables import texts_in, variables_in_value
from loop_ls.rules.docs.phrases import did_you_mean, shortened
from loop_ls.rules.engine.context import UNNECESSARY, Draft, Spot, draft, value_span
from loop_ls.rules.engine.finding import Severity, Tier
from loop_ls.rules.engine.object_view import ObjectView, conflict_drafts, mark, root_message, syntax_fault
from loop_ls.rules.engine.registry import rule
from loop_ls.rules.fixes import builders
from loop_ls.rules.role_loop.role_loop_rules import reworded
from loop_ls.rules.workflow.yaml_rules import renamed, unknown_sentence
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Mapping, Scalar, Sequence, resolved
from loop_ls.text.pattern import pattern

BOTH = ("checks", "cases")
_DIGIT = pattern(r"\d")


@rule("CK001", "syntax", Severity.ERROR, on=("checks syntax", "cases syntax"))
def syntax(view: ObjectView) -> Iterator[Draft]:
    """Checks or test cases that cannot be read, or that are not a mapping of keys.

    Bad::
        #- report.checks.yaml
        assert: [{type: is-json}
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.checks.yaml
        assert: [{type: is-json}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    if conflicts := conflict_drafts(view.document):
        yield from conflicts
        return
    fault = syntax_fault(view.document)
    if fault is not None:
        yield Draft(Spot(None, fault.span), fault.message)
    else:
        yield Draft(view.begin(), f"Checks and test cases must be a mapping of keys, not {root_message(view.document)}")


@rule("CK002", "unknown-key", Severity.ERROR, on=BOTH, fixes=(Tier.SAFE,))
def unknown_key(view: ObjectView) -> Iterator[Draft]:
    """Unknown key.

    Bad::
        #- report.checks.yaml
        assert: [{type: is-json, weigth: 2}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.checks.yaml
        assert: [{type: is-json, weight: 2}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    for stray in view.parts.strays:
        better = renamed(stray.unknown, set(view.parts.keys), view.parts.shape)
        span = stray.unknown.entry.key.span
        fix = (builders.reword(stray.piece, span, better),) if better else ()
        yield draft(stray.piece, span, unknown_sentence(stray.unknown, view.parts.shape), fixes=fix)
    for piece, block in _blocks(view):
        yield from (_unknown(piece, block, unknown) for unknown in block.unknown if not unknown.entry.merged)


def _unknown(piece: Piece, block: Block, unknown: Unknown) -> Draft:
    span, better = unknown.entry.key.span, renamed(unknown, block.fields, block.shape)
    fix = (builders.reword(piece, span, better),) if better else ()
    return draft(piece, span, unknown_sentence(unknown, block.shape), fixes=fix)


def _blocks(view: ObjectView) -> Iterator[tuple[Piece, Block]]:
    """Every case and every check."""
    yield from ((case.piece, case.block) for case in cases_in(view.parts))
    yield from ((one.piece, one.block) for one in checks_in(view.parts))


@rule("CK003", "bad-value", Severity.ERROR, on=BOTH, fixes=(Tier.SAFE,))
def bad_value(view: ObjectView) -> Iterator[Draft]:
    """Wrong type, or a value outside its list or range.

    Bad::
        #- report.checks.yaml
        assert: [{type: command, value: pytest -q}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.checks.yaml
        assert: [{type: command, value: [pytest, -q]}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    for placed in view.flaws("CK003"):
        yield view.of_flaw(placed, *reworded(placed))


@rule("CK004", "missing", Severity.ERROR, on=BOTH)
def missing(view: ObjectView) -> Iterator[Draft]:
    """Missing type of a check, value to compare with, or name of a test case.

    Bad::
        #- report.checks.yaml
        assert: [{type: contains}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.checks.yaml
        assert: [{type: contains, value: waves}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    yield from map(view.of_flaw, view.flaws("CK004"))


@rule("CK005", "unused-key", Severity.WARNING, on=BOTH)
def unused_key(view: ObjectView) -> Iterator[Draft]:
    """Key that the check type ignores.

    Bad::
        #- report.checks.yaml
        assert: [{type: contains, value: waves, threshold: 0.5}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.checks.yaml
        assert: [{type: contains, value: waves}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    for placed in view.flaws("CK005"):
        yield Draft(view.spot(placed), placed.flaw.message, tags=UNNECESSARY)


@rule("CK006", "unknown-type", Severity.ERROR, on=BOTH, fixes=(Tier.SAFE,))
def unknown_type(view: ObjectView) -> Iterator[Draft]:
    """Unknown or unsupported check type.

    Use `command` to call your own programs: `javascript`, `python` and `similar` are not supported.

    Bad::
        #- report.checks.yaml
        assert: [{type: contain, value: waves}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.checks.yaml
        assert: [{type: contains, value: waves}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    for placed in view.flaws("CK006"):
        yield view.of_flaw(placed, *reworded(placed))


@rule("CK007", "repeated-name", Severity.ERROR, on=BOTH)
def repeated_name(view: ObjectView) -> Iterator[Draft]:
    """Two checks, or two test cases, with the same name.

    Bad::
        #- report.checks.yaml
        assert: [{name: form, type: is-json}, {name: form, type: contains, value: waves}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.checks.yaml
        assert: [{name: form, type: is-json}, {name: waves, type: contains, value: waves}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    yield from map(view.of_flaw, view.flaws("CK007"))


@rule("CK008", "bad-pattern", Severity.ERROR, on=BOTH)
def bad_pattern(view: ObjectView) -> Iterator[Draft]:
    """Invalid pattern.

    Bad::
        #- report.checks.yaml
        assert: [{type: regex, value: "(waves"}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.checks.yaml
        assert: [{type: regex, value: "(waves)"}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    yield from map(view.of_flaw, view.flaws("CK008"))


@rule("CK009", "slow-pattern", Severity.WARNING, on=BOTH)
def slow_pattern(view: ObjectView) -> Iterator[Draft]:
    """Nested repetition that can take too long to match on some texts.

    A search that takes longer than five seconds gives no verdict, and the check ends with an error.

    Bad::
        #- report.checks.yaml
        assert: [{type: regex, value: "(a+)+b"}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.checks.yaml
        assert: [{type: regex, value: "a+b"}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    for one in checks_in(view.parts):
        source = compiled(text_of(one.node("value")) or "").source
        if one.bare_type == "regex" and source and is_explosive(source):
            told = "Nested repetition: on some texts this pattern takes too long to match"
            yield draft(one.piece, value_span(one.block.fields["value"]), told)


@rule("CK010", "bad-schema", Severity.ERROR, on=BOTH)
def bad_schema(view: ObjectView) -> Iterator[Draft]:
    """Value of `is-json` or `contains-json` that is not a valid JSON Schema.

    Bad::
        #- report.checks.yaml
        assert: [{type: is-json, value: {type: objekt}}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.checks.yaml
        assert: [{type: is-json, value: {type: object}}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    yield from map(view.of_flaw, view.flaws("CK010"))


@rule("CK011", "unknown-place", Severity.ERROR, on=BOTH, fixes=(Tier.SAFE,))
def unknown_place(view: ObjectView) -> Iterator[Draft]:
    """Unknown target: a step, stage or loop that the loop file does not have, or an invalid place.

    Bad::
        #- report.checks.yaml
        assert: [{on: step.wriet, type: is-json}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.checks.yaml
        assert: [{on: step.write, type: is-json}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    yield from map(view.of_flaw, view.flaws("CK011"))
    places = None if view.subject is None else places_in(view.subject)
    if places is None:
        return
    for one in checks_in(view.parts):
        target = target_of(one.text("on"))
        missing = None if target is None else places.missing(target)
        if missing is None:
            continue
        on = one.block.fields["on"]
        plain = isinstance(on.node, Scalar)
        fix = (builders.reword(one.piece, on.span, missing.better),) if missing.better and plain else ()
        yield draft(one.piece, value_span(on), missing.told, fixes=fix)
    yield from _unknown_verifiers(view, places)


def _unknown_verifiers(view: ObjectView, places: Places) -> Iterator[Draft]:
    part, names = view.parts.get(VERIFIERS), places.parts
    found = None if part is None else resolved(part.node)
    if part is None or not isinstance(found, Sequence):
        return
    for item in [item for item in found.items if item is not None]:
        name = text_of(item)
        if name is not None and name not in names:
            better = nearest(name, names)
            missing = places.missing(Target(places.part, name))
            told = f"`{name}` gives no verdict" if missing is None else missing.told
            fix = (builders.reword(part.piece, item.span, better),) if better and isinstance(item, Scalar) else ()
            yield draft(part.piece, mark(item), told, fixes=fix)


@rule("CK012", "rubric-threshold", Severity.WARNING, on=BOTH)
def rubric_threshold(view: ObjectView) -> Iterator[Draft]:
    """Rubric that mentions numbers, without `threshold`.

    Without a threshold only the judge's yes or no counts, whatever score it gives.

    Bad::
        #- report.checks.yaml
        assert: [{type: llm-rubric, value: Give 1 for a text that names each risk.}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.checks.yaml
        assert: [{type: llm-rubric, value: Give 1 for a text that names each risk., threshold: 0.7}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    for one in checks_in(view.parts):
        speaks = one.bare_type == "llm-rubric" and _DIGIT.search(text_of(one.node("value")) or "")
        if speaks and not one.block.meant("threshold"):
            told = "The rubric mentions numbers; set the passing score in `threshold`"
            yield draft(one.piece, value_span(one.block.fields["value"]), told)


@rule("CK014", "secret", Severity.ERROR, on=BOTH)
def secret(view: ObjectView) -> Iterator[Draft]:
    """API key or token in a check or test case.

    These files are shared.

    Bad::
        #- report.checks.yaml
        assert: [{type: not-contains, value: sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.checks.yaml
        assert: [{type: not-contains, value: sk-}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    nodes = [(one.piece, node) for one in checks_in(view.parts) if (node := one.node("value")) is not None]
    nodes += [(case.piece, node) for case in cases_in(view.parts) if (node := case.node("vars")) is not None]
    for piece, top in nodes:
        for node in texts_in(top):
            if is_secret(text_of(node) or ""):
                yield draft(piece, mark(node), "Possible secret in the file; use an environment variable instead")


@rule("CK022", "unfilled-variable", Severity.WARNING, on=BOTH, fixes=(Tier.SAFE,))
def unfilled_variable(view: ObjectView) -> Iterator[Draft]:
    """Variable in the value of a check that nothing fills in.

    In the value of a check, `{{input}}` and the parameters of the run are filled in. Any other name stays as it is
    written, braces included, so `contains` never passes and `not-contains` always does.

    Bad::
        #- report.checks.yaml
        assert: [{type: icontains, value: "{{inptu}}"}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.checks.yaml
        assert: [{type: icontains, value: "{{input}}"}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    places = None if view.subject is None else places_in(view.subject)
    if places is None:
        return
    beside = view.workspace.beside(view.document, TEST_CASES)
    known = [INPUT, *places.reads, *_given(view.parts), *(() if beside is None else _given(beside.whole.parts))]
    for one in checks_in(view.parts):
        for island in variables_in_value(one):
            if island.name is None or island.name in known:
                continue
            better = nearest(island.name, known)
            told = f"Nothing fills in `{{{{{shortened(island.name)}}}}}` here{did_you_mean(island.name, known)}"
            at = island.raw.find(island.name)
            name = island.part(at, at + len(island.name))
            fix = (builders.replace(one.piece, name, better, f"Change to `{better}`"),) if better else ()
            yield draft(one.piece, island.span, told, fixes=fix)


def _given(parts: Parts) -> Iterator[str]:
    """The variables that test cases hand over."""
    for case in cases_in(parts):
        found = resolved(case.node("vars"))
        yield from (entry.key.text for entry in found.entries) if isinstance(found, Mapping) else ()
