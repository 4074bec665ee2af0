"""What many rules ask of one version is worked out once: names, references, circles, errors of called files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from loop_ls.formats.settings.model import settings_of
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine import queries, workspace_queries
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding
from loop_ls.rules.engine.queries import QueryContext
from loop_ls.rules.engine.workspace_queries import Neighbours, Summaries
from loop_ls.testing.fixture import HEAD, MODEL

PROFILES = ("compat", "pedantic")
#: Two steps that ask the same of names and of other files.
FLOW = """\
steps:
  - {name: outline, run: "{{inptu}} {{outlin}}"}
  - {name: essay, needs: [outline], run: "{{outline}} {{inptu}} {{otline}}"}
  - {name: first, needs: [essay], template: {name: second, with: {input: "{{essay}}"}}}
  - {name: again, needs: [first], template: {name: second, with: {input: "{{first}}"}}}
  - {name: lost, needs: [again], template: {name: nobody}}
  - {name: lost_too, needs: [lost], template: {name: nobody}}
loops:
  - {name: polish, workflow: second, max_iterations: 200, until: "It says READY"}
  - {name: refine, workflow: second, max_iterations: 3, until: "It says READY"}
"""
SECOND = "steps:\n  - {name: a, template: {name: third, with: {input: '{{input}}'}}}\n"
THIRD = "steps:\n  - {name: a, template: {name: BACK, with: {input: '{{input}}'}}}\n"
LAST = "steps:\n  - {name: a, run: '{{input}}', colour: red}\n"


def workspace_of(back: str = "last") -> Workspace:
    texts = {"flow": FLOW, "second": SECOND, "third": THIRD.replace("BACK", back), "last": LAST}
    documents = [
        Document.open(f"file:///ws/{name}.yaml", HEAD.format(name=name) + MODEL + texts[name]) for name in texts
    ]
    return Workspace.of(Roots("/ws"), documents)


def flow_of(workspace: Workspace) -> Document:
    return workspace.documents["file:///ws/flow.yaml"]


def watched(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> list[tuple[object, ...]]:
    calls: list[tuple[object, ...]] = []
    own: Callable[..., object] = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *about: (calls.append(about), own(*about))[1])
    return calls


def test_a_reference_is_looked_up_once_for_each_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    found, missed = (
        watched(monkeypatch, workspace_queries, "resolve"),
        watched(monkeypatch, Workspace, "resolve"),
    )
    folders = watched(monkeypatch, Workspace, "folder")
    workspace = workspace_of()
    near = Neighbours(workspace, Summaries())
    for _ in range(2):
        for document in workspace.documents.values():
            for element in document.calling:
                near.callee(document, element.reference.text)  # type: ignore[union-attr]
                near.circle(document, element)
    assert sorted(str(reference) for _, reference, _ in found) == ["last", "nobody", "second", "third"]
    assert [reference for _, _, reference in missed] == ["nobody"]
    asked = [document.path for _, document in folders if document in workspace.documents.values()]  # type: ignore[attr-defined]
    assert len(asked) <= len(workspace.documents) + len(missed)


def test_a_way_back_is_looked_for_only_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ways = watched(monkeypatch, workspace_queries, "circle_through")
    for back, expected in (("last", None), ("flow", ("flow", "second", "third", "flow")), ("second", None)):
        workspace = workspace_of(back)
        flow, near = flow_of(workspace), Neighbours(workspace, Summaries())
        ways.clear()
        found = near.circle(flow, flow.calling[0])
        assert (None if found is None else found.keys) == expected
        assert len(ways) == (expected is not None)
    second = workspace.documents["file:///ws/second.yaml"]
    found = near.circle(second, second.calling[0])
    assert found is not None
    assert found.keys == ("second", "third", "second")


def test_a_file_that_calls_itself_is_a_circle() -> None:
    text = HEAD.format(name="flow") + MODEL + THIRD.replace("BACK", "flow")
    flow = Document.open("file:///ws/flow.yaml", text)
    found = Neighbours(Workspace.of(Roots("/ws"), [flow]), Summaries()).circle(flow, flow.calling[0])
    assert found is not None
    assert found.keys == ("flow", "flow")


def _world(document: Document, workspace: Workspace) -> QueryContext:
    return QueryContext(document, Neighbours(workspace, Summaries()), lambda key: 0, document.names)


def test_the_name_that_was_meant_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = workspace_of()
    world = _world(flow_of(workspace), workspace)
    looked = watched(monkeypatch, queries, "nearest")
    assert [queries.near_variable(world, "inptu") for _ in range(3)] == ["input"] * 3
    assert len(looked) == 1
    meanings = watched(monkeypatch, queries, "_known")
    assert queries.known(world, "outline") is queries.known(world, "outline")
    assert queries.known(world, "nobody") is queries.known(world, "nobody") is None
    assert len(meanings) == 1


def test_the_names_are_sorted_and_the_readers_of_loops_are_listed_once() -> None:
    text = HEAD.format(name="flow") + MODEL + FLOW.replace("{{outlin}}", "{{loop.iteration}}")
    document = Document.open("file:///ws/flow.yaml", text)
    world = _world(document, Workspace.of(Roots("/ws"), [document]))
    assert queries._sorted_names(world) is queries._sorted_names(world)
    readers = queries._readers_of_loops(world)
    assert len(readers) == 1
    assert queries._readers_of_loops(world) is readers


def test_the_world_of_a_document_is_the_same_for_all_its_rules() -> None:
    checker, workspace = Checker(), workspace_of()
    flow = flow_of(workspace)
    first = checker._world(workspace, flow)
    assert checker._world(workspace, flow) is first
    other = checker._world(workspace, workspace.documents["file:///ws/last.yaml"])
    assert other.neighbours is first.neighbours, "what is known of other files serves all of them"
    again = Workspace.of(Roots("/ws"), workspace.documents.values())
    assert checker._world(again, flow).neighbours.workspace is again


def test_the_errors_of_a_called_file_are_counted_once_and_anew_after_an_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = watched(monkeypatch, Checker, "_counted")
    checker, workspace = Checker(), workspace_of()
    third, last = (workspace.documents[f"file:///ws/{name}.yaml"] for name in ("third", "last"))
    assert [one.rule for one in checker.findings(workspace, third)] == ["WF609"]
    checker.findings(workspace, third)
    assert len(counted) == 1
    mended = Document.open(
        last.uri, HEAD.format(name="last") + MODEL + LAST.replace(", colour: red", ""), last.version + 1
    )
    assert checker.findings(workspace.with_document(mended), third) == ()


def test_a_called_file_is_summed_up_once_for_each_of_its_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    summed = watched(monkeypatch, workspace_queries, "summarise")
    checker, workspace = Checker(), workspace_of()
    for document in workspace.documents.values():
        checker.findings(workspace, document)
    uris = [document.uri for (document,) in summed]  # type: ignore[attr-defined]
    assert sorted(uris) == sorted(set(uris))
    assert len(uris) == 3
    third = workspace.documents["file:///ws/third.yaml"]
    edited = Document.open(third.uri, str(third.text) + "# seen\n", third.version + 1)
    workspace = workspace.with_document(edited)
    for document in workspace.documents.values():
        checker.findings(workspace, document)
    assert [document for (document,) in summed[3:]] == [edited]


def test_other_settings_and_another_folder_count_at_once() -> None:
    checker, workspace = Checker(PROFILES), workspace_of()
    flow, seen = flow_of(workspace), set()
    settings = [settings_of(one)[0] for one in ({}, {"limits": {"maxIterations": 1}}, {"rules": {"WF501": "off"}})]
    for roots in ("/ws", "/"):
        for one in settings:
            other = Workspace.of(Roots(roots), workspace.documents.values(), one)
            told = _told(checker.findings(other, flow))
            assert told == _told(Checker(PROFILES).findings(other, flow))
            seen.add(tuple(told))
    assert len(seen) == 6


def _told(findings: tuple[Finding, ...]) -> list[str]:
    return [f"{one.span} {one.rule} {one.message}" for one in findings]
