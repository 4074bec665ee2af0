"""The runs of this client, made with the first command or the first look for an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from loop_ls.features.answers import ShownRun
    from loop_ls.rules.engine.finding import Finding
    from loop_ls.server.documents.session import OpenDocument
    from loop_ls.server.runs.commands import Runs


class LateRuns:
    """Importing what speaks to an engine takes longer than a keystroke may; before it is there, there are no runs."""

    def __init__(self, make: Callable[[], Runs]) -> None:
        self._make = make
        self._made: Runs | None = None

    def get(self) -> Runs:
        if self._made is None:
            self._made = self._make()
        return self._made

    def views(self, opened: OpenDocument) -> list[ShownRun]:
        """The runs of a file, latest last."""
        return [] if self._made is None else self._made.views(opened)

    def findings(self, opened: OpenDocument) -> tuple[Finding, ...]:
        """What runs said about a document."""
        return () if self._made is None else self._made.findings(opened)

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()
