"""The double braces around the cursor, as far as they are typed: `{{lo`, `{{ loop.l }`, `{`, `${{ a == `.

Looks at one line: braces that a line break tears apart are no variable anyway.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from loop_ls.features.spot.place import Spot, Where
from loop_ls.rules.engine.finding import TextEdit
from loop_ls.text.position import Position, Span

_NAME_BEFORE = re.compile(r"[\w.-]*$")
_NAME_AFTER = re.compile(r"[\w.-]*")
_CLOSING = re.compile(r"[ \t]*(\}{1,2})")


@dataclass(frozen=True, slots=True)
class Braces:
    """`start` to `end` is the word to replace. `before` and `after` have to be written around it: braces
    that are missing. `operand`: inside `${{ ... }}`, where only names stand."""

    start: int
    end: int
    word: str
    before: str = ""
    after: str = ""
    operand: bool = False


def braces_at(line: str, column: int) -> Braces | None:
    """The braces around `column`, None where it stands in none. A single `{` just typed counts."""
    opening = line.rfind("{{", 0, column)
    if opening >= 0 and "}}" not in line[opening + 2 : column]:
        return _inside(line, column, opening)
    if column and line[column - 1] == "{" and line[column - 2 : column - 1] != "{":
        return _begun(line, column)
    return None


def with_quotes(braces: Braces, line: str, spot: Spot) -> tuple[Braces, tuple[TextEdit, ...]]:
    """Braces at the start of a plain value are a mapping to YAML: the quotes that make it a text, written
    around it together with the name."""
    if spot.where is Where.KEY and spot.flow and braces.before:  # a single brace just after the colon
        return replace(braces, before='"{{', after='}}"'), ()
    start, end = spot.word.start.column, spot.word.end.column
    plain = spot.where is Where.VALUE and not spot.quote and not spot.flow and line.startswith("{{", start)
    if not plain or '"' in line[start:end]:
        return braces, ()
    number = spot.word.start.line
    opening = TextEdit(Span(Position(number, start), Position(number, start)), '"')
    if braces.after and braces.end >= end:
        return replace(braces, after=braces.after + '"'), (opening,)
    return braces, (opening, TextEdit(Span(Position(number, end), Position(number, end)), '"'))


def _inside(line: str, column: int, opening: int) -> Braces | None:
    begin = opening + 2
    typed = line[begin:column]
    operand = line[opening - 1 : opening] == "$"
    name = _NAME_BEFORE.search(typed)
    assert name is not None
    lead = typed[: name.start()].strip()
    if lead and not (operand and _ends_before_operand(lead)):
        return None  # behind another word, an operator, a quote: no name can stand here
    start = begin + name.start()
    rest = _NAME_AFTER.match(line, column)
    assert rest is not None
    end = rest.end()
    if "{{" in line[column:end]:
        end = column
    if operand:
        closed = "}}" in line[end:]
        return Braces(start, end, name[0], after="" if closed else " }}", operand=True)
    closing = _CLOSING.match(line, end)
    missing = "}}" if closing is None else "}" * (2 - len(closing[1]))
    if closing is not None and missing:
        return Braces(start, closing.end(1), name[0], after="}}")
    return Braces(start, end, name[0], after=missing)


def _ends_before_operand(lead: str) -> bool:
    return lead == "!"


def _begun(line: str, column: int) -> Braces:
    """After one brace; editors often put the other one behind the cursor."""
    rest = line[column : column + 1]
    return Braces(column - 1, column + (1 if rest == "}" else 0), "", before="{{", after="}}")
