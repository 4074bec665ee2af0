"""Small annotated files for tests: what stands where, and what is expected there.

A fixture is text with three kinds of notes, which are taken out before the text is used:
`#- folder/file.yaml` begins a file, `$0` is the cursor, and lines of carets say what is expected
of the line above them: `# ^^^^ error: WF301 words of the message`. Nothing here knows rules or LSP.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from loop_ls.text.position import Position, Span

HEAD = """\
$schema: workflow/v2.0
name: {name}
version: 1.0.0
description: A fixture
"""
MODEL = "execution: {provider: ollama, model: llama3.2}\n"

CURSOR = "$0"
_FILE = re.compile(r"#- (\S+)$")
_NOTE = re.compile(
    r"(?P<lead>\s*(?:#|//)?\s*)(?P<carets>\^+) (?P<severity>error|warning|information|hint):"
    r" (?P<rule>[A-Z]{2}\d{3})(?: (?P<text>.+))?$"
)
_SNIPPET = re.compile(r"(?:steps|loops|env|execution):")


class Found(Protocol):
    """What a fixture can be compared with: `rules.engine.finding.Finding` fits."""

    @property
    def rule(self) -> str: ...
    @property
    def severity(self) -> int: ...
    @property
    def span(self) -> Span: ...
    @property
    def message(self) -> str: ...


SEVERITIES = {"error": 1, "warning": 2, "information": 3, "hint": 4}


@dataclass(frozen=True, slots=True)
class Expected:
    """A finding that a note asks for. One caret marks the start only, several mark the whole text."""

    rule: str
    severity: str
    line: int
    column: int
    end_column: int | None
    text: str

    def fits(self, found: Found) -> bool:
        return (
            found.rule == self.rule
            and found.severity == SEVERITIES[self.severity]
            and found.span.start == (self.line, self.column)
            and (self.end_column is None or found.span.end == (self.line, self.end_column))
            and self.text in found.message
        )

    def __str__(self) -> str:
        end = "" if self.end_column is None else f"-{self.end_column + 1}"
        return f"{self.line + 1}:{self.column + 1}{end} {self.severity}: {self.rule} {self.text}".rstrip()


@dataclass(frozen=True, slots=True)
class FixtureFile:
    path: str
    text: str
    expected: tuple[Expected, ...] = ()


@dataclass(frozen=True, slots=True)
class Cursor:
    path: str
    position: Position


@dataclass(frozen=True, slots=True)
class Fixture:
    files: tuple[FixtureFile, ...]
    cursor: Cursor | None = None

    @property
    def texts(self) -> dict[str, str]:
        return {file.path: file.text for file in self.files}

    @property
    def main(self) -> FixtureFile:
        """The file with the cursor, else the first one."""
        if self.cursor is None:
            return self.files[0]
        return next(file for file in self.files if file.path == self.cursor.path)


def read_fixture(source: str, path: str = "flow.yaml", head: bool = True) -> Fixture:
    """The files of a fixture. A snippet that begins with `steps:`, `loops:`, `env:` or `execution:`
    gets the usual head (schema, name after the file, version, description, a model)."""
    files: list[FixtureFile] = []
    cursor: Cursor | None = None
    for name, lines in _split(textwrap.dedent(source).lstrip("\n"), path):
        if head and _SNIPPET.match(next((line for line in lines if line.strip()), "")):
            lines = _head(name, lines) + lines
        file, position = _read_file(name, lines)
        files.append(file)
        if position is not None:
            assert cursor is None, "a fixture has one cursor"
            cursor = Cursor(name, position)
    return Fixture(tuple(files), cursor)


def differences(file: FixtureFile, found: Iterable[Found]) -> list[str]:
    """One sentence for each expectation that is not met and each finding that nobody asked for."""
    rest = list(found)
    out = []
    for expected in file.expected:
        hit = next((one for one in rest if expected.fits(one)), None)
        if hit is None:
            out.append(f"{file.path}: missing {expected}")
        else:
            rest.remove(hit)
    return out + [f"{file.path}: surplus {describe(one)}" for one in rest]


def describe(found: Found) -> str:
    """A finding in the notation of the notes."""
    (line, column), (end_line, end_column) = found.span
    end = f"-{end_column + 1}" if end_line == line else f"-{end_line + 1}:{end_column + 1}"
    severity = next(name for name, number in SEVERITIES.items() if number == found.severity)
    return f"{line + 1}:{column + 1}{end} {severity}: {found.rule} {found.message}"


def _split(source: str, path: str) -> Iterable[tuple[str, list[str]]]:
    name, lines = path, list[str]()
    for line in source.split("\n"):
        header = _FILE.match(line)
        if not header:
            lines.append(line)
            continue
        if any(one.strip() for one in lines):
            yield name, lines
        name, lines = header[1], []
    yield name, lines


def _head(path: str, lines: Sequence[str]) -> list[str]:
    name = path.rsplit("/", 1)[-1].split(".", 1)[0].replace("-", "_").lower()
    head = HEAD.format(name=name)
    if not any(line.startswith("execution:") for line in lines):
        head += MODEL
    return head.rstrip("\n").split("\n")


def _read_file(path: str, lines: Sequence[str]) -> tuple[FixtureFile, Position | None]:
    kept: list[str] = []
    expected: list[Expected] = []
    cursor: Position | None = None
    for line in lines:
        note = _NOTE.match(line)
        if note:
            expected.append(_expected(note, len(kept) - 1))
            continue
        column = line.find(CURSOR)
        if column >= 0:
            cursor = Position(len(kept), column)
            line = line.replace(CURSOR, "", 1)
        kept.append(line)
    return FixtureFile(path, "\n".join(kept), tuple(expected)), cursor


def _expected(note: re.Match[str], line: int) -> Expected:
    start, end = note.span("carets")
    exact = end if end - start > 1 else None
    return Expected(note["rule"], note["severity"], line, start, exact, note["text"] or "")
