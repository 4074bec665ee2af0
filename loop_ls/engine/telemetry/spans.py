"""Runs as OpenTelemetry traces: run, iterations inside it, calls inside those.

Only where the user's environment names a collector and the extra `otel` is installed; made from facts as
they are committed, so that a run is the same with and without it. Never a prompt or an output.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loop_ls import __version__
from loop_ls.contract.facts.kinds import Call
from loop_ls.engine.events import Event
from loop_ls.extras import missing
from loop_ls.text.json_value import Json, JsonObject

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

log = logging.getLogger(__name__)

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
FLUSH_MS = 2000


@dataclass
class _Run:
    """`ended`: iterations that have their output; the judge may still be asked about it."""

    span: Span
    iterations: dict[str, Span] = field(default_factory=dict)
    ended: dict[str, float] = field(default_factory=dict)


class Spans:
    """`hear` takes facts as the journal commits them; `close` sends what is left."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("loop-ls", __version__)
        self._runs: dict[str, _Run] = {}

    def hear(self, events: list[Event]) -> None:
        for event in events:
            try:
                self._hear(event)
            except Exception:
                log.exception("An event could not be traced.")

    def _hear(self, event: Event) -> None:
        place = str(event.body.get("place", ""))
        run = self._runs.get(event.run_id) or self._begun(event)
        match event.kind:
            case "iteration_started":
                loop = place.rpartition("/")[0]
                self._close_iterations(run, loop)
                parent = self._around(run, loop)
                run.iterations[place] = self._start(f"iteration {place}", parent, event.at, _iteration(event.body))
            case "iteration":
                run.ended[place] = event.at
            case "judged":
                self._judged(run, place, event)
            case "step_completed" | "step_failed":
                self._close_iterations(run, place)
            case "iteration_failed":
                self._end(run.iterations.pop(place, None), event.at, event.body.get("error"))
            case "call":
                self._call(self._around(run, place), event)
            case "completed" | "failed" | "cancelled":
                self._ended(event, run)

    def _begun(self, event: Event) -> _Run:
        """A run that was taken up after a restart begins anew here: its first half is in another trace."""
        name = event.body.get("name") if event.kind == "run_started" else None
        about = {
            "loopls.run.id": event.run_id,
            "loopls.run.name": name,
            "loopls.run.format": event.body.get("format") if name else None,
            "loopls.run.recovered": None if name else True,
        }
        run = _Run(self._start(f"run {name or event.run_id}", None, event.at, about))
        self._runs[event.run_id] = run
        return run

    def _start(self, name: str, parent: Span | None, at: float, about: Mapping[str, Json]) -> Span:
        from opentelemetry.context import Context
        from opentelemetry.trace import set_span_in_context

        known = {key: value for key, value in about.items() if value is not None}
        context = Context() if parent is None else set_span_in_context(parent, Context())
        return self._tracer.start_span(name, context, attributes=known, start_time=_ns(at))

    @staticmethod
    def _around(run: _Run, place: str) -> Span:
        """The nearest iteration around a place, else the run."""
        key = place.partition(":")[0]
        while key:
            if key in run.iterations:
                return run.iterations[key]
            key = key.rpartition("/")[0]
        return run.span

    def _judged(self, run: _Run, place: str, event: Event) -> None:
        key = place.partition(":")[0]
        if key in run.iterations:
            run.iterations[key].set_attribute("loopls.verdict", str(event.body.get("verdict")))
            run.ended[key] = event.at

    def _close_iterations(self, run: _Run, loop: str) -> None:
        """End those of a loop that have their output: the next has begun, or the loop is over."""
        for key in [key for key in run.ended if key.rpartition("/")[0] == loop]:
            self._end(run.iterations.pop(key, None), run.ended.pop(key))

    def _call(self, parent: Span, event: Event) -> None:
        call = Call.model_validate(event.body)
        about: dict[str, Json] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": call.provider,
            "gen_ai.request.model": call.model,
            "gen_ai.response.id": call.response_id,
            "gen_ai.usage.input_tokens": call.tokens.input,
            "gen_ai.usage.output_tokens": call.tokens.output,
            "loopls.usd": call.usd,
            "loopls.purpose": call.purpose,
        }
        span = self._start(f"chat {call.model or call.provider}", parent, event.at - call.duration, about)
        self._end(span, event.at, call.error)

    def _ended(self, event: Event, run: _Run) -> None:
        for key, span in reversed(run.iterations.items()):
            self._end(span, run.ended.get(key, event.at))
        run.span.set_attribute("loopls.reason", str(event.body.get("reason") or event.body.get("cause") or event.kind))
        self._end(run.span, event.at, event.body.get("error") if event.kind == "failed" else None)
        del self._runs[event.run_id]

    @staticmethod
    def _end(span: Span | None, at: float, error: object = None) -> None:
        if span is None:
            return
        if isinstance(error, Mapping):
            from opentelemetry.trace import Status, StatusCode

            span.set_status(Status(StatusCode.ERROR, str(error.get("code") or "")))
        span.end(_ns(at))

    def close(self) -> None:
        """Blocks for as long as sending may take: not for the loop's own thread."""
        self._provider.force_flush(FLUSH_MS)
        self._provider.shutdown()


def spans_of(environ: Mapping[str, str]) -> Spans | None:
    """The tracing that the environment asks for; None where it asks for none or the extra is missing."""
    if not any(environ.get(name) for name in ENDPOINTS) or environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        log.warning(missing("Tracing (OTEL_EXPORTER_OTLP_ENDPOINT)", "opentelemetry.sdk"))
        return None
    named = environ.get("OTEL_SERVICE_NAME", "loop-ls")
    provider = TracerProvider(resource=Resource.create({"service.name": named, "service.version": __version__}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Spans(provider)


def _iteration(body: Mapping[str, Json]) -> JsonObject:
    return {
        "loopls.loop": body.get("loop"),
        "loopls.iteration": body.get("iteration"),
        "loopls.iteration.limit": body.get("maxIterations"),
        "loopls.attempt": body.get("attempt"),
    }


def _ns(at: float) -> int:
    return int(at * 1_000_000_000)
