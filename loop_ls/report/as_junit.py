"""Findings as JUnit XML, for build servers that show tests.

A file with findings is a suite, a finding a case. What makes the command fail is a failure; less
serious findings pass, and say what they say in `system-out`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from loop_ls.report.checked import WORDS, Checked, CheckedFile
from loop_ls.report.excerpt import excerpt
from loop_ls.report.terminal_text import shown
from loop_ls.rules.engine.finding import Finding, Severity


def as_junit(checked: Checked, failing: Severity | None = Severity.ERROR) -> str:
    """`failing`: the lowest severity that is a failure; None: nothing is."""
    found = list(checked.findings())
    failures = sum(_fails(finding, failing) for _, finding in found)
    count = len(found) or 1
    head = f'<testsuites name="loop-ls" tests="{count}" failures="{failures}" errors="0" time="{checked.seconds:.3f}">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *_suites(checked, failing), "</testsuites>", ""])


def _suites(checked: Checked, failing: Severity | None) -> Iterator[str]:
    groups = groupby(checked.findings(), lambda pair: pair[0].path)
    empty = True
    for path, pairs in groups:
        empty = False
        cases = list(pairs)
        failures = sum(_fails(finding, failing) for _, finding in cases)
        yield f'  <testsuite name={quoted(path)} tests="{len(cases)}" failures="{failures}" errors="0" skipped="0">'
        for file, finding in cases:
            yield from _case(file, finding, failing)
        yield "  </testsuite>"
    if empty:
        yield '  <testsuite name="loop-ls" tests="1" failures="0" errors="0" skipped="0">'
        yield f'    <testcase classname="loop-ls" name={quoted(f"no findings in {checked.count} files")}/>'
        yield "  </testsuite>"


def _case(file: CheckedFile, finding: Finding, failing: Severity | None) -> Iterator[str]:
    start = file.within(finding.span).start
    place = f"{file.path}:{start.line + 1}:{start.column + 1}"
    message = " ".join(finding.message.split())
    name = f"{finding.rule} {finding.name} at {start.line + 1}:{start.column + 1}"
    lines = [f"{place}: {WORDS[finding.severity]}: {message}", *(excerpt(file.lines, finding.span) or ())]
    text = escape("\n".join(shown(line) for line in lines))
    head = f"    <testcase classname={quoted(file.path)} name={quoted(name)} file={quoted(file.path)}"
    yield f'{head} line="{start.line + 1}">'
    if _fails(finding, failing):
        yield f"      <failure type={quoted(finding.rule)} message={quoted(message)}>{text}</failure>"
    else:
        yield f"      <system-out>{text}</system-out>"
    yield "    </testcase>"


def _fails(finding: Finding, failing: Severity | None) -> bool:
    return failing is not None and finding.severity <= failing


def quoted(text: str) -> str:
    """An attribute's value. XML has no way to write most control characters."""
    return quoteattr(shown(text))
