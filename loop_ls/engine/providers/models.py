"""Access of one run to its providers.

Limits and prices are applied here, in this order: who is left alone is not asked; a place at the provider,
then the attempts, then who is asked instead, then the price.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeVar, assert_never, cast

from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import (
    EXHAUSTED,
    EmbedReply,
    EmbedRequest,
    ModelFailure,
    ModelReply,
    ModelRequest,
    Waiting,
)
from loop_ls.engine.core.price_table import Price, known_price
from loop_ls.engine.providers import failures
from loop_ls.engine.providers.attempt import Attempt
from loop_ls.engine.providers.config import Provider, configured
from loop_ls.engine.providers.dialects.pydantic_ai import missing_package
from loop_ls.engine.providers.dialects.vectors import made_up, no_vectors, vectors
from loop_ls.engine.providers.limits.retry import AGAIN, with_retries
from loop_ls.engine.providers.local_model.weights import find_weights
from loop_ls.engine.providers.registry import ProviderRegistry
from loop_ls.engine.providers.scripted.answers import Scripts, answers_path
from loop_ls.engine.providers.scripted.mock import MOCK
from loop_ls.engine.providers.scripted.provider import ScriptedModels
from loop_ls.engine.providers.scripted.script import Script, ScriptFault, read_script
from loop_ls.formats.registry import WORKFLOW
from loop_ls.text.json_value import Json, as_object

R = TypeVar("R", ModelReply, EmbedReply)
OnWait = Callable[[Waiting], None]

#: Failures after which somebody else may be asked: the provider, not the question, is the reason.
INSTEAD = AGAIN | {"timeout", "bad_answer", EXHAUSTED}
#: What an answer is taken to be at most, for the tokens of a minute, where nobody bounds it.
USUAL_ANSWER = 1000
CHARACTERS_PER_TOKEN = 4


class Backend(Protocol):
    """One provider: asked once, no retry."""

    async def ask(self, request: ModelRequest, hear: Callable[[str], None]) -> ModelReply: ...


class Providers(ProviderRegistry):
    """The engine's part, and what gives runs access to it."""

    def models(
        self,
        settings: Mapping[str, Json] | None = None,
        scripts: Scripts = Scripts(),  # noqa: B008 - it never changes
        mock: bool = False,
    ) -> RunModels:
        """What one run asks. `settings` is the section `providers`. Scripted providers without a
        script of their own take the one next to the workflow; in a mock run every provider does, and
        where there is no such file, the built-in script speaks."""
        return RunModels(self, settings or {}, scripts, mock)

    def for_plan(self, plan: Plan) -> RunModels:
        """What the run of a plan asks."""
        providers = plan.settings.get("providers")
        # A workflow's run recorded its scripts when it began; other formats read them when they ask.
        root = None if plan.format == WORKFLOW else Path(plan.home)
        scripts = Scripts(root, plan.path, plan.texts, cast("Mapping[str, str]", as_object(plan.details.get("unread"))))
        return self.models(providers if isinstance(providers, Mapping) else {}, scripts, plan.mock)


