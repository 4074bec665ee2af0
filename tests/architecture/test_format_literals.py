"""A file format is named in its own folders; everything else asks its registration: a new one needs no edits."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.architecture.test_imports import ROOT, modules, tree

#: Folders that are about one format, and registries in which the names of the product's own stand.
FOLDERS = {"workflow", "role_loop", "assistant", "settings", "languages", "roles", "assistants"}
#: These words mean nothing else.
ALWAYS = {"role_loop", "lookalike"}
#: These do: they are names of formats where something called `format` is compared with them, or holds them.
SOMETIMES = {"workflow", "assistant", "settings"}

#: Modules that still name one by its constant, because they do something for that format alone. It may only fall.
MOST_BY_CONSTANT = 39

_NAMES = {"WORKFLOW", "ROLE_LOOP", "ASSISTANT", "SETTINGS"}


def _is_format(node: ast.expr | None) -> bool:
    """Whether an expression is called `format`: `document.format`, `state.get("format")`, `one["format"]`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_") in ("format", "formats")
        case ast.Subscript(slice=ast.Constant(value=name)) | ast.Call(args=[ast.Constant(value=name), *_]):
            return name == "format"
        case ast.Call(args=[argument]):
            return _is_format(argument)
    return False


def _constants(node: ast.AST) -> set[ast.Constant]:
    return {one for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def _about_formats(module: ast.Module) -> set[ast.Constant]:
    """The texts that are compared with something called `format`, or are kept under that name."""
    found: set[ast.Constant] = set()
    for node in ast.walk(module):
        match node:
            case ast.Compare(left=left, comparators=others) if any(map(_is_format, [left, *others])):
                found |= {one for side in (left, *others) if not _is_format(side) for one in _constants(side)}
            case ast.Match(subject=subject, cases=cases) if _is_format(subject):
                found |= {one for case in cases for one in _constants(case.pattern)}
            case ast.keyword(arg="format" | "formats", value=value):
                found |= _constants(value)
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value == "format" and isinstance(value, ast.Constant):
                        found.add(value)
    return found


def _count(path: Path) -> int:
    module = tree(path)
    names = {one for one in _constants(module) if one.value in ALWAYS}
    return len(names | {one for one in _about_formats(module) if one.value in SOMETIMES})


def _elsewhere() -> list[Path]:
    return [path for path in modules() if not FOLDERS & set(path.relative_to(ROOT).parts[:-1])]


def _names_one(path: Path) -> bool:
    imports = [node for node in ast.walk(tree(path)) if isinstance(node, ast.ImportFrom)]
    from_registry = [node for node in imports if node.module == "loop_ls.formats.registry"]
    whole = any(
        alias.name == "registry" for node in imports if node.module == "loop_ls.formats" for alias in node.names
    )
    return whole or any(alias.name in _NAMES for node in from_registry for alias in node.names)


def test_no_module_spells_a_file_format_that_it_is_not_about() -> None:
    found = {path.relative_to(ROOT).as_posix(): _count(path) for path in _elsewhere()}
    found.pop("features/language_support.py")  # the name of a module
    assert {name: count for name, count in found.items() if count} == {}


def test_modules_that_do_something_for_one_format_get_fewer() -> None:
    assert sum(map(_names_one, _elsewhere())) <= MOST_BY_CONSTANT
