"""The port through which the engine has loop files checked: it may not know the checker itself."""

from __future__ import annotations

from typing import Protocol

from loop_ls.contract.answers import CheckedFile, FileEstimate, Refusal


class FileChecks(Protocol):
    """Findings and estimates of the files of a workspace; paths are counted from its folder."""

    async def check(self, path: str, text: str | None) -> CheckedFile | Refusal: ...

    async def estimate(self, path: str, name: str | None) -> FileEstimate | Refusal: ...
