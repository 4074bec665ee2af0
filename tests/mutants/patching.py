"""Putting a mutant into a running process: the code of its function is exchanged, so that nothing is imported anew."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from tests.mutants.sites import Mutant, mutated


def put_in(mutant: Mutant, package: Path) -> None:
    """Raises `LookupError` where the function cannot be found in its module."""
    module = import_module(_name(mutant.path, package))
    code = _code_of(compile(mutated(mutant), str(mutant.path), "exec"), mutant.function.split("."))
    function = _function_of(module, mutant.function)
    if len(code.co_freevars) != len(function.__code__.co_freevars):
        raise LookupError(mutant)
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
