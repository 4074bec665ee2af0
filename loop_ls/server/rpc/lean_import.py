"""Imports pygls and lsprotocol without the work that a start does not need: classes are built on first use.

`import pygls.server` makes 554 attrs classes (lsprotocol), the whole of cattrs and a text store that is not used
here: 150 ms on a processor, before anybody said `initialize`. Three things are left out or put off:

* While lsprotocol's module runs, the body of a class is kept and not run. The class is empty until one is made of it,
  or until something asks for its attributes (`__attrs_attrs__`; cattrs does).
* pygls imports cattrs for one annotation and one `except`; whoever converts imports the real one then.
* `pygls.protocol` imports its language server with it (a workspace, a progress, capabilities); JSON-RPC is enough.

Only for versions that this was tried with, and only in the process of the server. Wherever anything is not as
expected, the packages are imported as they are: slower, never wrong.
"""

from __future__ import annotations

import builtins
import logging
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

#: Beginnings of the versions that this was tried with, by package.
_TRIED = {"lsprotocol": "2025.", "pygls": "2.1."}
_PLACE = "pygls.protocol"
#: Modules whose classes are built on first use.
_LATE = ("lsprotocol.types", "pygls.protocol.json_rpc")


def import_lean() -> bool:
    """Import both packages; whether the lean way was taken. Call it before anything else imports them."""
    if "lsprotocol.types" in sys.modules or _PLACE in sys.modules:
        return False
    folder = _tried_with()
    if folder is None:
        return False
    import attrs

    build, define = builtins.__build_class__, attrs.define
    late = _LateClasses(build, define)
    builtins.__build_class__, attrs.define = late.build, late.define  # type: ignore[assignment]
    try:
        _import_rpc(folder)
    except Exception:
        logger.warning("pygls and lsprotocol are imported in full", exc_info=True)
        for name in [name for name in sys.modules if name.partition(".")[0] in ("pygls", "lsprotocol", "cattrs")]:
            del sys.modules[name]
        return False
    finally:
        builtins.__build_class__, attrs.define = build, define
    return True


def _tried_with() -> Path | None:
    """The folder of both packages, if their versions are known. `importlib.metadata` would take 10 ms to say it."""
    spec = PathFinder.find_spec("pygls")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent.parent
    installed = os.listdir(folder)  # noqa: PTH208 (a quarter of the time)
    wanted = [f"{name}-{version}" for name, version in _TRIED.items()]
    known = all(any(entry.startswith(one) and entry.endswith(".dist-info") for entry in installed) for one in wanted)
    return folder if known else None


class _LateClasses:
    """Stands in for what builds classes and for `attrs.define` while modules of `_LATE` are run, and then for what
    tells the attributes of a class: whoever asks for those has it built."""

    def __init__(self, build: Callable[..., type], define: Callable[..., type]) -> None:
        self._build, self._define = build, define
        self._bodies: dict[type, FunctionType] = {}
        self._decorated: set[type] = set()

        def first(instance: Any, *args: Any, **members: Any) -> None:
            self._finish(type(instance))
            type(instance).__init__(instance, *args, **members)

        self._members = {"__init__": first, "__attrs_attrs__": self}

    def build(self, body: FunctionType, name: str, *bases: type, **options: Any) -> type:
        # An enumeration has bases. Methods are what a decorator may look for, as `total_ordering` does.
        if bases or body.__module__ not in _LATE or CodeType in map(type, body.__code__.co_consts):
            return self._build(body, name, *bases, **options)
        cls = type(name, (), {"__module__": body.__module__, **self._members})
        self._bodies[cls] = body
        return cls

    def define(self, cls: type) -> type:
        if cls not in self._bodies:
            for name, member in self._members.items():
                setattr(cls, name, member)
        self._decorated.add(cls)
        return cls

    def __get__(self, instance: object, cls: type) -> object:
        self._finish(cls)
        return getattr(cls, "__attrs_attrs__")  # noqa: B009 (attrs puts it there)

    def _finish(self, cls: type) -> None:
        for name, member in self._members.items():
            if vars(cls).get(name) is member:
                delattr(cls, name)
        if (body := self._bodies.pop(cls, None)) is not None:
            for name, member in vars(self._build(body, cls.__name__)).items():
                if name not in ("__dict__", "__weakref__"):
                    setattr(cls, name, member)
        if cls in self._decorated:
            self._decorated.remove(cls)
            self._define(cls, slots=False)  # in place: with slots it would be another class


def _import_rpc(folder: Path) -> None:
    """`pygls.protocol.json_rpc` and `pygls.server`, without the rest of their packages."""
    shell = ModuleType(_PLACE)
    shell.__path__ = [str(folder / "pygls" / "protocol")]
    cattrs, errors = ModuleType("cattrs"), ModuleType("cattrs.errors")
    cattrs.Converter = object  # type: ignore[attr-defined]
    errors.ClassValidationError = type("ClassValidationError", (Exception,), {})  # type: ignore[attr-defined]
    given = {_PLACE: shell, "cattrs": cattrs, "cattrs.errors": errors}
    put = {name: sys.modules.setdefault(name, module) for name, module in given.items()}
    try:
        from pygls.protocol import json_rpc

        shell.JsonRPCProtocol = json_rpc.JsonRPCProtocol  # type: ignore[attr-defined]
        import pygls.server  # noqa: F401
    finally:
        for name, module in put.items():
            if module is given[name]:
                del sys.modules[name]
