"""What a report is made of: a file, its lines and what was found in it.

Every format (`as_text`, `as_json`, and those to come) is a function of these values and knows
neither rules nor workspaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from loop_ls.rules.finding import Finding, Severity

#: The words of the command line and of the JSON output.
WORDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "information",
    Severity.HINT: "hint",
}


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """`path` as it is printed: relative to the workspace root, `/` between its parts. `lines` are
    those of the file, without their ends; empty for a file that could not be read as text."""

    path: str
    lines: Sequence[str]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """One run of the linter. `count` files were looked at, with or without findings."""

    files: tuple[CheckedFile, ...]
    count: int
    seconds: float = 0.0

    def at_least(self, level: Severity) -> Checked:
        """Only what is at least as serious as `level`."""
        files = (
            replace(file, findings=tuple(one for one in file.findings if one.severity <= level)) for file in self.files
        )
        return replace(self, files=tuple(files))

    def findings(self) -> Iterable[tuple[CheckedFile, Finding]]:
        """In the order of the reports: by path, place and rule."""
        for file in sorted(self.files, key=lambda one: one.path):
            for finding in sorted(file.findings, key=lambda one: (one.span.start, one.rule)):
                yield file, finding
