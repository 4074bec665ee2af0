"""A provider that follows a script: no key, no network, the same every time. Also used by `--mock`.

It streams at a readable pace, counts tokens and fails on cue, so that everything around a model can
be watched and tested without one.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable

from loop_ls.engine.core.ports import ModelFailure, ModelReply, ModelRequest
from loop_ls.engine.providers import failures
from loop_ls.engine.providers.config import Provider
from loop_ls.engine.providers.scripted.script import Line, Script

#: Rough, and the same for everybody: four characters a token.
CHARACTERS_PER_TOKEN = 4


class ScriptedModels:
    """Says the lines of one script under the name of one provider."""

    def __init__(self, name: str, script: Script) -> None:
        self._name, self._script = name, script
        self._failed: Counter[str] = Counter()

    async def ask(self, request: ModelRequest, hear: Callable[[str], None]) -> ModelReply:
        try:
            async with asyncio.timeout(request.timeout):
                return await self._ask(request, hear)
        except TimeoutError:
            raise self._failure("timeout", request, None) from None

    async def _ask(self, request: ModelRequest, hear: Callable[[str], None]) -> ModelReply:
        began = time.perf_counter()
        line = self._script.line(request)
        if line is None:
            raise ModelFailure(
                "bad_answer",
                f"The script of `{self._name}` has no answer for `{request.place}` ({request.purpose}).",
                f"Add an answer for it, or one without `when` at the end, to {self._script.source}.",
                provider=self._name,
                model=request.model,
            )
        await asyncio.sleep(self._script.delay if line.delay is None else line.delay)
        self._fail_on_cue(line, request)
        rounds = len(request.turns)
        calls = line.calls[rounds] if rounds < len(line.calls) and not request.closing else ()
        text = "" if calls else line.text
        await self._speak(text, hear)
        if not text.strip() and not calls:
            raise self._failure("empty", request, None)
        if calls and not request.tools:  # as of any other model
            provider = Provider(self._name, "scripted")
            raise failures.not_offered(provider, request.model, [call.name for call in calls])
        tokens = (sum(map(_tokens, request.texts)), _tokens(text) + sum(_tokens(call.written) for call in calls))
        return ModelReply(
            text=text,
            provider=self._name,
            model=request.model,
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            usd=self._script.price.usd(*tokens) if self._script.price else 0.0,
            duration=time.perf_counter() - began,
            finish="tools" if calls else "stop",
            calls=calls,
        )

    def _fail_on_cue(self, line: Line, request: ModelRequest) -> None:
        if line.fail is None:
            return
        self._failed[request.place] += 1
        if line.times is None or self._failed[request.place] <= line.times:
            raise self._failure(line.fail, request, line.retry_after)

    async def _speak(self, text: str, hear: Callable[[str], None]) -> None:
        if not self._script.pace:
            hear(text)
            return
        for word in re.findall(r"\s*\S+\s*", text):
            hear(word)
            await asyncio.sleep(1 / self._script.pace)

    def _failure(self, code: str, request: ModelRequest, retry_after: float | None) -> ModelFailure:
        return ModelFailure(
            code,
            f"Provider `{self._name}` returned a scripted failure: {code.replace('_', ' ')}.",
            f"It is defined in {self._script.source}.",
            provider=self._name,
            model=request.model,
            retry_after=retry_after,
        )


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)
