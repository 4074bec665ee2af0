"""Imports lsprotocol without building its five hundred attrs classes up front.

Building them is half of what a server needs to start, and a session uses a few dozen. So while
`lsprotocol.types` is imported, `attrs.define` and `attrs.field` only remember what they were given; a
class is built, in place, when it is first instantiated or inspected. This leans on how one release is
written: for any other release, and whenever something surprises us, the plain import is taken.
"""

from __future__ import annotations

import importlib
import logging
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

#: The releases whose source was checked for what this module assumes.
CHECKED = ("2025.0.0",)

logger = logging.getLogger(__name__)


def load() -> bool:
    """Import `lsprotocol.types`; whether its classes are built lazily."""
    if "lsprotocol.types" in sys.modules:
        return False
    if not _checked_release():
        return False
    try:
        _load_lazily()
    except Exception:
        logger.warning("lsprotocol is imported in the ordinary way, which is slower", exc_info=True)
        for name in [name for name in sys.modules if name.startswith("lsprotocol")]:
            del sys.modules[name]
        importlib.import_module("lsprotocol.types")
        return False
    return True


def _checked_release() -> bool:
    """By the name of the folder beside the package: reading its metadata would cost 20 ms."""
    spec = PathFinder.find_spec("lsprotocol")
    if spec is None or spec.origin is None:
        return False
    beside = Path(spec.origin).parent.parent
    return any((beside / f"lsprotocol-{release}.dist-info").is_dir() for release in CHECKED)


class _Shop:
    """Builds remembered classes. Forward references are resolved once the module is complete."""

    def __init__(self, define: Any, field: Any, resolve_types: Any) -> None:
        self.define, self.field, self.resolve_types = define, field, resolve_types
        self.names: dict[str, Any] | None = None
        self.early: list[type] = []

    def remember(self, cls: Any = None, **options: Any) -> Any:
        """Stands in for `attrs.define`, in the one way in which the checked release uses it."""
        if cls is None or options or "__init__" in cls.__dict__:
            raise NotImplementedError("attrs.define is used in an unknown way")

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            build(cls)
            self.__init__(*args, **kwargs)

        build = self.build
        cls.__init__ = __init__
        cls.__attrs_attrs__ = _Trigger(self, cls)
        return cls

    def build(self, cls: type) -> None:
        if not isinstance(cls.__dict__.get("__attrs_attrs__"), _Trigger):
            return
        del cls.__attrs_attrs__  # type: ignore[attr-defined]
        del cls.__init__  # type: ignore[misc]
        for name, value in tuple(cls.__dict__.items()):
            if type(value) is _Field:
                setattr(cls, name, self.field(**value))
        self.define(cls, slots=False)
        if self.names is None:
            self.early.append(cls)
        else:
            self.resolve_types(cls, self.names, {})

    def complete(self, names: dict[str, Any]) -> None:
        self.names = names
        for cls in self.early:
            self.resolve_types(cls, names, {})


class _Field(dict[str, Any]):
    """Stands in for `attrs.field`: the arguments, for later."""


class _Trigger:
    """Reading `cls.__attrs_attrs__`, as cattrs does, builds the class."""

    __slots__ = ("cls", "shop")

    def __init__(self, shop: _Shop, cls: type) -> None:
        self.shop, self.cls = shop, cls

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        self.shop.build(self.cls)
        return self.cls.__attrs_attrs__  # type: ignore[attr-defined]


def _load_lazily() -> None:
    import attrs

    shop = _Shop(attrs.define, attrs.field, attrs.resolve_types)
    setattr(attrs, "define", shop.remember)  # noqa: B010
    setattr(attrs, "field", _Field)  # noqa: B010
    try:
        types = importlib.import_module("lsprotocol.types")
    finally:
        setattr(attrs, "define", shop.define)  # noqa: B010
        setattr(attrs, "field", shop.field)  # noqa: B010
    hooks = importlib.import_module("lsprotocol._hooks")
    # lsprotocol would resolve, and so build, every class when the first converter is made.
    setattr(hooks, "_resolved_forward_references", True)  # noqa: B010
    shop.complete(types.ALL_TYPES_MAP)
