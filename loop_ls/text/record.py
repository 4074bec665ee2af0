"""Value classes that cost little: to make a class, at every start, and to make its instances, by the thousand.

`equal_record` is `dataclass(frozen=True, slots=True)` to a type checker, `record` the same with `eq=False`:
equal by identity. At run time nothing stops an assignment, which makes an instance ten times
cheaper; and all methods but `__init__` are shared, which makes a class five times cheaper. One with a
`cached_property` has no slots.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property
from operator import attrgetter
from typing import Any, TypeVar, cast, dataclass_transform

T = TypeVar("T")

_FIELDS = "__dataclass_fields__"


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(dataclasses.field,))
def record(cls: type[T]) -> type[T]:
    """Make a class of annotated fields one of cheap, immutable values that are equal by identity."""
    return _made(cls, {"__repr__": _repr})


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def equal_record(cls: type[T]) -> type[T]:
    """Make a class of annotated fields one of cheap, immutable values that are equal when their fields are."""
    names = [name for name in _names(cls) if _is_compared(cls.__dict__.get(name))]
    get = attrgetter(*names) if names else lambda _: ()
    return _made(cls, {"__repr__": _repr, **_comparing(get)})


def _made(cls: type[T], methods: dict[str, Any]) -> type[T]:
    names = _names(cls)
    given = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
    members = {name: one for name, one in cls.__dict__.items() if name not in (*given, "__dict__", "__weakref__")}
    fields = _Fields(cls.__annotations__, given)
    made = {**methods, **members, "__init__": _init(names, given), _FIELDS: fields}
    made["__match_args__"] = names
    if not any(isinstance(one, cached_property) for one in members.values()):
        made["__slots__"] = names
    return cast("type[T]", type(cls)(cls.__name__, cls.__bases__, made))  # type: ignore[misc]


def _is_compared(default: object) -> bool:
    return not isinstance(default, dataclasses.Field) or default.compare


def _names(cls: type) -> tuple[str, ...]:
    return tuple(name for name, kind in cls.__annotations__.items() if not str(kind).startswith("ClassVar"))


def _init(names: tuple[str, ...], given: dict[str, Any]) -> Any:
    """Compiled, because one that loops over names takes five times as long."""
    known: dict[str, Any] = {}
    words, lines = ["self"], []
    for name in names:
        default = given.get(name, dataclasses.MISSING)
        if isinstance(default, dataclasses.Field) and default.default is not dataclasses.MISSING:
            default = default.default
        if not isinstance(default, dataclasses.Field):
            words.append(name if default is dataclasses.MISSING else f"{name}=_{name}")
            lines.append(f" self.{name}={name}")
            known[f"_{name}"] = default
        elif default.default_factory is not dataclasses.MISSING:
            words.append(f"{name}=_MISSING")
            lines.append(f" self.{name}=_{name}() if {name} is _MISSING else {name}")
            known |= {f"_{name}": default.default_factory, "_MISSING": dataclasses.MISSING}
        else:
            words.append(name)
            lines.append(f" self.{name}={name}")
    made: dict[str, Any] = {}
    exec(f"def __init__({','.join(words)}):\n" + ("\n".join(lines) or " pass"), known, made)
    return made["__init__"]


def _comparing(get: Callable[[Any], Any]) -> dict[str, Any]:
    def __eq__(self: Any, other: object) -> bool:
        return get(self) == get(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(get(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _repr(self: Any) -> str:
    fields = [field for field in dataclasses.fields(self) if field.repr]
    return f"{type(self).__qualname__}({', '.join(f'{field.name}={getattr(self, field.name)!r}' for field in fields)})"


class _Fields:
    """What `dataclasses.replace` and its kin look for; made when somebody does."""

    __slots__ = ("_annotations", "_given")

    def __init__(self, annotations: dict[str, Any], given: dict[str, Any]) -> None:
        self._annotations, self._given = annotations, given

    def __get__(self, instance: object, owner: type) -> Any:
        members = {"__annotations__": self._annotations, "__module__": owner.__module__, **self._given}
        fields = getattr(dataclasses.dataclass(type(owner.__name__, (), members)), _FIELDS)
        setattr(owner, _FIELDS, fields)
        return fields
