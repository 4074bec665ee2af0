"""What is found where a value of an example is left out, emptied or exchanged, a key misspelt, a variable called
otherwise: each clause of each rule has its case.

`LOOP_LS_RECORD=1` writes the findings anew, one file for each rule beside this one; the difference shows whom a change
of a rule reaches. A variation that changes no finding is not listed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest

from loop_ls.formats.settings.model import settings_of
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding
from loop_ls.rules.engine.registry import Rule, all_rules
from loop_ls.rules.engine.rule_selection import PROFILES
from loop_ls.rules.fixes.apply import applied
from loop_ls.testing.fixture import HEAD, MODEL, SEVERITIES, read_fixture
from tests.rules.checking import document_of, workspace_of
from tests.rules.variations.variations import Variation, exchanged, shortened, slips, variations
from tests.rules.variations.whole_files import FILES

FOUND = Path(__file__).with_name("found")
SETTINGS = {
    "limits": {"limits": {"maxIterations": 2, "budgetUsd": 1}},
    "a local judge": {"judge": {"local": True}},
    "a judge that looks first": {"judge": {"local": True, "provider": "ollama", "model": "llama3.2"}},
    "providers": {
        "providers": {
            "openai": {"models": ["gpt-own"], "embeddingModel": "vectors"},
            "acme": {"kind": "openai", "baseUrl": "https://acme.example/v1", "models": ["big"]},
        }
    },
    "revise": {"assistants": {"revise": True}},
}
_SEVERITY = {number: name for name, number in SEVERITIES.items()}


class _Told(NamedTuple):
    """What the rule itself says, with what its fixes make of the file; of the others the codes."""

    own: list[str]
    others: Counter[str]


@pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.code)
def test_what_is_found_in_variations_of_the_examples(rule: Rule) -> None:
    file = FOUND / f"{rule.code}.txt"
    found = "".join(f"{line}\n" for example in ("bad", "good") for line in _of_an_example(rule, example))
    if os.environ.get("LOOP_LS_RECORD"):
        file.write_text(found, "utf-8")
    assert found.splitlines() == file.read_text("utf-8").splitlines()


@pytest.mark.parametrize("name", FILES)
def test_what_is_found_in_variations_of_whole_files(name: str) -> None:
    """By place, rule and fix: what each rule says and how it mends is recorded with its own examples."""
    file = FOUND / f"{name.replace(' ', '_')}.txt"
    found = "".join(f"{line}\n" for line in _of_a_file(FILES[name]))
    if os.environ.get("LOOP_LS_RECORD"):
        file.write_text(found, "utf-8")
    assert found.splitlines() == file.read_text("utf-8").splitlines()


def test_a_misspelt_key_of_a_good_example_is_told_by_one_rule() -> None:
    wrong = []
    for source in {rule.page.good for rule in all_rules().values()}:
        fixture = read_fixture(source)
        workspace, checker = workspace_of(fixture), Checker()
        document = document_of(workspace, fixture.main.path)
        known = {one.rule for one in checker.findings(workspace, document)}
        for what, varied in slips(document, _head(source, fixture.main.text)):
            found = {one.rule for one in checker.findings(workspace.with_document(varied), varied)} - known
            if len(found) > 1:
                wrong.append(f"{what}: {' '.join(sorted(found))}")
    assert wrong == []


def _of_a_file(source: str) -> Iterator[str]:
    fixture = read_fixture(source)
    workspace, checker = workspace_of(fixture), Checker(PROFILES)
    document = document_of(workspace, fixture.main.path)
    known = _places(checker, workspace, document)
    yield from sorted(known)
    for words, values in SETTINGS.items():
        changed = Workspace.of(workspace.roots, workspace.documents.values(), settings_of(values)[0])
        yield from _changed(words, known, _places(checker, changed, document))
    head = _head(source, fixture.main.text)
    for what, varied in _varied(document, head):
        yield from _changed(what, known, _places(checker, workspace.with_document(varied), varied))


def _places(checker: Checker, workspace: Workspace, document: Document) -> Counter[str]:
    found = checker.findings(workspace, document)
    return Counter("; ".join((_place(one, document), *(fix.title for fix in one.fixes))) for one in found)


def _changed(title: str, known: Counter[str], found: Counter[str]) -> Iterator[str]:
    changes = [f"  {sign} {line}" for sign, lines in (("-", known - found), ("+", found - known)) for line in lines]
    if changes:
        yield from (f"{title}:", *changes)


def _of_an_example(rule: Rule, name: str) -> Iterator[str]:
    source = {"bad": rule.page.bad, "good": rule.page.good}[name]
    fixture = read_fixture(source)
    workspace, checker = workspace_of(fixture), Checker(PROFILES)
    document = document_of(workspace, fixture.main.path)
    known = _told(checker, workspace, document, rule.code)
    yield from (
        f"{name}:",
        *(f"  {line}" for line in known.own),
        f"  beside it: {' '.join(sorted(known.others.elements()))}",
    )
    for words, values in SETTINGS.items():
        changed = Workspace.of(workspace.roots, workspace.documents.values(), settings_of(values)[0])
        yield from _difference(f"{name}, {words}", known, _told(checker, changed, document, rule.code))
    for what, varied in _varied(document, _head(source, fixture.main.text)):
        told = _told(checker, workspace.with_document(varied), varied, rule.code)
        yield from _difference(f"{name}, {what}", known, told)


def _varied(document: Document, head: int) -> Iterator[Variation]:
    return chain(variations(document, head), slips(document, head), exchanged(document, head))


def _head(source: str, text: str) -> int:
    """How many lines the fixture wrote itself."""
    return (HEAD + MODEL).count("\n") if "$schema" in text and "$schema" not in source else 0


def _difference(title: str, known: _Told, told: _Told) -> Iterator[str]:
    changes = [
        *(f"  - {line}" for line in known.own if line not in told.own),
        *(f"  + {line}" for line in told.own if line not in known.own),
        *(f"  {sign} {' '.join(codes)}" for sign, codes in _other_codes(known.others, told.others) if codes),
    ]
    if changes:
        yield from (f"{title}:", *changes)


def _other_codes(known: Counter[str], told: Counter[str]) -> Iterator[tuple[str, list[str]]]:
    yield "-", sorted((known - told).elements())
    yield "+", sorted((told - known).elements())


def _told(checker: Checker, workspace: Workspace, document: Document, code: str) -> _Told:
    found = checker.findings(workspace, document)
    own = [line for one in found if one.rule == code for line in _in_words(one, document)]
    return _Told(own, Counter(one.rule for one in found if one.rule != code))


def _place(found: Finding, document: Document) -> str:
    """By its line and what it marks there: a column would be another one wherever something before it is varied."""
    marked = document.text.slice(found.span)
    return f"{found.span.start.line + 1} `{shortened(marked)}` {_SEVERITY[found.severity]} {found.rule}"


def _in_words(found: Finding, document: Document) -> Iterator[str]:
    more = "".join(f" ({tag})" for tag in sorted(found.tags))
    yield f"{_place(found, document)} {found.message}{more}"
    for related in found.related:
        yield f"  see {related.span.start.line + 1}:{related.span.start.column + 1} {related.message}"
    for fix in found.fixes:
        signs = f"{fix.tier.value}{', preferred' if fix.preferred else ''}{', by hand' if fix.only_by_hand else ''}"
        yield f"  {signs}: {fix.title}"
        own = [edit for edit in fix.edits(document) if edit.uri is None]
        after = applied(document, own).text.lines
        yield from (f"    > {line}" for line in after if line not in document.text.lines)
