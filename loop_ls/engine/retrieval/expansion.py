"""Further questions from one: what its words are also called, from word lists of the project."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from loop_ls.engine.core.ports import Failure
from loop_ls.formats.common.plain_value import plain
from loop_ls.syntax.tree import read_yaml
from loop_ls.text.json_value import Json, int_field
from loop_ls.text.lines import Text

MOST = 5


def expanded(query: str, rag: Mapping[str, Json], read: Callable[[str], str]) -> list[str]:
    """The question itself, then others with one word replaced, at most `maxExpansions`. Raises `Failure`
    for a word list that is not there."""
    most = int_field(rag, "maxExpansions") or MOST
    found = {query: None}
    for kind in ("acronyms", "synonyms"):
        if isinstance(path := rag.get(kind), str) and path:
            for other in _replaced(query, _words(read(path), path)):
                if len(found) > most:
                    break
                found.setdefault(other)
    return list(found)


def _replaced(query: str, words: Mapping[str, list[str]]) -> Iterator[str]:
    for word, others in words.items():
        pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
        if pattern.search(query):
            for other in others:
                yield pattern.sub(lambda _, other=other: other, query)  # type: ignore[misc]


def _words(text: str, path: str) -> dict[str, list[str]]:
    """A mapping from words to other words: one, or a list."""
    tree = read_yaml(Text.of(text))
    if any(piece.faults for piece in tree.pieces) or tree.root_kind not in ("mapping", "empty"):
        raise Failure("bad_argument", f"the word list {path} is not a YAML mapping of words")
    values = {piece.key.text: plain(piece.node) for piece in tree.pieces if piece.key is not None}
    return {
        word: [str(each) for each in (others if isinstance(others, list) else [others])]
        for word, others in values.items()
    }
