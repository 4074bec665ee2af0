"""How much of the wire has no type yet. The figures may only fall: who types a module writes the new ones here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.architecture.test_imports import ROOT, modules, tree

#: Modules that declare a name for untyped values of the wire, such as `Json = Any` or `Answer = dict[str, Any]`.
UNTYPED_WIRE = 1
#: room -> how often `Any` stands in it, imports included.
ANY = {"engine": 61, "server": 12, "client": 2, "contract": 0, "features": 7, "cli": 11, "formats": 25}


def names(path: Path) -> int:
    """How often `Any` stands in a module, as a name or in an import."""
    found = 0
    for node in ast.walk(tree(path)):
        match node:
            case ast.Name(id="Any") | ast.alias(name="Any") | ast.Attribute(attr="Any"):
                found += 1
    return found


def declares_untyped_wire(path: Path) -> bool:
    """Whether a name of the module stands for `Any`, or for a mapping or list of it."""
    untyped = ("Any", "dict[str, Any]", "list[Any]", "Mapping[str, Any]")
    return any(
        isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and ast.unparse(node.value) in untyped
        for node in tree(path).body
    )


def test_modules_that_declare_an_untyped_wire_only_become_fewer() -> None:
    found = [path.relative_to(ROOT).as_posix() for path in modules() if declares_untyped_wire(path)]
    assert len(found) <= UNTYPED_WIRE, "\n".join(found)


@pytest.mark.parametrize("room", ANY)
def test_any_only_becomes_rarer(room: str) -> None:
    counted = {path.relative_to(ROOT).as_posix(): names(path) for path in modules() if path.is_relative_to(ROOT / room)}
    most = sorted(counted.items(), key=lambda one: -one[1])[:10]
    assert sum(counted.values()) <= ANY[room], f"{room}; most of it in {most}"
