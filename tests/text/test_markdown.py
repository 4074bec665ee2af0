"""Texts of others inside Markdown, rendered by a parser of CommonMark."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from loop_ls.text.markdown import code, escaped, fenced

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HARMLESS = {"inline", "text", "text_special", "paragraph_open", "paragraph_close", "softbreak", "hardbreak"}
#: What Markdown is made of, and a few letters.
TEXTS = st.text(st.sampled_from("ab1 .)`*_[]()<>!&#~|$@\\+-=:/\"'\t\n;x"), max_size=40)
HOSTILE = [
    "![x](http://127.0.0.1:9/x.png)",
    "[click](command:workbench.action.quit)",
    "<img src=x onerror=y> <http://a.b> &lt;",
    "**bold** _it_ ~~gone~~ a_b_c __x__",
    "# Title\n\ntext\n===\n- list\n1. one\n> quote\n    code\n\n---\n```\nfence",
    "[a]: http://x\n\n[a]",
    "| a | b |\n| - | - |\n| 1 | 2 |",
    "a `tick` and ``two`` and \\",
    "http://a.b www.a.b a@b.c",
]


def tokens(markdown: str) -> list[Token]:
    return [part for token in PARSER.parse(markdown) for part in (token, *(token.children or []))]


def shown(markdown: str) -> str:
    """The letters that a reader sees, blanks aside."""
    texts = (one.content for one in tokens(markdown) if one.type not in ("inline",))
    return "".join("".join(texts).replace("\xa0", " ").split())


@given(TEXTS)
@pytest.mark.parametrize("before", ["", "First “"])
def test_prose_is_seen_letter_by_letter(before: str, text: str) -> None:
    markdown = before + escaped(text)
    assert {token.type for token in tokens(markdown)} <= HARMLESS
    assert shown(markdown) == "".join((before + text).split())


@given(TEXTS)
def test_a_span_of_code_holds_any_text(text: str) -> None:
    markdown = f"**{code(text)}** — x"
    spans = [token for token in tokens(markdown) if token.type == "code_inline"]
    assert len(spans) == 1
    assert spans[0].content.split() == text.split()


@given(TEXTS)
def test_a_fence_is_not_closed_by_its_text(text: str) -> None:
    (fence,) = tokens(fenced(text))
    assert fence.type == "fence"
    assert fence.content == text.replace("\t", "\t") + "\n"


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_hostile_text_is_rendered(text: str) -> None:
    assert {token.type for token in tokens(escaped(text))} <= HARMLESS


def test_addresses_do_not_become_links_by_themselves() -> None:
    assert escaped("see http://a.b and www.a.b or a@b.c") == "see http\\://a.b and www\\.a.b or a\\@b.c"


def test_plain_prose_stays_as_it_is() -> None:
    assert escaped("Write a plan (v1.2), then: ship it!") == "Write a plan (v1.2), then: ship it!"
