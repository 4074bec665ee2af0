"""Models for tests: scripted answers, and a record of every request that was made.

Answers are chosen by the last part of a request's place (`develop/3/write` and `develop/3:judge` are
asked as `write` and `judge`), in order; the last one stays. Nothing here waits or talks to anybody.
"""

from __future__ import annotations

import asyncio
import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from loop_ls.engine.core.messages import ToolCall
from loop_ls.engine.core.ports import (
    EmbedReply,
    EmbedRequest,
    LostAttempt,
    ModelFailure,
    ModelReply,
    ModelRequest,
    Waiting,
)
from loop_ls.engine.core.price_table import Usage, booked
from loop_ls.engine.providers.attempt import CHARGED

#: The model never answers: the call ends by a time limit or a stop.
SILENCE = object()

#: A text, a failure to raise, `SILENCE`, `calls(...)`, or a function of the request that gives one of them.
Answer = str | ModelFailure | ModelReply | Callable[[ModelRequest], "Answer"] | object


class ScriptedModels:
    """Models of a run with answers from a script. `wait` says how many seconds an answer takes."""

    def __init__(self, script: dict[str, Answer | Sequence[Answer]] | None = None, default: Answer = "ok") -> None:
        self.script = {name: _listed(answers) for name, answers in (script or {}).items()}
        self.default = default
        self.wait: Callable[[ModelRequest], float] = lambda request: 0.0
        self.requests: list[ModelRequest] = []
        self.embedded: list[EmbedRequest] = []
        self.running = 0
        self.most_at_once = 0
        self._asked: Counter[str] = Counter()

    def problem(self, name: str) -> ModelFailure | None:
        """Every provider can be asked."""
        return None

    async def ask(
        self,
        request: ModelRequest,
        on_text: Callable[[str], None] | None = None,
        on_wait: Callable[[Waiting], None] | None = None,
    ) -> ModelReply:
        self.requests.append(request)
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            answer = self._next(request)
            while callable(answer):
                answer = answer(request)
            if answer is SILENCE:
                answer = await _silence(request)
            await asyncio.sleep(self.wait(request))  # other branches get their turn, as with a real model
        finally:
            self.running -= 1
        if isinstance(answer, ModelFailure):
            if answer.code in CHARGED and _book(request, answer.code, answer.message):
                answer.details["booked"] = True
            raise answer
        if isinstance(answer, ModelReply):
            return replace(answer, provider=request.provider, model=request.model)
        text = str(answer)
        if on_text and text:
            on_text(text)
        return ModelReply(
            text, request.provider, request.model, input_tokens=len(request.prompt), output_tokens=len(text)
        )

    async def embed(self, request: EmbedRequest, on_wait: Callable[[Waiting], None] | None = None) -> EmbedReply:
        """Vectors that say how often letters occur: equal texts are near, others are not."""
        self.embedded.append(request)
        await asyncio.sleep(0)
        answer = self._next(ModelRequest(request.provider, request.model, "", place=f"{request.place}:embed"))
        if isinstance(answer, ModelFailure):
            raise answer
        size = request.dimensions or len(string.ascii_lowercase)
        vectors = tuple([float(text.lower().count(c)) for c in string.ascii_lowercase][:size] for text in request.texts)
        model = request.model or request.otherwise
        return EmbedReply(vectors, request.provider, model, input_tokens=sum(map(len, request.texts)))

    def asked(self, name: str) -> list[ModelRequest]:
        """The requests that were made for one name (`write`, `judge`), in order."""
        return [request for request in self.requests if last_part(request.place) == name]

    def prompts(self, name: str) -> list[str]:
        """The prompts that were sent for one name, in order."""
        return [request.prompt for request in self.asked(name)]

    @property
    def order(self) -> list[str]:
        """The names in the order in which they were asked."""
        return [last_part(request.place) for request in self.requests]

    def _next(self, request: ModelRequest) -> Answer:
        name = next((n for n in (request.place, last_part(request.place)) if n in self.script), None)
        if name is None:
            return self.default
        answers = self.script[name]
        index = min(self._asked[name], len(answers) - 1)
        self._asked[name] += 1
        return answers[index]


def failure(message: str = "the service is out of order", code: str = "server") -> ModelFailure:
    """A failure for a script."""
    return ModelFailure(code, message)


def calls(*asked: tuple[str, Any], text: str = "") -> ModelReply:
    """An answer that asks for tools: names with their arguments (a text is what is no JSON)."""
    found = tuple(
        ToolCall(f"call_{number}", name, arguments if isinstance(arguments, dict) else None, str(arguments))
        for number, (name, arguments) in enumerate(asked, 1)
    )
    return ModelReply(text, "", "", finish="tools", calls=found)


def _book(request: ModelRequest, code: str, message: str) -> bool:
    """As real providers do: whoever had the question and gave no answer is paid for it."""
    if request.bill is None:
        return False
    cost = booked(Usage(), None, request.texts, ())
    request.bill.lost(LostAttempt(request.provider, request.model, code, message, cost.input, cost.output))
    return True


async def _silence(request: ModelRequest) -> ModelFailure:
    """Wait for ever, or for the time limit of the request, as a provider does."""
    try:
        async with asyncio.timeout(request.timeout):
            await asyncio.Event().wait()
    except TimeoutError:
        pass
    return failure(f"no answer within {request.timeout} s", "timeout")


def last_part(place: str) -> str:
    """`write` for `develop/3/write`, `judge` for `develop/3:judge`."""
    return re.split(r"[/:]", place)[-1]


def _listed(answers: Answer | Sequence[Answer]) -> Sequence[Answer]:
    return answers if isinstance(answers, list | tuple) else [answers]
