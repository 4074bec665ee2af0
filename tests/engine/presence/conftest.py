"""Every test of this room runs on a clock that jumps: a minute without listeners is over at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from loop_ls.testing.clock import VirtualLoop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual": VirtualLoop}
