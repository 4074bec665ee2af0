"""The right side of a comparison in `if`: the words that the compared step is told to write."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loop_ls.features.answers import Completions, Item, ItemKind
from loop_ls.features.complete.items.callees import prompt_of
from loop_ls.features.complete.request import Request
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.rules.until.criteria import words_told
from loop_ls.text.markdown import code
from loop_ls.text.position import Position, Span

_NAME = r"[^\W\d][\w-]*(?:\.[\w-]+)*"
_TYPED = re.compile(
    rf"(?P<open>\$)?\{{\{{\s*(?P<name>{_NAME})\s*(?(open)|\}}\}}[ \t]*)"
    r"(?P<right>(?P<operator>[=!]=?)?(?P<gap>[ \t]*)(?P<word>['\"]*[\w-]*))$"
)
_WORD = re.compile(r"[\w-]*")


def comparisons(request: Request) -> Completions | None:
    """None where no comparison is being written."""
    if request.meaning.key is None or request.meaning.key.name != "if":
        return None
    at = request.at
    found = _TYPED.search(request.line, 0, at.column)
    if found is None or (found["operator"] is None and (found["word"] or found["open"])):
        return None
    end = _end_of_word(request, found) if found["operator"] else at.column
    span = Span(Position(at.line, found.start("right")), Position(at.line, end))
    return Completions(span, tuple(_items(request, found)))


def _end_of_word(request: Request, found: re.Match[str]) -> int:
    """Behind the rest of the word, and behind the quotes that close it."""
    rest = _WORD.match(request.line, request.at.column)
    assert rest is not None
    opened = found["word"][: len(found["word"]) - len(found["word"].lstrip("'\""))]
    return rest.end() + (len(opened) if opened and request.line.startswith(opened, rest.end()) else 0)


def _items(request: Request, found: re.Match[str]) -> Iterator[Item]:
    name = found["name"].removeprefix("step.").removesuffix(".result")
    element = request.document.element(name)
    words = words_told(_prompt(request, request.document, element)) if element is not None else ()
    operator = found["operator"]
    for place, word in enumerate((*words, "")):
        for rank, sign in enumerate((operator,) if operator in ("==", "!=") else ("==", "!=")):
            value = _quoted(word, request.spot.quote)
            lead = (
                " " if operator is None and not found["gap"] and request.line[found.start("right") - 1] == "}" else ""
            )
            text = f"{lead}{found['gap'] if operator is None else ''}{sign} {value}"
            told = f"{code(name)} is told to write it" if word else "whether there is any text"
            yield Item(
                f"{sign} {word or 'empty'}",
                ItemKind.CRITERION,
                text,
                detail=told,
                sort=f"{place:02}{rank}",
                filter=f"{request.line[found.start('right') : found.end('right')]}{word}",
            )


def _prompt(request: Request, document: Document, element: Element) -> str:
    if element.reference is not None:
        callee = request.workspace.callee(document, element.reference)
        return prompt_of(callee) if callee is not None else ""
    return element.prompt


def _quoted(word: str, around: str) -> str:
    """As a text of the condition, inside of the quotes that the value stands in."""
    quote = "''" if around == "'" else "'"
    return f"{quote}{word}{quote}"
