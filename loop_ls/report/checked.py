"""What a report is made of: a file, its lines and what was found in it.

Every format (`as_text`, `as_json`, and those to come) is a function of these values and knows
neither rules nor workspaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from loop_ls.rules.engine.finding import Finding, Fix, Severity, TextEdit
from loop_ls.text.position import Position, Span

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
    edits: Callable[[Fix], tuple[TextEdit, ...]] = field(default=lambda fix: (), compare=False)

    def within(self, span: Span) -> Span:
        """Never behind the end of a line: a mark that reaches to the next line ends at the last character."""
        start = self._within(span.start)
        return Span(start, max(start, self._within(span.end)))

    def _within(self, at: Position) -> Position:
        if not self.lines:
            return at
        if at.line >= len(self.lines):
            return Position(len(self.lines) - 1, len(self.lines[-1]))
        return Position(at.line, min(at.column, len(self.lines[at.line])))


def _same(uri: str) -> str:
    return uri


@dataclass(frozen=True, slots=True)
class Checked:
    """One run of the linter. `count` files were looked at, with or without findings. `path_of` says
    how the file behind a URI is printed. `capped`: there were more files than are looked at. `speaks`: whether
    a rule was asked at all."""

    files: tuple[CheckedFile, ...]
    count: int
    seconds: float = 0.0
    path_of: Callable[[str], str] = field(default=_same, compare=False)
    capped: bool = False
    speaks: Callable[[str], bool] = field(default=lambda code: True, compare=False)

    def below(self, prefix: str) -> Checked:
        """Paths as they are seen from a folder further up."""
        if not prefix:
            return self

        def moved(path: str) -> str:
            return path if path.startswith("/") or path[1:3] == ":/" else f"{prefix}/{path}"

        files = tuple(replace(file, path=moved(file.path)) for file in self.files)
        return replace(self, files=files, path_of=lambda uri: moved(self.path_of(uri)))

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
