"""One attempt of one call while it goes on: what was sent, what was heard so far, and what that costs.

Whoever asks gives it to the provider as the listener of the answer. However the attempt ends, by an answer,
a failure, a time limit or a stop, its cost is known from here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from loop_ls.engine.core.ports import EmbedReply, EmbedRequest, LostAttempt, ModelFailure, ModelReply, ModelRequest
from loop_ls.engine.core.price_table import AttemptCost, Price, Usage, booked
from loop_ls.engine.providers.dialects.dialect import Heard

#: Failures of providers that have begun to answer, or had all the time to: what was heard is charged.
CHARGED = frozenset({"truncated", "timeout", "empty", "bad_answer"})


class Attempt:
    """Called with each piece of text. `heard` is filled in by providers that are read as a stream; `taken`
    once the provider has said that it answers."""

    def __init__(
        self, request: ModelRequest | EmbedRequest, price: Price | None, on_text: Callable[[str], None], bills: bool
    ) -> None:
        self.request, self._price, self._on_text, self._bills = request, price, on_text, bills
        self._parts: list[str] = []
        self._began = time.perf_counter()
        self.heard: Heard | None = None
        self.taken = False

    def __call__(self, text: str) -> None:
        self._parts.append(text)
        self._on_text(text)

    @property
    def begun(self) -> bool:
        """Whether any part of an answer was heard."""
        return bool(self._parts) or (self.heard is not None and self.heard.begun)

    def answered(self, reply: ModelReply) -> ModelReply:
        """The reply with what is booked for it."""
        usage = reply.usage or Usage(reply.input_tokens, reply.output_tokens)
        asked = "".join(call.written for call in reply.calls)
        interim = self.heard is not None and self.heard.interim
        cost = self._booked(usage, [reply.text, asked, *self._unseen()], whole=not interim)
        usd = reply.usd if cost.usd is None else cost.usd  # a script says itself what it costs
        limit = self.request.max_tokens if isinstance(self.request, ModelRequest) else None
        return replace(
            reply,
            input_tokens=cost.input,
            output_tokens=cost.output,
            usd=usd,
            max_tokens=limit if reply.max_tokens is None else reply.max_tokens,
        )

    def embedded(self, reply: EmbedReply) -> EmbedReply:
        cost = self._booked(Usage(reply.input_tokens, 0), (), whole=True)
        usd = reply.usd if cost.usd is None else cost.usd
        return replace(reply, input_tokens=cost.input, usd=usd)

    def failed(self, failure: ModelFailure) -> LostAttempt | None:
        """What is booked for an attempt that failed; None where it cost nothing."""
        reported = self.heard.usage if self.heard is not None else Usage()
        counted = reported.input is not None or reported.output is not None
        if not (self.begun or counted or failure.code in CHARGED or (self.taken and failure.code == "unreachable")):
            return None
        return self._lost(failure.code, failure.message, failure.hint)

    def given_up(self) -> LostAttempt:
        """A time limit of the loop, or a stop, ended it on our side; the provider goes on and will charge it."""
        return self._lost("given_up", f"The call to `{self.request.provider}` was cancelled.", "")

    def _lost(self, code: str, message: str, hint: str) -> LostAttempt:
        usage = self.heard.usage if self.heard is not None else Usage()
        whole = self.heard is not None and bool(self.heard.finish) and not self.heard.interim
        cost = self._booked(usage, ["".join(self._parts), *self._unseen()], whole)
        return LostAttempt(
            self.request.provider,
            self.request.model,
            code,
            message,
            cost.input,
            cost.output,
            cost.usd,
            round(time.perf_counter() - self._began, 6),
            hint,
        )

    def _unseen(self) -> Iterable[str]:
        return ("".join(self.heard.unseen),) if self.heard is not None else ()

    def _booked(self, usage: Usage, heard: Iterable[str], whole: bool) -> AttemptCost:
        if not self._bills:
            usage = replace(usage, billed=None)
        return booked(usage, self._price, self.request.texts, heard, whole)
