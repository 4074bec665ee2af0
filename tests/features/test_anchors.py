"""Anchors and aliases: highlight, references, rename, hover and completion behind a star."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.features.highlight import highlight
from loop_ls.features.references import references
from loop_ls.features.rename.answers import Refused, Renamable, Rename
from loop_ls.features.rename.rename import prepare, rename

FLOW = """
#- flow.yaml
$schema: workflow/v2.0
name: flow
version: 1.0.0
steps:
  - &base
    name: draft
    run: "About {{input}}, R&D, &base and *base"
    on_failure: retry
  - <<: *base
    name: check
    needs: &first [draft]
  - name: merge
    needs: *first
    run: "Merge" # *base, &base
  - <<: *base
    name: last
    timeout: &free 30s
"""


def marked(ask: Any, mark: str, source: str = FLOW) -> Any:
    plain = mark.replace("|", "")
    assert source.count(plain) == 1, plain
    return ask(source.replace(plain, mark.replace("|", "$0")))


def written(asked: Any, spans: list[Any]) -> list[str]:
    return [f"{span.start.line + 1} {asked.document.text.slice(span)}" for span in spans]


@pytest.mark.parametrize("mark", ["- &ba|se\n", "<<: *ba|se\n    name: check", "<<: *|base\n    name: last"])
def test_an_anchor_and_its_aliases_are_highlighted_and_listed(ask: Any, mark: str) -> None:
    asked = marked(ask, mark)
    found = highlight(asked.workspace, asked.document, asked.at)
    assert written(asked, [one.span for one in found]) == ["5 base", "9 base", "15 base"]
    assert [one.writes for one in found] == [True, False, False]
    places = references(asked.workspace, asked.document, asked.at)
    assert written(asked, [one.span for one in places]) == ["5 base", "9 base", "15 base"]


@pytest.mark.parametrize("mark", ["R&D, &ba|se", "and *ba|se", "# *ba|se", "*base, &ba|se\n"])
def test_words_in_texts_and_comments_are_no_anchors(ask: Any, mark: str) -> None:
    asked = marked(ask, mark)
    assert highlight(asked.workspace, asked.document, asked.at) == ()


@pytest.mark.parametrize("mark", ["needs: &fir|st", "needs: *first|\n"])
def test_an_anchor_is_renamed_with_its_aliases(ask: Any, mark: str) -> None:
    asked = marked(ask, mark)
    ready = prepare(asked.workspace, asked.document, asked.at)
    assert isinstance(ready, Renamable)
    assert ready.name == "first"
    found = rename(asked.workspace, asked.document, asked.at, "up")
    assert isinstance(found, Rename)
    text = asked.document.text
    for edit in reversed(found.edits[asked.document.uri]):
        text = text.edit(edit.span, edit.text)
    assert str(text) == asked.fixture.main.text.replace("first", "up")


def test_an_anchor_without_aliases_is_renamed_too(ask: Any) -> None:
    asked = marked(ask, "timeout: &fr|ee")
    found = rename(asked.workspace, asked.document, asked.at, "short")
    assert isinstance(found, Rename)
    assert [edit.text for edit in found.edits[asked.document.uri]] == ["short"]


@pytest.mark.parametrize(("new", "reason"), [("base", "already"), ("a b", "spaces"), ("a]", "brackets")])
def test_a_name_that_would_mean_something_else_is_refused(ask: Any, new: str, reason: str) -> None:
    asked = marked(ask, "needs: &fir|st")
    found = rename(asked.workspace, asked.document, asked.at, new)
    assert isinstance(found, Refused)
    assert reason in found.reason


def test_hover_of_an_alias_shows_what_stands_there(ask: Any) -> None:
    told = marked(ask, "<<: *ba|se\n    name: check").told
    assert told.startswith("**`*base`** — alias of `&base`\n\n```yaml\nname: draft\n")
    assert told.endswith("\non_failure: retry\n```")


def test_hover_of_an_anchor_shows_what_it_marks_and_how_often_it_is_used(ask: Any) -> None:
    told = marked(ask, "needs: &fir|st").told
    assert told.startswith("**`&first`** — anchor, used 1 time as `*first`\n\n```yaml\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  - {name: x, run: a, needs: *$0}", ["*free", "*first", "*base"]),
        ("  - <<: *b$0a", ["*free", "*first", "*base"]),
        ("  - name: x\n    run: a\n    needs: *$0", ["*free", "*first", "*base"]),
    ],
)
def test_behind_a_star_the_anchors_above_are_completed(ask: Any, line: str, expected: list[str]) -> None:
    asked = ask(FLOW + line + "\n  - {name: z, run: &below text}\n")
    assert asked.labels == expected
    assert "*base" in asked.accepted_line("*base")
    assert "*ba*" not in asked.accepted_line("*base")


def test_a_star_in_a_prompt_is_no_alias(ask: Any) -> None:
    asked = ask(FLOW + "  - name: x\n    run: |\n      Points:\n      - *$0\n")
    assert asked.labels == []
