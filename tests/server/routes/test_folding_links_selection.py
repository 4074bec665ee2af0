"""Links, folds, selections, tokens, hints, calls and formatting over the wire."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from loop_ls.features.semantic_tokens.token import MODIFIERS, TokenType
from loop_ls.features.semantic_tokens.tokens import tokens
from loop_ls.index.document import Document
from loop_ls.index.piece_facts import Facts
from loop_ls.server.capabilities import TOKEN_MODIFIERS, TOKEN_TYPES
from loop_ls.server.documents import token_results
from loop_ls.server.documents.position_mapping import PositionMapping
from loop_ls.server.routes.semantic_tokens import difference
from loop_ls.text.position import span
from tests.server.support.full import OTHER, Full
from tests.server.support.raw import RawClient, insert

Json = dict[str, Any]


@pytest.fixture
def full(server: RawClient, folder: Path) -> Full:
    return Full(server, folder)


def test_links_lead_to_called_workflows_and_files_that_are_there(full: Full) -> None:
    found = full.ask("textDocument/documentLink", full.about("flow"))
    assert [(full.slice("flow", one["range"]), one["target"]) for one in found] == [("draft", full.uri("draft"))]
    (full.folder / "data.txt").write_text("x")
    more = "".join(
        f"  - {{name: {name}, embeddings: {{input_file: {name}.txt, provider: ollama, model: x}}}}\n"
        for name in ("data", "gone")
    )
    text = full.texts["other"] + more
    full.texts["other"] = text
    full.client.change(full.uri("other"), 2, {"text": text})
    found = full.ask("textDocument/documentLink", full.about("other"))
    assert [full.slice("other", one["range"]) for one in found] == ["draft", "data.txt"]


def test_folds_of_sections_items_and_comments(full: Full) -> None:
    found = full.ask("textDocument/foldingRange", full.about("other"))
    lines = OTHER.split("\n")
    starts = {lines[one["startLine"]].strip(): one for one in found}
    assert starts["# A comment"]["kind"] == "comment"
    assert lines[starts["steps:"]["endLine"]].strip() == "timeout: 5400s"
    assert "- name: call" in starts


def test_folds_within_the_limit_of_the_client_are_the_largest(server: RawClient, folder: Path) -> None:
    full = Full(server, folder, {"textDocument": {"foldingRange": {"rangeLimit": 1}}})
    [one] = full.ask("textDocument/foldingRange", full.about("other"))
    assert OTHER.split("\n")[one["startLine"]] == "steps:"


def test_selections_grow_from_the_word_to_the_file(full: Full) -> None:
    places = [full.place("other", "call}}"), full.place("flow", "flow")]
    chains = full.ask("textDocument/selectionRange", {**full.about("other"), "positions": places})
    assert len(chains) == 2
    assert full.slice("other", chains[0]["range"]) == "call"
    ranges = []
    at: Json | None = chains[0]
    while at is not None:
        ranges.append(at["range"])
        at = at.get("parent")
    assert ranges[-1]["start"] == {"line": 0, "character": 0}
    assert len(ranges) > 4


def decoded(full: Full, name: str, data: list[int]) -> list[tuple[str, str, int]]:
    line = column = 0
    found = []
    for at in range(0, len(data), 5):
        down, right, length, kind, modifiers = data[at : at + 5]
        line, column = line + down, right if down else column + right
        start, end = {"line": line, "character": column}, {"line": line, "character": column + length}
        found.append((full.slice(name, {"start": start, "end": end}), TOKEN_TYPES[kind], modifiers))
    return found


def test_the_legend_is_that_of_the_feature(full: Full) -> None:
    assert tuple(kind.value for kind in TokenType) == TOKEN_TYPES
    assert MODIFIERS == TOKEN_MODIFIERS
    legend = full.capabilities["semanticTokensProvider"]["legend"]
    assert legend == {"tokenTypes": list(TOKEN_TYPES), "tokenModifiers": list(TOKEN_MODIFIERS)}


def test_tokens_of_a_file_of_some_lines_and_their_difference(full: Full) -> None:
    first = full.ask("textDocument/semanticTokens/full", full.about("other"))
    found = decoded(full, "other", first["data"])
    assert found[0] == ("other", "function", 1)
    assert [word for word, kind, _ in found if kind == "operator"] == ["{{", "}}"] * 2
    assert ("input", "parameter", 0) in found
    assert [(word, kind) for word, kind, _ in found if word == "call"] == [("call", "variable")] * 3

    line = full.place("other", '"call said')["line"]
    there = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}}
    part = full.ask("textDocument/semanticTokens/range", {**full.about("other"), "range": there})
    assert [word for word, _, _ in decoded(full, "other", part["data"])] == ["{{", "call", "}}"]

    text = full.texts["other"].replace("{{call}}", "{{call}} {{input}}")
    column = len('    run: "call said 😀: {{call}}'.encode("utf-16-le")) // 2
    full.client.change(full.uri("other"), 2, insert(line, column, " {{input}}"))
    full.texts["other"] = text
    params = {**full.about("other"), "previousResultId": first["resultId"]}
    delta = full.ask("textDocument/semanticTokens/full/delta", params)
    data = list(first["data"])
    for edit in delta["edits"]:
        data[edit["start"] : edit["start"] + edit["deleteCount"]] = edit["data"]
    whole = full.ask("textDocument/semanticTokens/full", full.about("other"))["data"]
    assert data == whole
    assert sum(len(edit["data"]) for edit in delta["edits"]) <= 20
    stale = full.ask("textDocument/semanticTokens/full/delta", params)
    assert stale["data"] == whole


@pytest.mark.parametrize(
    ("before", "after"),
    [([], []), ([1] * 10, [1] * 10), ([1] * 10, [1] * 5), ([1] * 5, [1] * 10), ([1] * 5 + [2] * 5, [2] * 5),
     ([], [3] * 5)],
)  # fmt: skip
def test_a_difference_makes_the_new_of_the_old(before: list[int], after: list[int]) -> None:
    data = list(before)
    for edit in difference(before, after):
        data[edit["start"] : edit["start"] + edit["deleteCount"]] = edit["data"]
    assert data == after


def test_hints_stand_behind_their_line_and_explain_themselves_when_asked(full: Full) -> None:
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    found = full.ask("textDocument/inlayHint", {**full.about("other"), "range": everything})
    words = {one["label"]: one for one in found}
    assert "1 h 30 min" in words or any("1" in label and "h" in label for label in words), words
    model = next(one for one in found if "llama3.2" in one["label"])
    assert "tooltip" not in model
    assert "execution" in full.ask("inlayHint/resolve", model)["tooltip"]
    some = {"start": {"line": 0, "character": 0}, "end": {"line": 3, "character": 0}}
    assert full.ask("textDocument/inlayHint", {**full.about("other"), "range": some}) == []


def test_calls_are_followed_in_both_directions(full: Full) -> None:
    [item] = full.ask("textDocument/prepareCallHierarchy", full.about("flow", "draft"))
    assert (item["name"], item["uri"]) == ("draft", full.uri("draft"))
    callers = full.ask("callHierarchy/incomingCalls", {"item": item})
    assert [(one["from"]["name"], full.slice(one["from"]["name"], one["fromRanges"][0])) for one in callers] == [
        ("flow", "draft"),
        ("other", "draft"),
    ]
    called = full.ask("callHierarchy/outgoingCalls", {"item": callers[1]["from"]})
    assert [(one["to"]["name"], full.slice("other", one["fromRanges"][0])) for one in called] == [("draft", "draft")]
    gone = {"item": {**item, "uri": "file:///gone.yaml"}}
    assert full.ask("callHierarchy/incomingCalls", gone) is None


def test_formatting_tidies_and_refuses_what_is_broken(full: Full) -> None:
    text = OTHER.replace("name: call", "name:   call  ").replace("steps:\n", "steps:   \n")
    full.client.change(full.uri("other"), 2, {"text": text})
    full.texts["other"] = text
    options = {"options": {"tabSize": 2, "insertSpaces": True}}
    edits = full.ask("textDocument/formatting", {**full.about("other"), **options})
    assert full.edited("other", edits) == OTHER
    full.client.change(full.uri("other"), 3, {"text": text + "  - [\n"})
    assert full.ask("textDocument/formatting", {**full.about("other"), **options}) == []


def test_a_new_line_in_a_block_text_is_as_deep_as_it(full: Full) -> None:
    text = OTHER.replace('"call said 😀: {{call}}"', "|\n\n    x: 1")
    line = text.split("\n").index("    run: |") + 1
    full.client.change(full.uri("other"), 2, {"text": text})
    full.texts["other"] = text
    params = {**full.about("other"), "position": {"line": line, "character": 0}, "ch": "\n",
              "options": {"tabSize": 2, "insertSpaces": True}}  # fmt: skip
    edits = full.ask("textDocument/onTypeFormatting", params)
    assert [one["newText"] for one in edits] == [" " * 6]


@pytest.mark.parametrize(
    "method",
    ["documentLink", "foldingRange", "selectionRange", "semanticTokens/full", "semanticTokens/full/delta",
     "semanticTokens/range", "inlayHint", "prepareCallHierarchy", "formatting", "onTypeFormatting"],
)  # fmt: skip
def test_odd_params_cost_one_request_and_unknown_documents_get_nothing(full: Full, method: str) -> None:
    assert full.client.ask(f"textDocument/{method}", {"textDocument": {}})["error"]["code"] == -32602
    closed = {"textDocument": {"uri": full.uri("never")}, "positions": []}
    assert full.ask(f"textDocument/{method}", closed) is None
    full.client.notify("textDocument/didClose", full.about("other"))
    assert full.ask(f"textDocument/{method}", full.about("other")) is None
    full.client.open("untitled:foreign.yaml", "a: [1\n")
    assert full.ask(f"textDocument/{method}", {"textDocument": {"uri": "untitled:foreign.yaml"}}) is None
    assert b"Traceback" not in full.client.log


def test_tokens_are_made_again_for_the_part_that_changed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    plain = token_results.tokens_of_part

    def counted(document: Document, facts: Facts) -> object:
        asked.append(facts)
        return plain(document, facts)

    monkeypatch.setattr(token_results, "tokens_of_part", counted)
    head = "$schema: workflow/v2.0\nname: x\nversion: 1.0.0\nexecution: {provider: ollama, model: m}\nsteps:\n"
    text = head + "".join(f"  - name: s{n}\n    run: Say {{{{s{n - 1}}}}} é {{{{late}}}}\n" for n in range(1, 40))
    document = Document.open("file:///w/flow.yaml", text)
    results = token_results.TokenResults(cast(Any, None))

    def told(document: Document) -> int:
        asked.clear()
        found = results.encoded("key", document, PositionMapping(document.text, "utf-16"))
        count = len(asked)
        plain_tokens = token_results.encoded(PositionMapping(document.text, "utf-16"), tokens(document))
        assert found == plain_tokens
        return count

    assert told(document) > 39
    assert told(document) == 0
    line = head.count("\n") + 2 * 20
    typed = document.edit(span(line + 1, 9, line + 1, 9), "again ")
    assert told(typed) == 1
    longer = typed.edit(span(line + 1, 9, line + 1, 9), "again\n      and ")
    assert told(longer) == 1
    renamed = longer.edit(span(line, 10, line, 13), "other")
    assert told(renamed) == 2
    defined = renamed.edit(span(line, 10, line, 15), "late")
    assert told(defined) >= 39
    commented = defined.edit(span(0, 0, 0, 0), "# one more line\n")
    assert told(commented) <= 2
