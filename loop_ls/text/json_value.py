"""JSON values: what a file, a record or a message may hold where no type says more.

Whoever reads one has to ask what it is. Lists and objects inside are read-only to the type checker, so that a
`list[str]` is a JSON value, too. At run time nothing is checked, which keeps pydantic's models of them cheap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None
else:
    Json = object

JsonObject: TypeAlias = dict[str, Json]
