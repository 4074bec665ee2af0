"""Imports pygls and lsprotocol without the work that a start does not need: classes are built on first use.

`import pygls.server` makes 554 attrs classes (lsprotocol), the whole of cattrs and a text store that is not used
here: 150 ms on a processor, before anybody said `initialize`. Three things are left out or put off:

* lsprotocol calls `attrs.define` for each class. While its module runs, a stand-in only remembers the class, and
  builds it in place when it is first made, or when something asks for its attributes (`__attrs_attrs__`; cattrs does).
* pygls imports cattrs for one annotation and one `except`; whoever converts imports the real one then.
* `pygls.protocol` imports its language server with it (a workspace, a progress, capabilities); JSON-RPC is enough.

Only for versions that this was tried with, and only in the process of the server. Wherever anything is not as
expected, the packages are imported as they are: slower, never wrong.
"""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

logger = logging.getLogger(__name__)

#: Beginnings of the versions that this was tried with, by package.
_TRIED = {"lsprotocol": "2025.", "pygls": "2.1."}
_PLACE = "pygls.protocol"


def import_lean() -> bool:
    """Import both packages; whether the lean way was taken. Call it before anything else imports them."""
    if "lsprotocol.types" in sys.modules or _PLACE in sys.modules:
        return False
    folder = _tried_with()
    if folder is None:
        return False
    try:
        _import_types()
        _import_rpc(folder)
    except Exception:
        logger.warning("pygls and lsprotocol are imported the slow way", exc_info=True)
        for name in [name for name in sys.modules if name.partition(".")[0] in ("pygls", "lsprotocol", "cattrs")]:
            del sys.modules[name]
        return False
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


# -- classes of lsprotocol --------------------------------------------------------------------


def _import_types() -> None:
    import attrs

    define, field = attrs.define, attrs.field
    lazily = _Lazily(define, field)
    attrs.define, attrs.field = lazily, _Member  # type: ignore[assignment]
    try:
        import lsprotocol.types
    finally:
        attrs.define, attrs.field = define, field
    # A copy: resolving names writes into it, and lsprotocol walks its own while classes are built.
    lazily.finish(dict(lsprotocol.types.ALL_TYPES_MAP))


class _Member:
    """Stands in for what `attrs.field` makes, until its class is built."""

    __slots__ = ("options",)

    def __init__(self, **options: Any) -> None:
        self.options = options


class _Lazily:
    """Stands in for `attrs.define` while lsprotocol's module runs."""

    def __init__(self, define: Callable[..., Any], field: Callable[..., Any]) -> None:
        self._define, self._field = define, field
        self._names: dict[str, object] | None = None
        self._early: list[type] = []

    def __call__(self, cls: Any = None, **options: Any) -> Any:
        if cls is None or options:
            raise TypeError(f"lsprotocol makes a class with options: {options}")
        if "__init__" in cls.__dict__:
            self._make_members(cls)
            return self._define(cls)

        def __init__(instance: Any, *args: Any, **members: Any) -> None:
            self.build(cls)
            type(instance).__init__(instance, *args, **members)

        cls.__init__ = __init__
        cls.__attrs_attrs__ = _Attributes(self, cls)
        return cls

    def build(self, cls: type) -> None:
        if not isinstance(cls.__dict__.get("__attrs_attrs__"), _Attributes):
            return
        type.__delattr__(cls, "__attrs_attrs__")
        type.__delattr__(cls, "__init__")
        self._make_members(cls)
        self._define(cls, slots=False)  # in place: with slots it would be another class
        if self._names is None:
            self._early.append(cls)
        else:
            self._resolve(cls)

    def _make_members(self, cls: type) -> None:
        for name, member in tuple(vars(cls).items()):
            if isinstance(member, _Member):
                setattr(cls, name, self._field(**member.options))

    def finish(self, names: dict[str, object]) -> None:
        self._names = names
        for cls in self._early:
            self._resolve(cls)

    def _resolve(self, cls: type) -> None:
        """What lsprotocol does for all classes at once when its converter is made."""
        import attrs

        attrs.resolve_types(cls, self._names, {})


class _Attributes:
    """In place of `__attrs_attrs__`: whoever asks for the attributes of a class has it built."""

    def __init__(self, lazily: _Lazily, cls: type) -> None:
        self._lazily, self._cls = lazily, cls

    def __get__(self, instance: object, owner: type) -> object:
        self._lazily.build(self._cls)
        return getattr(owner, "__attrs_attrs__")  # noqa: B009 (attrs puts it there)


# -- modules of pygls --------------------------------------------------------------------------


def _import_rpc(folder: Path) -> None:
    """`pygls.protocol.json_rpc` and `pygls.server`, without the rest of their packages."""
    shell = ModuleType(_PLACE)
    shell.__path__ = [str(folder / "pygls" / "protocol")]
    cattrs, errors = ModuleType("cattrs"), ModuleType("cattrs.errors")
    cattrs.Converter = object  # type: ignore[attr-defined]
    errors.ClassValidationError = type("ClassValidationError", (Exception,), {})  # type: ignore[attr-defined]
    with _in_place({_PLACE: shell, "cattrs": cattrs, "cattrs.errors": errors}):
        from pygls.protocol import json_rpc

        shell.JsonRPCProtocol = json_rpc.JsonRPCProtocol  # type: ignore[attr-defined]
        import pygls.server  # noqa: F401


@contextmanager
def _in_place(modules: dict[str, ModuleType]) -> Iterator[None]:
    """With these modules under their names, and none of them afterwards."""
    kept = {name: sys.modules[name] for name in modules if name in sys.modules}
    sys.modules.update({name: module for name, module in modules.items() if name not in kept})
    try:
        yield
    finally:
        for name in modules.keys() - kept.keys():
            sys.modules.pop(name, None)