class RunModels:
    """`ports.Models` under the settings of one run."""

    def __init__(self, registry: ProviderRegistry, settings: Mapping[str, Json], scripts: Scripts, mock: bool) -> None:
        self._registry, self._settings, self._scripts, self._mock = registry, settings, scripts, mock
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
                case "pydantic-ai":
                    return missing_package(provider)
                case "scripted":
                    self._backend(provider)
                case never:
                    assert_never(never)
        except ModelFailure as failure:
            return failure
        return None

    async def ask(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None, on_wait: OnWait | None = None
    ) -> ModelReply:
        hear = on_text or _deaf
        size = sum(map(len, request.texts)) // CHARACTERS_PER_TOKEN + (request.max_tokens or USUAL_ANSWER)

        async def asked(provider: Provider, last: bool) -> ModelReply:
            model = request.model if provider.name == request.provider else ""
            own = replace(request, provider=provider.name, model=model or provider.default_model)
            backend = self._backend(provider)

            async def work(attempt: Attempt) -> ModelReply:
                return attempt.answered(await backend.ask(own, attempt))

            return await self._through(provider, own, size, on_wait, hear, work, request.patient and last)

        again = request.bill.again if request.bill is not None else None
        return await self._instead(self._configured(request.provider), asked, on_wait, again)

    async def embed(self, request: EmbedRequest, on_wait: OnWait | None = None) -> EmbedReply:
        provider = self._configured(request.provider)
        model = request.model or provider.embedding_model or request.otherwise or provider.default_model
        own = replace(request, model=model)
        size = sum(map(len, request.texts)) // CHARACTERS_PER_TOKEN

        async def work(attempt: Attempt) -> EmbedReply:
            return attempt.embedded(await self._vectors(provider, own))

        return await self._through(provider, own, size, on_wait, _deaf, work, patient=True)  # nobody comes after it

    async def _instead(
        self,
        provider: Provider,
        asked: Callable[[Provider, bool], Awaitable[ModelReply]],
        on_wait: OnWait | None,
        again: Callable[[], Awaitable[None]] | None,
    ) -> ModelReply:
        """The reply of the provider, else of the first of its `fallback` that answers. `asked` hears of each
        whether it is the last one."""
        try:
            return await asked(provider, not provider.fallback)
        except ModelFailure as failure:
            first = failure
            if failure.code not in INSTEAD or failure.details.get("refused") or not provider.fallback:
                raise
        for number, target in enumerate(provider.fallback, 2):
            if again is not None:
                await again()
            with suppress(ModelFailure):
                other = self._configured(target.provider)
                if on_wait:
                    on_wait(Waiting(number, len(provider.fallback) + 1, 0.0, f"using `{target.provider}` instead"))
                own = replace(other, default_model=target.model or other.default_model)
                return await asked(own, number > len(provider.fallback))
        raise first

    async def _through(
        self,
        provider: Provider,
        request: ModelRequest | EmbedRequest,
        size: int,
        on_wait: OnWait | None,
        hear: Callable[[str], None],
        work: Callable[[Attempt], Awaitable[R]],
        patient: bool = False,
    ) -> R:
        """One answer under the limits of the provider, with what it costs. Every attempt that gave none is
        booked when it ends. `patient`: while the provider is left alone, it is waited for."""
        gate, breaker = self._registry.gate(provider), self._registry.breaker(provider)
        price, bill = await self._price(provider, request.model), request.bill

        def full(seconds: float) -> None:
            if on_wait:
                on_wait(Waiting(1, 1, seconds, _limit(provider)))

        async def attempt() -> R:
            while patient and (left := breaker.left) > 0:
                if on_wait:
                    on_wait(Waiting(1, 1, left, f"`{provider.name}` keeps failing and is paused"))
                await asyncio.sleep(left)
            breaker.check(request.model)
            async with gate.passing(full, size) as spent:
                tried = Attempt(request, price, hear, provider.bills_what_it_says)
                try:
                    reply = await work(tried)
                except ModelFailure as failure:
                    breaker.heard(failure)
                    if bill is not None and (lost := tried.failed(failure)) is not None:
                        failure.details["booked"] = True
                        bill.lost(lost)
                    raise
                except asyncio.CancelledError:
                    if bill is not None:
                        bill.lost(tried.given_up())
                    raise
                breaker.heard(None)
                spent(reply.input_tokens + reply.output_tokens or size)
                return reply

        again = bill.again if bill is not None else None
        return await with_retries(request.attempts, request.timeout, attempt, on_wait, before_next=again)

    def _configured(self, name: str) -> Provider:
        if self._mock:
            return Provider(name, "scripted")
        return configured(name, self._settings, self._registry.environ)

    def _backend(self, provider: Provider) -> Backend:
        match provider.kind:
            case "openai" | "anthropic":
                return self._registry.http(provider)
            case "local":
                return self._registry.local(provider)
            case "pydantic-ai":
                return self._registry.pydantic(provider)
            case "scripted":
                if provider.name not in self._scripted:
                    self._scripted[provider.name] = ScriptedModels(provider.name, self._script(provider))
                return self._scripted[provider.name]
            case never:
                assert_never(never)

    async def _vectors(self, provider: Provider, request: EmbedRequest) -> EmbedReply:
        match provider.kind:
            case "openai" | "anthropic":
                return await vectors(self._registry.http(provider), request)
            case "local":
                return await self._registry.local(provider, vectors=True).embed(request)
            case "pydantic-ai":
                raise no_vectors(provider, request.model)
            case "scripted":
                return made_up(request)
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
        raise failures.bad_script(provider, f"{answers_path(self._scripts.workflow)} does not exist")

    def _unusable(self, provider: Provider) -> ModelFailure | None:
        if not provider.base_url:
            return failures.missing_address(provider)
        if provider.key_env and not self._registry.keys.get(provider.key_env):
            return failures.missing_key(provider)
        return None

    async def _price(self, provider: Provider, model: str) -> Price | None:
        """That of the settings, else of the table; local use is free. None: nobody knows."""
        if provider.price is not None or provider.options.get("price") is not None or provider.kind == "scripted":
            return provider.price
        if provider.on_this_machine or provider.kind == "local":
            return Price(0.0, 0.0)
        return await asyncio.to_thread(known_price, provider.prices, model) if provider.prices else None


def _limit(provider: Provider) -> str:
    """Why a call waits, in words."""
    if provider.tokens_per_minute is None:
        return f"{provider.requests_per_minute} requests a minute"
    if provider.requests_per_minute is None:
        return f"{provider.tokens_per_minute} tokens a minute"
    return f"{provider.requests_per_minute} requests and {provider.tokens_per_minute} tokens a minute"


def _deaf(text: str) -> None:
    """Nobody listens to the stream."""
