"""The providers of one engine: what all runs share.

Connections, limits, the memory of who is out of order, and the embedded model belong to the engine; which
settings count belongs to the run and comes with `Provider`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from loop_ls.engine.core.price_table import known_price
from loop_ls.engine.providers.config import Provider
from loop_ls.engine.providers.dialects.anthropic import Anthropic
from loop_ls.engine.providers.dialects.openai import OpenAI
from loop_ls.engine.providers.dialects.pydantic_ai import PydanticModels, vendor
from loop_ls.engine.providers.http import HttpModels
from loop_ls.engine.providers.keys import Keys
from loop_ls.engine.providers.limits.circuit_breaker import Breaker
from loop_ls.engine.providers.limits.rate_limits import Gate
from loop_ls.engine.providers.limits.shared_limits import SharedGate, SharedSlots
from loop_ls.engine.providers.local_model.server import LocalModels
from loop_ls.engine.providers.local_model.weights import own_weights

#: Calls at once where the settings say nothing.
AT_ONCE = 16
AT_ONCE_LOCAL = 2


class ProviderRegistry:
    """One per process, closed when it ends."""

    def __init__(self, environ: Mapping[str, str] | None = None, log_folder: Path | None = None) -> None:
        self.environ = os.environ if environ is None else environ
        self.keys = Keys(self.environ)
        self._log_folder = log_folder
        self._http: dict[tuple[str, ...], HttpModels] = {}
        self._local: dict[tuple[str, bool], LocalModels] = {}
        self._pydantic: dict[tuple[object, ...], PydanticModels] = {}
        self._gates: dict[tuple[object, ...], Gate] = {}
        self.places: SharedSlots | None = None  # limits that hold in several processes together
        self._breakers: dict[tuple[str, str], Breaker] = {}

    def gate(self, provider: Provider) -> Gate:
        at_once = provider.max_concurrency
        if at_once is None and provider.kind != "scripted":
            at_once = AT_ONCE_LOCAL if provider.kind == "local" else AT_ONCE
        limits = (at_once, provider.requests_per_minute, provider.tokens_per_minute)
        key = (provider.name, provider.base_url, *limits)
        if key not in self._gates:
            gate = Gate(at_once, provider.requests_per_minute, tokens=provider.tokens_per_minute)
            if self.places is not None and provider.kind != "local" and any(limits):
                gate = SharedGate(self.places, "|".join(map(str, key)), *limits)
            self._gates[key] = gate
        return self._gates[key]

    def breaker(self, provider: Provider) -> Breaker:
        return self._breakers.setdefault((provider.name, provider.base_url), Breaker(provider))

    def http(self, provider: Provider) -> HttpModels:
        limits = (provider.timeout, provider.first_token, provider.idle)
        key = (provider.name, provider.kind, provider.base_url, provider.address, provider.key_env, str(limits))
        if key not in self._http:
            dialect = Anthropic() if provider.kind == "anthropic" else OpenAI()
            self._http[key] = HttpModels(provider, dialect, self.keys)
        return self._http[key]

    def local(self, provider: Provider, vectors: bool = False) -> LocalModels:
        """The embedded model, in a process for answers and in another one for `vectors`; a model that settings choose
        has processes of its own."""
        key = own_weights(provider), vectors
        if key not in self._local:
            self._local[key] = LocalModels(provider, self._log_folder, vectors)
        return self._local[key]

    def pydantic(self, provider: Provider) -> PydanticModels:
        key = (provider.name, vendor(provider), provider.timeout)
        if key not in self._pydantic:
            self._pydantic[key] = PydanticModels(provider)
        return self._pydantic[key]

    async def warm(self) -> None:
        """Load what the first call needs, in a thread, while nobody waits for it."""
        with suppress(ImportError):
            await asyncio.to_thread(_load)

    async def aclose(self) -> None:
        for http in self._http.values():
            await http.aclose()
        for local in self._local.values():
            await local.aclose()


def _load() -> None:
    import httpx

    known_price("openai", "gpt-4o-mini")
    assert httpx
