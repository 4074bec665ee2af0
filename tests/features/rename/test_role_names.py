"""A project's role in all its homes: the settings and every definition."""

from __future__ import annotations

import pytest

from loop_ls.features.references import references
from loop_ls.features.rename.answers import Refused, Renamable, Rename
from loop_ls.features.rename.file_rename import moved
from loop_ls.features.rename.rename import prepare, rename
from loop_ls.formats.settings.model import settings_of
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position

SETTINGS = "roles:\n  critic: {access: readonly}\n  'other one': {access: minimal}\n"
LOOP = '{"name": "a", "roles": [{"role": "critic", "prompt": "critic"}, {"role": "coder"}, {"name": "critic"}]}'
OTHER = '{"name": "b", "roles": [{"role": "critic"}]}'
FILES = {".loop-ls.yaml": SETTINGS, "loops/a.json": LOOP, "loops/b.json": OTHER}


def opened() -> tuple[Workspace, dict[str, Document]]:
    documents = {path: Document.open(f"file:///w/{path}", text) for path, text in FILES.items()}
    settings, _ = settings_of({"roles": {"critic": {"access": "readonly"}}})
    return Workspace.of(Roots("/w"), documents.values(), settings), documents


@pytest.mark.parametrize(("path", "at"), [(".loop-ls.yaml", Position(1, 4)), ("loops/a.json", Position(0, 36))])
def test_a_role_is_renamed_wherever_it_takes_a_turn(path: str, at: Position) -> None:
    workspace, documents = opened()
    ready = prepare(workspace, documents[path], at)
    assert isinstance(ready, Renamable)
    assert ready.name == documents[path].text.slice(ready.span) == "critic"
    assert len(references(workspace, documents[path], at)) == 4
    assert len(references(workspace, documents[path], at, declaration=False)) == 3
    done = rename(workspace, documents[path], at, "judge")
    assert isinstance(done, Rename)
    after = {}
    for name, document in documents.items():
        text = document.text
        for edit in reversed(done.edits[document.uri]):
            text = text.edit(edit.span, edit.text)
        after[name] = str(text)
    wanted = {name: text.replace("critic", "judge") for name, text in FILES.items()}
    wanted["loops/a.json"] = wanted["loops/a.json"].replace('"prompt": "judge"', '"prompt": "critic"')
    assert after == wanted


@pytest.mark.parametrize(("at", "new"), [(36, "coder"), (36, "a b"), (36, ""), (74, "mine")])
def test_what_would_mean_something_else_is_refused(at: int, new: str) -> None:
    workspace, documents = opened()
    assert isinstance(rename(workspace, documents["loops/a.json"], Position(0, at), new), Refused)


def test_texts_and_other_settings_name_no_role() -> None:
    workspace, documents = opened()
    assert prepare(workspace, documents["loops/a.json"], Position(0, 55)) is None
    assert prepare(workspace, documents[".loop-ls.yaml"], Position(0, 2)) is None


ROLE = "---\nname: critic\n---\nYou judge like a critic.\n"


def beside(file: str) -> tuple[Workspace, dict[str, Document]]:
    """The same loops where the role has a file of its own."""
    texts = {"roles/critic.md": file, "loops/a.json": LOOP, "loops/b.json": OTHER}
    documents = {path: Document.open(f"file:///w/{path}", text) for path, text in texts.items()}
    settings, _ = settings_of({"roles": {"critic": {"access": "readonly"}}})
    return Workspace.of(Roots("/w"), documents.values(), settings), documents


@pytest.mark.parametrize(("path", "at"), [("roles/critic.md", Position(1, 8)), ("loops/a.json", Position(0, 36))])
def test_a_role_with_a_file_of_its_own_is_renamed_there(path: str, at: Position) -> None:
    workspace, documents = beside(ROLE)
    assert len(references(workspace, documents[path], at)) == 4
    done = rename(workspace, documents[path], at, "judge")
    assert isinstance(done, Rename)
    assert {uri.removeprefix("file:///w/"): len(edits) for uri, edits in done.edits.items()} == {
        "roles/critic.md": 1,
        "loops/a.json": 2,
        "loops/b.json": 1,
    }
    [edit] = done.edits["file:///w/roles/critic.md"]
    assert documents["roles/critic.md"].text.slice(edit.span) == "critic"


def test_one_that_its_file_only_names_by_its_own_name_is_not() -> None:
    workspace, documents = beside("---\naccess: readonly\n---\nYou judge.\n")
    refused = prepare(workspace, documents["loops/a.json"], Position(0, 36))
    assert isinstance(refused, Refused) and "add `name: critic` to the file first" in refused.reason


@pytest.mark.parametrize(
    ("texts", "new", "follow"),
    [
        ({}, "roles/judge.md", True),
        ({}, "roles/coder.md", False),
        ({}, "roles/two words.md", False),
        ({}, "texts/judge.md", False),
        ({"roles/critic.md": "---\nname: critic\n---\nLook closely.\n"}, "roles/judge.md", False),
        ({".claude/agents/critic.md": "---\ndescription: x\n---\nLook closely.\n"}, "roles/judge.md", False),
        ({".loop-ls.yaml": SETTINGS}, "roles/judge.md", False),
    ],
)
def test_stages_follow_a_role_file_that_is_called_like_its_role(texts: dict[str, str], new: str, follow: bool) -> None:
    files = {"roles/critic.md": "---\ndescription: x\n---\nLook closely.\n", "loops/a.json": LOOP, **texts}
    documents = {path: Document.open(f"file:///w/{path}", text) for path, text in files.items()}
    edits = moved(Workspace.of(Roots("/w"), documents.values()), {"/w/roles/critic.md": f"/w/{new}"})
    text = documents["loops/a.json"].text
    for edit in reversed(edits.get("file:///w/loops/a.json", ())):
        text = text.edit(edit.span, edit.text)
    other = LOOP.replace("critic", "judge").replace('"prompt": "judge"', '"prompt": "critic"')
    assert str(text) == (other if follow else LOOP)
