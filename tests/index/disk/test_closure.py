"""A few files checked in a tree: the same findings as where all of it is read, and nothing is read besides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from loop_ls.index.disk import closure, discovery
from loop_ls.index.disk.closure import discover_around
from loop_ls.index.disk.discovery import discover
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker, checkable
from loop_ls.rules.engine.finding import Finding

HEAD = "$schema: workflow/v2.0\nname: {}\nversion: 1.0.0\ndescription: A flow\n"
MODEL = "execution: {{provider: ollama, model: llama3.2}}\n"
FLOW = HEAD + MODEL


def flow(name: str, *steps: str) -> str:
    return FLOW.format(name) + "steps:\n" + "".join(f"  - {step}\n" for step in steps)


def call(name: str, step: str = "one", arguments: str = "topic: x") -> str:
    return f"{{name: {step}, template: {{name: {name}, with: {{{arguments}}}}}}}"


def loop(name: str) -> str:
    return f"{{name: again, loop: {{workflow: {name}, until: done, max_iterations: 3, with: {{topic: x}}}}}}"


#: Who calls whom in every way that a name can be written, and what only looks like it.
TREE: dict[str, str | bytes] = {
    "draft.yaml": flow("draft", '{name: w, run: "Write on {{topic}} and {{mood}}, {{loop.last.output}}"}'),
    "calls/a.yaml": flow("a", call("draft"), call("b")),
    "calls/b.yaml": flow("b", call("c", arguments="other: y")),
    "calls/deep/c.yaml": flow("c", call("a")),
    "c.yaml": flow("c", call("a"), call("calls/a", "two")),
    "calls/draft.yaml": flow("draft", loop("'draft'")),
    "twin/one.yaml": flow("same", call("same")),
    "twin/two.yaml": flow("same", call("unknwon")),
    "twin/unknown.yaml": flow("unknown", call("sane"), call("draaft", "two")),
    "odd/escaped.yaml": FLOW.format('"dra\\x66t"') + "steps:\n  - " + call('"dr\\u0061ft"') + "\n",
    "odd/folded.yaml": FLOW.format("my\n  folded flow") + f"steps:\n  - {call('draft')}\n",
    "odd/calls folded.yaml": flow("x", call('"my folded\n      flow"'), call("it's", "two")),
    "odd/quoted.yaml": FLOW.format("'it''s'") + f"steps:\n  - {loop('draft')}\n",
    "odd/anchored.yaml": FLOW.format("&n anchored") + "steps:\n  - {name: one, template: {name: *n}}\n",
    "odd/late.yaml": MODEL.format() + f"steps:\n  - {call('anchored')}\nname: late\n$schema: workflow/v2.0\n",
    "odd/empty.yaml": "",
    "odd/broken.yaml": flow("broken", call("late"), "{name: [") + "name: second\n",
    "odd/merged.yaml": HEAD.format("true") + f"steps:\n  - {call('calls/a')}\n",
    "odd/latin.yaml": b"$schema: workflow/v2.0\nname: latin\nversion: 1.0.0\n# \xe9\n",
    "odd/binary.yaml": b"$schema: workflow/v2.0\nname: binary\nversion: 1.0.0\n# \x00\n",
    "odd/calls.yaml": flow("calls", call("latin"), call("binary", "two"), call("lat", "three")),
    "odd/ünï.yaml": flow("größe", call("größe"), call("grosse", "two")),
    "below/.loop-ls.yaml": "rules: {WF502: error}\n",
    "below/a.yaml": flow("a", call("draft"), call("calls/a", "two"), call("inner", "three")),
    "below/inner.yaml": flow("inner", '{name: w, run: "On {{topic}} and {{mood}}"}'),
    "loops/one.json": '{"name": "one", "stages": []}',
    "loops/two.json": '{"name": "one"}',
    "ignored/hidden.yaml": flow("hidden", call("draft")),
    "calls hidden.yaml": flow("calls_hidden", call("ignored/hidden"), call("ignored/hiden", "two")),
    "foreign.yaml": "draft: [a, b]\n",
    "draft.checks.yaml": "checks: []\n",
    ".gitignore": "ignored/\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in TREE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return tmp_path


def said(folder: Path, *paths: Path, narrow: bool) -> list[object]:
    """Everything that a report can show of these files."""
    named = [path.as_posix() for path in paths]
    found = discover_around(folder.as_posix(), named) if narrow else discover(folder.as_posix(), named=named)
    documents = [one for one in found.workspace.documents.values() if one.path in named]
    workspace, untold = checkable(found, found.workspace, documents)
    told = Checker(("pedantic",)).check_all(workspace, {one.uri for one in documents})
    return [
        (document.path, shown(one), [(fix.title, fix.edits(document)) for fix in one.fixes])
        for document, findings in told
        for one in findings
        if one.rule not in untold
    ]


def shown(one: Finding) -> tuple[object, ...]:
    return one.rule, one.severity, one.span, one.message, one.related, one.tags, one.data


@pytest.mark.parametrize("name", sorted(set(TREE) - {".gitignore"}))
def test_one_file_has_the_findings_that_it_has_where_all_are_read(tree: Path, name: str) -> None:
    path = tree / name
    assert said(tree, path, narrow=True) == said(tree, path, narrow=False)


def test_several_files_have_the_findings_that_they_have_where_all_are_read(tree: Path) -> None:
    paths = [tree / name for name in TREE if name.endswith(".yaml") and not name.startswith("ignored")]
    assert said(tree, *paths, narrow=True) == said(tree, *paths, narrow=False)


def test_a_file_outside_of_the_tree_is_read_with_what_it_calls(
    tree: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("outside") / "x.yaml"
    path.write_text(flow("x", call("draft"), call("calls/a", "two")))
    found = discover_around(tree.as_posix(), [path.as_posix()]).workspace
    document = next(one for one in found.documents.values() if one.path == path.as_posix())
    assert [resolution.key for _, _, resolution in found.calls(document)] == ["draft", "calls/a"]


def test_what_a_file_does_not_depend_on_is_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(60):
        (tmp_path / f"flow{number}.yaml").write_text(flow(f"flow{number}", call(f"flow{number + 1}")))
    loaded: list[str] = []

    def load(path: str, real: Callable[[str], object] = discovery.load) -> object:
        loaded.append(Path(path).stem)
        return real(path)

    monkeypatch.setattr(closure, "load", load)
    monkeypatch.setattr(closure, "invariant", lambda holds, sentence: None)
    (tmp_path / "flow7.yaml").write_text(flow("flow7", call("flow56"), call("flow_57", "two")))
    found = discover_around(tmp_path.as_posix(), [(tmp_path / "flow7.yaml").as_posix()]).workspace
    assert sorted(set(loaded)) == ["flow55", "flow56", "flow57", "flow58", "flow59", "flow6", "flow7"]
    assert len(loaded) == len(set(loaded))
    assert known_names(found) == {f"flow{number}" for number in range(60)}
    assert [one.suggestions[:1] for _, _, one in found.calls(next(iter(found.documents.values())))][1] == ("flow57",)


def known_names(workspace: Workspace) -> set[str]:
    return {*workspace.keys, *(one.name for one in workspace.unread)}
