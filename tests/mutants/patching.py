"""Putting a mutant into a running process: the code of its function is exchanged, so that nothing is imported anew."""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from tests.mutants.coverage import called
from tests.mutants.sites import Mutant, mutated, watched

#: The name by which a watched function finds whom it tells; built in, as its module does not know it.
WATCHER = "_tell_that_it_is_called"


def put_in(mutant: Mutant, package: Path) -> None:
    """Raises `LookupError` where the function cannot be found in its module."""
    module = import_module(_name(mutant.path, package))
    _exchange(module, mutant.function, compile(mutated(mutant), str(mutant.path), "exec"))


def watch(mutants: Iterable[Mutant], package: Path) -> None:
    """Have the functions of these mutants tell when they are called."""
    setattr(builtins, WATCHER, called.add)
    for path, functions in _by_path(mutants).items():
        code = compile(watched(path, functions, WATCHER), str(path), "exec")
        for function in functions:
            with contextlib.suppress(LookupError):
                _exchange(import_module(_name(path, package)), function, code)


def _by_path(mutants: Iterable[Mutant]) -> dict[Path, set[str]]:
    found: dict[Path, set[str]] = {}
    for mutant in mutants:
        found.setdefault(mutant.path, set()).add(mutant.function)
    return found


def _exchange(module: ModuleType, name: str, whole: CodeType) -> None:
    code = _code_of(whole, name.split("."))
    function = _function_of(module, name)
    if len(code.co_freevars) != len(function.__code__.co_freevars):
        raise LookupError(name)
    function.__code__ = code


def warm(paths: Iterable[Path], package: Path) -> None:
    """Import every module before the first fork."""
    for path in paths:
        import_module(_name(path, package))


def _name(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _code_of(code: CodeType, names: list[str]) -> CodeType:
    for name in names:
        found = [one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name]
        if not found:
            raise LookupError(name)
        code = found[-1]
    return code


def _function_of(module: ModuleType, name: str) -> FunctionType:
    found: object = module
    for part in name.split("."):
        found = found.__dict__[part] if isinstance(found, ModuleType | type) else getattr(found, part)
    for attribute in ("fget", "func", "__func__"):
        found = getattr(found, attribute, None) or found
    found = getattr(found, "__wrapped__", found)
    if not isinstance(found, FunctionType):
        raise LookupError(name)
    return found
