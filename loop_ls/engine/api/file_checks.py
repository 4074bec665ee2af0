"""The port through which the engine has loop files checked: it may not know the checker itself."""

from __future__ import annotations

from typing import Protocol

from loop_ls.contract.answers import CheckedFile, FileEstimate, Refusal
from loop_ls.engine.core.errors import Refused


class FileChecks(Protocol):
    """Findings and estimates of the files of a workspace; paths are counted from its folder."""

    async def check(self, path: str, text: str | None) -> CheckedFile | Refusal: ...

    async def estimate(
        self, path: str, name: str | None, provider: str | None = None, model: str | None = None
    ) -> FileEstimate | Refusal:
        """`provider` and `model`: whom the run asks in place of those that the files name."""
        ...


class NoFileChecks:
    """For an engine that was built without a checker."""

    async def check(self, path: str, text: str | None) -> Refusal:
        return self._refusal()

    async def estimate(
        self, path: str, name: str | None, provider: str | None = None, model: str | None = None
    ) -> Refusal:
        return self._refusal()

    def _refusal(self) -> Refusal:
        return Refused("provider_unavailable", "This engine does not check files.").answer()


NO_FILE_CHECKS = NoFileChecks()
