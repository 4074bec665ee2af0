"""A repeated top-level block joins the first one of its name: whose lines go where, and what they are indented by."""

from __future__ import annotations

import pytest

from loop_ls.index.document import Document
from loop_ls.rules.fixes.apply import applied
from loop_ls.rules.fixes.merge_blocks import merged

HEAD = "$schema: workflow/v2.0\n"


def joined(text: str, name: str = "steps") -> str:
    document = Document.open("file:///w/flow.yaml", HEAD + text)
    first, later = (one for one in document.tree.pieces if one.key is not None and one.key.text == name)
    return str(applied(document, merged(document, first, later)).text).removeprefix(HEAD)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "steps:\n  - {name: a}\n\n# loops\nloops:\n  - {name: l}\nsteps:\n  - {name: b}\n",
            "steps:\n  - {name: a}\n\n# loops\n  - {name: b}\nloops:\n  - {name: l}\n",
        ),
        (
            "steps:\n  - {name: a}\nsteps:\n  # second\n  - name: b\n\n    run: x\n\n\nloops:\n  - {name: l}\n",
            "steps:\n  - {name: a}\n  # second\n  - name: b\n\n    run: x\nloops:\n  - {name: l}\n",
        ),
        (
            "steps:\n- {name: a}\nsteps:\n  - name: b\n # far\n    run: x",
            "steps:\n- {name: a}\n- name: b\n# far\n  run: x",
        ),
        (
            "steps:\n  - a\nsteps:\n- name: b\n\n  run: |\n    x\n",
            "steps:\n  - a\n  - name: b\n\n    run: |\n      x\n",
        ),
        ("steps:\n  - a\n\nsteps:\n  - b\n\n\n", "steps:\n  - a\n  - b\n"),
        ("steps:\n  - a\n\nsteps:\n  - b", "steps:\n  - a\n  - b"),
        ("steps:\n  - a\nsteps:\n  - b\n---\nother: 1\n", "steps:\n  - a\n  - b\n---\nother: 1\n"),
        ("steps:\n  # - no\n  - a\nsteps:\n# - no\n- b\n", "steps:\n  # - no\n  - a\n  # - no\n  - b\n"),
    ],
    ids=["between", "comments", "less", "more", "at the end", "unfinished", "second document", "commented out"],
)
def test_the_lines_of_the_later_block_follow_those_of_the_first(before: str, after: str) -> None:
    assert joined(before) == after
    assert joined(before.replace("\n", "\r\n")).replace("\r\n", "\n").removeprefix(HEAD) == after


@pytest.mark.parametrize("other", ["steps: []\n", "steps:\n", "steps: {a: b}\n"])
def test_a_block_without_items_is_joined_by_hand(other: str) -> None:
    for text in (f"steps:\n  - a\n{other}", f"{other}steps:\n  - a\n"):
        assert joined(text) == text
    assert joined("steps:\n  - a\nsteps:\n  - b\n") != "steps:\n  - a\nsteps:\n  - b\n"
