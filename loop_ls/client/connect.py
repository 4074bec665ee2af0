"""Finding a running engine, and starting one where there is none."""

from __future__ import annotations

from pathlib import Path

from loop_ls.client.session import EngineClient


async def find(root: Path | str, data_dir: str | None = None) -> EngineClient | None:
    """The client of a running engine, or None: never starts one."""
    raise NotImplementedError


async def connect(root: Path | str, data_dir: str | None = None) -> EngineClient:
    """The client of the engine of `root`, started when there is none (two callers start one).

    `data_dir` is the setting `engine.dataDir`. Raises `EngineUnavailable` with one sentence.
    """
    raise NotImplementedError
