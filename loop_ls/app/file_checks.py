"""Findings and estimates of one file, for the engine's interface. The checker is imported with the first question."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from loop_ls.text.record import equal_record

if TYPE_CHECKING:
    from loop_ls.contract.answers import CheckedFile, FileEstimate, Refusal


@equal_record
class ProjectChecks:
    """Fills `engine.api.file_checks.FileChecks` for the files below `root`."""

    root: Path

    async def check(self, path: str, text: str | None) -> CheckedFile | Refusal:
        from loop_ls.app.check_file import check_file

        return await asyncio.to_thread(check_file, self.root, path, text)

    async def estimate(
        self, path: str, name: str | None, provider: str | None = None, model: str | None = None
    ) -> FileEstimate | Refusal:
        from loop_ls.app.check_file import estimate_file

        return await asyncio.to_thread(estimate_file, self.root, path, name, provider, model)
