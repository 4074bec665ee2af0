"""The converter between messages and lsprotocol's classes, made when it is first needed.

Start-up and typing do without it (see `protocol.LoopProtocol.raw`).
"""

from __future__ import annotations

from typing import Any


class LateConverter:
    """Stands in for `cattrs.Converter` with the two methods that pygls uses."""

    def __init__(self) -> None:
        self._made: Any = None

    @property
    def _converter(self) -> Any:
        if self._made is None:
            from pygls.protocol import default_converter

            self._made = default_converter()  # type: ignore[no-untyped-call]
        return self._made

    def structure(self, message: Any, shape: Any) -> Any:
        return self._converter.structure(message, shape)

    def unstructure(self, value: Any) -> Any:
        return self._converter.unstructure(value)
