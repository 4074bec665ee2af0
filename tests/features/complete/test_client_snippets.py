"""The client's snippets are those of the server, and the editor does not offer them a second time."""

from __future__ import annotations

import json

import pytest

from tests.features.complete.client_snippets import CLIENT, snippets, text


@pytest.mark.parametrize("name", snippets())
def test_they_say_what_the_completion_says(name: str) -> None:
    assert (CLIENT / "snippets" / name).read_text("utf-8") == text(snippets()[name])


def test_none_has_a_prefix_so_that_nothing_is_offered_twice() -> None:
    assert [each for file in snippets().values() for each in file.values() if "prefix" in each] == []


def test_the_client_contributes_each_file() -> None:
    manifest = json.loads((CLIENT / "package.json").read_text("utf-8"))
    named = {one["path"].rpartition("/")[2] for one in manifest["contributes"]["snippets"]}
    assert named == set(snippets())
