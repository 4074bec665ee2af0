"""Our Markdown for clients that render none."""

from __future__ import annotations

import pytest

from loop_ls.features.text.plain_text import plain_text
from loop_ls.text.markdown import code, escaped, fenced


@pytest.mark.parametrize("text", ["a_b_c *x* [y](z) <b> &lt; `t`", "# no title", "1. no list", "www.a.b http://x"])
def test_what_was_escaped_is_plain_again(text: str) -> None:
    assert plain_text(f"**{code('n')}** — step\n\n{escaped(text)}") == f"n — step\n\n{text}"


def test_fences_and_line_breaks_stay_lines() -> None:
    assert plain_text(f"{escaped('one' + chr(10) + 'two')}\n\n{fenced('a: 1', 'yaml')}") == "one\ntwo\n\na: 1"
