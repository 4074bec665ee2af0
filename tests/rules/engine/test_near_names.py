"""The name that was probably meant is found by names alone: a long file has thousands of steps."""

from __future__ import annotations

import pytest

from loop_ls.index import names
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.element import Definition, Element
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.queries import QueryContext, near_name
from loop_ls.rules.engine.workspace_queries import Neighbours, Summaries

HEAD = "$schema: workflow/v2.0\nname: x\nversion: 1.0.0\nexecution: {provider: ollama, model: m}\nsteps:\n"


def test_no_step_is_looked_at_for_the_nearest_name(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = "".join(f"  - {{name: write_{n}, run: Say it}}\n" for n in range(300))
    document = Document.open("file:///w/x.yaml", f"{HEAD}{steps}")
    looked: list[Element] = []
    plain = names.definitions

    def counted(element: Element) -> list[Definition]:
        looked.append(element)
        return list(plain(element))

    monkeypatch.setattr(names, "definitions", counted)
    world = QueryContext(
        document, Neighbours(Workspace.of(Roots("/w"), [document]), Summaries()), lambda _: 0, document.names
    )
    for _ in range(2):
        assert near_name(world, "wriite_299") == "write_299"
    assert looked == []
