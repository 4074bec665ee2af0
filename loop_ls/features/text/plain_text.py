"""Markdown as plain text, for clients that render none: marks and escapes go, what they stood around stays.

`markdown-it` is imported with the first such text; most clients render Markdown themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


def plain_text(markdown: str) -> str:
    """`markdown`, which is one of our own texts, with a blank line between its paragraphs."""
    return "\n\n".join(_paragraphs(_parser().parse(markdown)))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _paragraphs(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "inline":
                yield "".join(_inline(token.children or []))
            case "fence" | "code_block":
                yield token.content.rstrip("\n")
            case _:
                pass


def _inline(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "softbreak" | "hardbreak":
                yield "\n"
            case _:
                yield token.content
