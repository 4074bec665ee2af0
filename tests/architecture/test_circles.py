"""No module imports itself through others, not even for the type checker only."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter

from tests.architecture.test_imports import ROOT, modules, tree


def _graph() -> dict[str, set[str]]:
    """Every module of the product, and which of them it imports."""
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in modules()
    }
    graph: dict[str, set[str]] = {}
    for name, path in files.items():
        found = set()
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ImportFrom):
                room = (node.module or "").removeprefix("loop_ls").removeprefix(".")
                for alias in node.names:
                    module = f"{room}.{alias.name}".removeprefix(".")
                    found.add(module if module in files else room)
            elif isinstance(node, ast.Import):
                found |= {alias.name.removeprefix("loop_ls.") for alias in node.names}
        graph[name] = (found & files.keys()) - {name}
    return graph


def _circle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(dict.fromkeys(error.args[1]))
    return []


def test_there_is_no_circle_of_imports() -> None:
    assert _circle(_graph()) == []
