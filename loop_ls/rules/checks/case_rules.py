"""Test cases of a loop file: what they hand over, what checks them, and which are held out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loop_ls.formats.checks.keys import ASSERT, WITHOUT
from loop_ls.formats.checks.parts import WrittenCase, WrittenCheck, cases_in, checks_in
from loop_ls.formats.checks.target import Places
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.json_types import flag, kind_of, text_of
from loop_ls.formats.common.plain_value import plain
from loop_ls.formats.registry import DECLARED_CHECKS
from loop_ls.index.checked_file import places_in
from loop_ls.index.disk.uris import folder_of
from loop_ls.rules.checks.value_variables import variables_in_value
from loop_ls.rules.docs.phrases import did_you_mean, listed, shortened
from loop_ls.rules.engine.context import UNNECESSARY, Draft, draft
from loop_ls.rules.engine.finding import Severity
from loop_ls.rules.engine.object_view import ObjectView, mark
from loop_ls.rules.engine.registry import rule
from loop_ls.syntax.nodes import Mapping, Sequence, resolved

_FILE = "file://"


def _places(view: ObjectView) -> Places | None:
    return None if view.subject is None else places_in(view.subject)


def _variables(case: WrittenCase) -> Mapping | None:
    found = resolved(case.node("vars"))
    return found if isinstance(found, Mapping) else None


def _names(given: Mapping | None) -> list[str]:
    return [entry.key.text for entry in given.entries] if given is not None else []


def _is_skipped(case: WrittenCase) -> bool:
    return kind_of(case.node("skip")) != "null"


@rule("CK015", "unread-variable", Severity.WARNING, on="cases")
def unread_variable(view: ObjectView) -> Iterator[Draft]:
    """Variable of a test case that neither the loop file uses nor a check.

    `input` is the goal of a role loop, and the message of an assistant. A misspelled variable is an error:
    the run is refused because the intended variable is missing.

    Bad::
        #- report.cases.yaml
        tests: [{name: sea, vars: {input: the sea, topic: waves}, assert: [{type: is-json}]}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.cases.yaml
        tests: [{name: sea, vars: {input: the sea}, assert: [{type: is-json}]}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    places = _places(view)
    if places is None:
        return
    wanted = places.reads
    looked_for_in_file = {one.name for check in _checks_of_file(view) for one in variables_in_value(check)}
    for case in cases_in(view.parts):
        given = _variables(case)
        names = _names(given)
        looked_for = looked_for_in_file.union(one.name for check in case.checks for one in variables_in_value(check))
        for entry in given.entries if given is not None else ():
            name = entry.key.text
            if name in wanted or name in looked_for:
                continue
            told = f"`{places.loop_file}` does not read `{name}`{did_you_mean(name, wanted)}"
            meant = nearest(name, wanted)
            if meant is None or meant in names or _is_skipped(case):
                yield draft(case.piece, entry.key.span, told, tags=UNNECESSARY)
            else:
                yield draft(case.piece, entry.key.span, told, Severity.ERROR)


@rule("CK016", "missing-variable", Severity.ERROR, on="cases")
def missing_variable(view: ObjectView) -> Iterator[Draft]:
    """Test case without an input that the loop file needs.

    Its run is refused.

    Bad::
        #- report.cases.yaml
        tests: [{name: sea, assert: [{type: is-json}]}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.cases.yaml
        tests: [{name: sea, vars: {input: the sea}, assert: [{type: is-json}]}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    places = _places(view)
    if places is None:
        return
    for case in cases_in(view.parts):
        given = _variables(case)
        wanted, known = places.needs, places.reads
        # CK015 tells of slips.
        meant = {name if name in known else nearest(name, known) for name in _names(given)}
        absent = [name for name in wanted if name not in meant]
        at = case.node("vars") or case.node("name")
        if _is_misspelt(case, "vars"):
            continue
        if absent and at is not None and not _is_skipped(case):
            told = f"Missing input for {listed(absent, 'and')} in this test case"
            yield draft(case.piece, mark(at), told)


def _is_misspelt(case: WrittenCase, key: str) -> bool:
    """Whether a key is not there because another one was meant to be it (CK002)."""
    return case.block.meant(key) and not case.block.has(key)


@rule("CK017", "all-held-out", Severity.WARNING, on="cases")
def all_held_out(view: ObjectView) -> Iterator[Draft]:
    """All test cases are held out.

    The planner of an enhance loop sees none of them.

    Bad::
        #- report.cases.yaml
        tests: [{name: sea, vars: {input: the sea}, holdout: true, assert: [{type: is-json}]}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.cases.yaml
        tests: [{name: sea, vars: {input: the sea}, holdout: false, assert: [{type: is-json}]}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    cases = list(cases_in(view.parts))
    if cases and all(flag(case.node("holdout")) is True for case in cases):
        at = cases[0].block.fields["holdout"].entry
        yield draft(
            cases[0].piece, at.key.span, "All test cases are held out, so none is left to improve the workflow with"
        )


@rule("CK018", "seen-and-held-out", Severity.WARNING, on="cases")
def seen_and_held_out(view: ObjectView) -> Iterator[Draft]:
    """Held-out test case with the same input as one that is not held out.

    Bad::
        #- report.cases.yaml
        tests:
          - {name: sea, vars: {input: the sea}, assert: [{type: is-json}]}
          - {name: waves, vars: {input: the sea}, holdout: true, assert: [{type: is-json}]}
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.cases.yaml
        tests:
          - {name: sea, vars: {input: the sea}, assert: [{type: is-json}]}
          - {name: waves, vars: {input: waves}, holdout: true, assert: [{type: is-json}]}
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    cases = list(cases_in(view.parts))
    seen = [(plain(case.node("vars")), case.name) for case in cases if flag(case.node("holdout")) is not True]
    for case in cases:
        if flag(case.node("holdout")) is not True:
            continue
        held = plain(case.node("vars"))
        twin = next((name for given, name in seen if given == held), None)
        if twin is not None:
            at = case.block.fields["holdout"].entry.key.span
            yield draft(
                case.piece, at, f"`{twin}` has the same input and is not held out, so this test case proves nothing"
            )


@rule("CK019", "no-check", Severity.WARNING, on="cases")
def no_check(view: ObjectView) -> Iterator[Draft]:
    """Test case without any check.

    It passes whenever the run ends.

    Bad::
        #- report.cases.yaml
        tests: [{name: sea, vars: {input: the sea}}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.cases.yaml
        tests: [{name: sea, vars: {input: the sea}, assert: [{type: is-json}]}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    names = _file_checks(view)
    for case in cases_in(view.parts):
        left = set(names) - set(_without(case))
        at = case.node("name")
        if at is not None and not left and not any(True for _ in case.checks) and not _is_misspelt(case, ASSERT):
            yield draft(case.piece, mark(at), "No check applies to this test case")


@rule("CK020", "unknown-check", Severity.WARNING, on="cases")
def unknown_check(view: ObjectView) -> Iterator[Draft]:
    """Unknown check in `without`.

    Bad::
        #- report.cases.yaml
        tests: [{name: sea, vars: {input: the sea}, without: [haeding], assert: [{type: is-json}]}]
        #- report.checks.yaml
        assert: [{name: heading, type: contains, value: "#"}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.cases.yaml
        tests: [{name: sea, vars: {input: the sea}, without: [heading], assert: [{type: is-json}]}]
        #- report.checks.yaml
        assert: [{name: heading, type: contains, value: "#"}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    names = _file_checks(view)
    for case in cases_in(view.parts):
        found = resolved(case.node(WITHOUT))
        items = found.items if isinstance(found, Sequence) else ()
        for item in [item for item in items if item is not None]:
            name = text_of(item)
            if name is not None and name not in names:
                told = f"Unknown check `{name}`{did_you_mean(name, names)}"
                yield draft(case.piece, mark(item), told)


@rule("CK021", "missing-file", Severity.ERROR, on="cases")
def missing_file(view: ObjectView) -> Iterator[Draft]:
    """Variable of a test case that names a file that does not exist.

    A relative path starts at the folder of the test cases, then at the workspace folder. Paths under `/outputs/` are
    known only when the case runs.

    Bad::
        #- report.cases.yaml
        tests: [{name: sea, vars: {input: "file://no_such_text.txt"}, assert: [{type: is-json}]}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    Good::
        #- report.cases.yaml
        tests: [{name: sea, vars: {input: the sea}, assert: [{type: is-json}]}]
        #- report.yaml
        steps: [{name: write, run: "Write about {{input}}"}]
    """
    for case in cases_in(view.parts):
        given = _variables(case)
        if given is None or _is_skipped(case):
            continue
        for entry in given.entries:
            text = text_of(entry.value) or ""
            path = text.removeprefix(_FILE)
            if entry.value is not None and text.startswith(_FILE) and not _is_there(view, path):
                yield draft(case.piece, mark(entry.value), f"File not found: `{shortened(path)}`")


def _is_there(view: ObjectView, path: str) -> bool:
    """True for whatever cannot be looked up: a text that is no file yet, an output of another run."""
    if path.startswith("/outputs/") or not view.document.uri.startswith("file:"):
        return True
    root = Path(view.workspace.roots.workspace)
    try:
        found = [one.resolve() for one in (Path(folder_of(view.document.path), path), root / path)]
        return any(one.is_file() and one.is_relative_to(root.resolve()) for one in found)
    except (OSError, ValueError):
        return False


def _file_checks(view: ObjectView) -> list[str]:
    """Names of the checks in the checks file beside; those without a name have their type."""
    return [one.key for one in _checks_of_file(view)]


def _checks_of_file(view: ObjectView) -> list[WrittenCheck]:
    """The checks in the checks file beside."""
    other = view.workspace.beside(view.document, DECLARED_CHECKS)
    return [] if other is None else list(checks_in(other.whole.parts))


def _without(case: WrittenCase) -> list[str]:
    found = resolved(case.node(WITHOUT))
    return [text_of(item) or "" for item in found.items] if isinstance(found, Sequence) else []
