"""What an editor shows of a role file, and of a role in a role loop that has one."""

from __future__ import annotations

import pytest

from loop_ls.features.complete.completion import complete
from loop_ls.features.definition import definition
from loop_ls.features.formatting import formatting
from loop_ls.features.hover.hover import hover
from loop_ls.features.language_support import support_of
from loop_ls.formats.settings.model import settings_of
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position

FILE = "---\nname: critic\naccess: \ntools: [Read, ]\n---\n# You judge\n\nname: nothing\n- x\n"
LOOP = '{"name": "a", "roles": [{"role": "critic", "prompt": "Go."}]}'
IN_LOOP = Position(0, LOOP.index("critic") + 2)


def opened(file: str = FILE, name: str = "critic") -> tuple[Workspace, Document, Document]:
    texts = (f"roles/{name}.md", file), ("loops/a.json", LOOP)
    role, loop = (Document.open(f"file:///w/{path}", text) for path, text in texts)
    settings, _ = settings_of({"roles": {"critic": {"access": "readonly", "instructions": "Judge it."}}})
    return Workspace.of(Roots("/w"), [role, loop], settings), role, loop


@pytest.mark.parametrize(
    ("at", "wanted"),
    [
        (Position(2, 8), ["full", "readonly-shell", "readonly", "minimal"]),
        (Position(3, 14), ["Glob", "Grep", "Write", "Edit", "Bash", "WebFetch"]),
        (Position(2, 0), ["access", "description", "provider", "model", "maxSteps", "isolate"]),
    ],
)
def test_keys_and_values_are_completed(at: Position, wanted: list[str]) -> None:
    workspace, role, _ = opened()
    assert set(wanted) <= {item.label for item in complete(workspace, role, at).items}


@pytest.mark.parametrize("at", [Position(5, 0), Position(6, 0), Position(7, 6), Position(8, 2)])
def test_nothing_is_offered_or_told_in_the_instructions(at: Position) -> None:
    workspace, role, _ = opened()
    assert complete(workspace, role, at).items == ()
    assert hover(workspace, role, at) is None
    assert formatting(role) == ()


def test_a_role_leads_to_its_file_and_tells_what_it_is() -> None:
    workspace, role, loop = opened()
    [link] = definition(workspace, loop, IN_LOOP)
    assert (link.uri, role.text.slice(link.target)) == (role.uri, "critic")
    told = hover(workspace, loop, IN_LOOP)
    assert told is not None and "Judge it." in told.text and "readonly" in told.text
    workspace, role, loop = opened("---\naccess: full\n---\nx\n")
    [link] = definition(workspace, loop, IN_LOOP)
    assert link.target.start == Position(0, 0)


@pytest.mark.parametrize(("file", "name"), [(FILE, "critic"), ("---\n{}\n---\nx", "other")])
def test_a_file_is_one_symbol(file: str, name: str) -> None:
    _, role, _ = opened(file, name)
    [placed] = support_of(role).symbols(role)
    assert placed.symbol.name == name
    assert [one.name for one in support_of(role).found_symbols(role, name[:3])] == [name]
    assert list(support_of(role).found_symbols(role, "zzz")) == []
