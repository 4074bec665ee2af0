"""Workspace symbols, document links, linked editing, call hierarchy."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.features import call_hierarchy
from loop_ls.features.linked_editing import linked
from loop_ls.features.links import links
from loop_ls.features.symbols.workspace_symbols import workspace_symbols

FILES = """
#- flow.yaml
$schema: workflow/v2.0
name: flow
version: 1.0.0
env: {TONE: calm}
steps:
  - {name: draft, run: "Draft {{input}}"}
  - {name: once, needs: [draft], template: {name: polish, with: {text: "{{draft}}"}}}
loops:
  - {name: refine, workflow: polish, max_iterations: 2, until: "says PASS", accumulate: drafts}
  - {name: each, workflow: nowhere, mode: iterate, items: "file://data/items.jsonl", max_iterations: 2}
#- sub/polish.yaml
$schema: workflow/v2.0
name: polish_deep
version: 1.0.0
description: Deeper
steps:
  - {name: write, template: {name: helper}}
#- polish-file.yaml
$schema: workflow/v2.0
name: polish
version: 1.0.0
steps:
  - {name: write, embeddings: {input_file: notes/a.txt, provider: openai, model: x}}
"""


def test_workspace_symbols_best_first_with_their_workflow(ask: Any) -> None:
    asked = ask(FILES)
    found = workspace_symbols(asked.workspace, "polish")
    assert [(one.name, one.kind.value) for one in found] == [("polish", "workflow"), ("polish_deep", "workflow")]
    found = workspace_symbols(asked.workspace, "dr")
    assert [(one.name, one.kind.value, one.container) for one in found] == [
        ("draft", "step", "flow"),
        ("drafts", "variable", "flow"),
    ]
    assert {one.name for one in workspace_symbols(asked.workspace, "")} >= {"flow", "TONE", "refine", "write"}
    assert workspace_symbols(asked.workspace, "zzz") == ()
    assert len(workspace_symbols(asked.workspace, "", limit=3)) == 3


def test_every_symbol_marks_its_name(ask: Any) -> None:
    asked = ask(FILES)
    for one in workspace_symbols(asked.workspace, ""):
        assert asked.workspace.documents[one.uri].text.slice(one.span) == one.name


def test_links_to_called_workflows_and_to_files(ask: Any) -> None:
    asked = ask(FILES)
    shown = [(asked.document.text.slice(link.span), link.target) for link in links(asked.workspace, asked.document)]
    assert shown == [
        ("polish", "file:///w/polish-file.yaml"),
        ("polish", "file:///w/polish-file.yaml"),
        ("file://data/items.jsonl", "file:///w/data/items.jsonl"),
    ]
    other = asked.documents["polish-file.yaml"]
    assert [link.target for link in links(asked.workspace, other)] == ["file:///w/notes/a.txt"]


def test_no_link_to_a_file_that_is_not_there(ask: Any) -> None:
    asked = ask(FILES.replace("#- flow.yaml", "#- deep/flow.yaml").replace("name: polish,", "name: x,"))
    found = links(asked.workspace, asked.document, lambda path: path == "/w/data/items.jsonl")
    assert [link.target for link in found if "items" in link.target] == ["file:///w/data/items.jsonl"]
    assert not [link for link in links(asked.workspace, asked.document, lambda path: False) if "items" in link.target]


def test_a_name_and_its_uses_are_typed_over_together(ask: Any) -> None:
    asked = ask(FILES.replace("name: draft", "name: dr$0aft"))
    spans = linked(asked.workspace, asked.document, asked.at)
    assert [asked.document.text.slice(span) for span in spans] == ["draft"] * 3
    assert list(spans) == sorted(spans)


@pytest.mark.parametrize("mark", [("workflow: polish", "workflow: pol$0ish"), ("name: flow", "name: fl$0ow")])
def test_names_of_other_files_are_not_linked(ask: Any, mark: tuple[str, str]) -> None:
    asked = ask(FILES.replace(*mark))
    assert linked(asked.workspace, asked.document, asked.at) == ()


def test_a_name_that_is_there_twice_is_not_linked(ask: Any) -> None:
    asked = ask("steps:\n  - {name: a$0, run: x}\n  - {name: a, run: '{{a}}'}\n")
    assert linked(asked.workspace, asked.document, asked.at) == ()


def test_who_calls_and_who_is_called(ask: Any) -> None:
    asked = ask(FILES.replace("workflow: polish", "workflow: pol$0ish"))
    item = call_hierarchy.prepare(asked.workspace, asked.document, asked.at)
    assert item is not None and item.name == "polish"
    (caller,) = call_hierarchy.incoming(asked.workspace, item.uri)
    assert caller.workflow.name == "flow"
    assert [asked.document.text.slice(place) for place in caller.places] == ["polish", "polish"]
    (callee,) = call_hierarchy.outgoing(asked.workspace, caller.workflow.uri)
    assert callee.workflow.name == "polish" and callee.places == caller.places
    assert call_hierarchy.incoming(asked.workspace, "file:///gone") == ()


def test_elsewhere_in_a_file_its_own_workflow_is_meant(ask: Any) -> None:
    asked = ask(FILES.replace("version: 1.0.0\nenv", "ver$0sion: 1.0.0\nenv"))
    item = call_hierarchy.prepare(asked.workspace, asked.document, asked.at)
    assert item is not None and item.name == "flow"
    assert asked.document.text.slice(item.name_span) == "flow"
