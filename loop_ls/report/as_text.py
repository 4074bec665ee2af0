"""Findings for people: the place, the sentence, the line with a mark under it, and the way out.

The first line of each has the shape `path:line:column: severity: ...` that editors and terminals
turn into a link.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from loop_ls.report.checked import WORDS, Checked, CheckedFile
from loop_ls.report.excerpt import excerpt
from loop_ls.report.paint import Paint
from loop_ls.report.terminal_text import shown
from loop_ls.rules.engine.finding import Finding, Severity, Tier


def as_text(checked: Checked, colour: bool = False) -> str:
    """Every finding with its source line, a blank line between two, and the summary at the end."""
    paint = Paint(colour)
    parts = ["\n".join(_finding(checked, file, finding, paint)) + "\n" for file, finding in checked.findings()]
    return "\n".join([*parts, summary(checked, paint) + "\n"])


def summary(checked: Checked, paint: Paint | None = None) -> str:
    """`3 errors, 1 warning in 12 files (0.2 s), 2 fixable with loop-ls fix, 1 with --unsafe`."""
    paint = paint or Paint(False)
    found = [finding for _, finding in checked.findings()]
    counts = Counter(finding.severity for finding in found)
    parts = [paint.severity(_counted(counts[level], level), level) for level in Severity if counts[level]]
    files = f"{checked.count} file{'' if checked.count == 1 else 's'} ({checked.seconds:.1f} s)"
    line = f"{', '.join(parts) or paint.good('no findings')} in {files}"
    fixable = sum(finding.fixable for finding in found)
    to_review = sum(bool(finding.fixes) and not finding.fixable for finding in found)
    return ", ".join(filter(None, (line, _fixable(fixable, to_review))))


def _fixable(safe: int, to_review: int) -> str:
    """How many the two kinds of fixes change; a finding that has both is counted once."""
    if not safe:
        return f"{to_review} fixable with loop-ls fix --unsafe" if to_review else ""
    return f"{safe} fixable with loop-ls fix{f', {to_review} with --unsafe' if to_review else ''}"


def _counted(number: int, level: Severity) -> str:
    word = WORDS[level]
    plural = word if word == "information" else f"{word}s"
    return f"{number} {word if number == 1 else plural}"


def _finding(checked: Checked, file: CheckedFile, finding: Finding, paint: Paint) -> Iterator[str]:
    line, column = finding.span.start
    place = paint.bold(f"{shown(file.path)}:{line + 1}:{column + 1}:")
    level = paint.severity(f"{WORDS[finding.severity]}:", finding.severity)
    yield f"{place} {level} {shown(finding.message)} {paint.faint(f'[{finding.rule} {finding.name}]')}"
    source = excerpt(file.lines, finding.span)
    gutter = len(str(line + 1)) + 1
    bar = paint.faint("|")
    if source:
        yield f"{paint.faint(f'{line + 1:>{gutter}}')} {bar} {source[0]}"
        yield f"{'':>{gutter}} {bar} {paint.severity(source[1], finding.severity)}"
    for related in finding.related:
        where = f"{shown(checked.path_of(related.uri))}:" if related.uri else "line "
        yield f"{'':>{gutter}} {paint.faint('=')} {where}{related.span.start.line + 1}: {shown(related.message)}"
    for fix in finding.fixes[:3]:
        word = "fix:" if fix.tier is Tier.SAFE else "fix to review:"
        yield f"{'':>{gutter}} {paint.faint('=')} {paint.good(word)} {shown(fix.title)}"
