"""Calls of an assistant besides those of its agent: the memory after each iteration, and rounds of tools of a model."""

from __future__ import annotations

import pytest

from loop_ls.features.estimate.estimate import estimate_of_assistants
from loop_ls.formats.settings.model import settings_of
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace

HEAD = (
    "name: Fixer\npersona: x\nloopEnabled: true\nmaxIterations: 3\nmaxBudgetUsd: 0.5\n"
    "loopCriteria: {type: regex, value: y}\n"
)


@pytest.mark.parametrize(
    ("more", "least", "most", "dollars"),
    [
        ("", 1, 3, 1.5),
        ("memory: m.md\n", 2, 6, None),
        ("servers: [own]\n", 1, 3, 1.5),
        ("servers: [own]\nprovider: openai\n", 1, 3 * 48, 1.5),
        ("servers: [own]\nprovider: openai\nmemory: m.md\n", 2, 3 * 49, None),
    ],
)
def test_calls_at_least_and_at_most(more: str, least: int, most: int, dollars: float | None) -> None:
    document = Document.open("file:///w/fixer.assistant.yaml", HEAD + more)
    settings, _ = settings_of({"providers": {"openai": {"kind": "openai"}}, "servers": {"own": {"command": "x"}}})
    found = estimate_of_assistants(Workspace.of(Roots("/w"), [document], settings), document, None)
    assert (found.calls.least, found.calls.most) == (least, most)
    assert (None if found.usd is None else found.usd.most) == dollars
    assert ("without the calls that keep its memory" in found.why) is ("memory" in more)
