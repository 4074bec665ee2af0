"""All providers of one engine, and the door through which one run asks them.

Connections, concurrency limits and the embedded model belong to the engine and are shared; which
settings count belongs to the run. Retries, limits and prices are applied here, in this order:
a place at the provider, then the attempts, then the price.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, assert_never

from loop_ls.engine.plan import Plan
from loop_ls.engine.ports import ModelFailure, ModelReply, ModelRequest, Waiting
from loop_ls.engine.prices import known_price
from loop_ls.engine.providers import failures
from loop_ls.engine.providers.answers import Scripts
from loop_ls.engine.providers.anthropic import Anthropic
from loop_ls.engine.providers.config import Provider, configured
from loop_ls.engine.providers.http import HttpModels
from loop_ls.engine.providers.limits import Gate
from loop_ls.engine.providers.local import LocalModels
from loop_ls.engine.providers.mock import MOCK
from loop_ls.engine.providers.openai import OpenAI
from loop_ls.engine.providers.retry import with_retries
from loop_ls.engine.providers.script import Script, ScriptFault, read_script
from loop_ls.engine.providers.scripted import ScriptedModels
from loop_ls.engine.providers.weights import find_weights

#: Calls at once where the settings say nothing.
AT_ONCE = 16
AT_ONCE_LOCAL = 2


class Backend(Protocol):
    """One provider: asked once, no retry."""

    async def ask(self, request: ModelRequest, hear: Callable[[str], None]) -> ModelReply: ...


class Providers:
    """The engine's part: one per process, closed when it ends."""

    def __init__(self, environ: Mapping[str, str] | None = None, log_folder: Path | None = None) -> None:
        self.environ = os.environ if environ is None else environ
        self._log_folder = log_folder
        self._http: dict[tuple[str, ...], HttpModels] = {}
        self._local: LocalModels | None = None
        self._gates: dict[tuple[Any, ...], Gate] = {}

    def models(
        self,
        settings: Mapping[str, Any] | None = None,
        scripts: Scripts = Scripts(),  # noqa: B008 - it never changes
        mock: bool = False,
    ) -> RunModels:
        """The door of one run. `settings` is the section `providers`. Scripted providers without a
        script of their own take the one next to the workflow; in a mock run every provider does, and
        where there is no such file, the built-in script speaks."""
        return RunModels(self, settings or {}, scripts, mock)

    def door(self, plan: Plan) -> RunModels:
        """The door of the run that a plan describes."""
        providers = plan.settings.get("providers")
        return self.models(
            providers if isinstance(providers, Mapping) else {},
            Scripts(Path(plan.root), plan.path),
            plan.mock,
        )

    def gate(self, provider: Provider) -> Gate:
        at_once = provider.max_concurrency
        if at_once is None and provider.kind != "scripted":
            at_once = AT_ONCE_LOCAL if provider.kind == "local" else AT_ONCE
        key = (provider.name, provider.base_url, at_once, provider.requests_per_minute)
        return self._gates.setdefault(key, Gate(at_once, provider.requests_per_minute))

    def http(self, provider: Provider) -> HttpModels:
        key = (provider.name, provider.kind, provider.base_url, provider.key_env, str(provider.timeout))
        if key not in self._http:
            dialect = Anthropic() if provider.kind == "anthropic" else OpenAI()
            self._http[key] = HttpModels(provider, dialect, self.environ)
        return self._http[key]

    def local(self, provider: Provider) -> LocalModels:
        if self._local is None:
            self._local = LocalModels(provider, self._log_folder)
        return self._local

    async def warm(self) -> None:
        """Load what the first call needs, in a thread, while nobody waits for it."""
        with suppress(ImportError):
            await asyncio.to_thread(_load)

    async def aclose(self) -> None:
        for http in self._http.values():
            await http.aclose()
        if self._local is not None:
            await self._local.aclose()


class RunModels:
    """`ports.Models` under the settings of one run."""

    def __init__(self, providers: Providers, settings: Mapping[str, Any], scripts: Scripts, mock: bool) -> None:
        self._providers, self._settings, self._scripts, self._mock = providers, settings, scripts, mock
        self._scripted: dict[str, ScriptedModels] = {}

    def problem(self, name: str) -> ModelFailure | None:
        """Why `name` cannot be asked at all, known without asking it: no such provider, no key."""
        try:
            provider = self._configured(name)
            match provider.kind:
                case "openai" | "anthropic":
                    return self._unusable(provider)
                case "local":
                    find_weights(provider)
                case "scripted":
                    self._backend(provider)
                case never:
                    assert_never(never)
        except ModelFailure as failure:
            return failure
        return None

    async def ask(
        self,
        request: ModelRequest,
        on_text: Callable[[str], None] | None = None,
        on_wait: Callable[[Waiting], None] | None = None,
    ) -> ModelReply:
        provider = self._configured(request.provider)
        backend, gate = self._backend(provider), self._providers.gate(provider)

        def full(seconds: float) -> None:
            if on_wait:
                on_wait(Waiting(1, 1, seconds, f"{provider.requests_per_minute} requests a minute"))

        async def attempt() -> ModelReply:
            async with gate.passing(full):
                return await backend.ask(request, on_text or _deaf)

        return await self._priced(provider, await with_retries(request, attempt, on_wait))

    def _configured(self, name: str) -> Provider:
        if self._mock:
            return Provider(name, "scripted")
        return configured(name, self._settings, self._providers.environ)

    def _backend(self, provider: Provider) -> Backend:
        match provider.kind:
            case "openai" | "anthropic":
                return self._providers.http(provider)
            case "local":
                return self._providers.local(provider)
            case "scripted":
                if provider.name not in self._scripted:
                    self._scripted[provider.name] = ScriptedModels(provider.name, self._script(provider))
                return self._scripted[provider.name]
            case never:
                assert_never(never)

    def _script(self, provider: Provider) -> Script:
        try:
            own = None if self._mock else provider.options.get("script")
            if isinstance(own, str):
                return self._scripts.named(own)
            if own is not None:
                return read_script(own, f"`providers.{provider.name}.script` of the settings")
            found = self._scripts.beside()
        except ScriptFault as fault:
            raise failures.bad_script(provider, str(fault)) from None
        if found is not None:
            return found
        if self._mock:
            return MOCK
        raise failures.bad_script(provider, "there is no script")

    def _unusable(self, provider: Provider) -> ModelFailure | None:
        if not provider.base_url:
            return failures.missing_address(provider)
        if provider.key_env and not self._providers.environ.get(provider.key_env, "").strip():
            return failures.missing_key(provider)
        return None

    async def _priced(self, provider: Provider, reply: ModelReply) -> ModelReply:
        """The settings' price, else what the provider charged, else the table's; local use is free."""
        tokens = (reply.input_tokens, reply.output_tokens)
        if provider.price:
            return replace(reply, usd=provider.price.usd(*tokens))
        if reply.usd is not None:
            return reply
        if provider.on_this_machine or provider.kind == "local":
            return replace(reply, usd=0.0)
        if not provider.prices or not any(tokens):
            return reply
        price = await asyncio.to_thread(known_price, provider.prices, reply.model)
        return replace(reply, usd=price.usd(*tokens)) if price else reply


def _deaf(text: str) -> None:
    """Nobody listens to the stream."""


def _load() -> None:
    import httpx

    known_price("openai", "gpt-4o-mini")
    assert httpx
