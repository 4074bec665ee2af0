"""A run as a trace: run, iterations inside it, calls inside those, and nothing of what was said."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from loop_ls.engine.events import Event
from loop_ls.engine.telemetry.spans import Spans, spans_of

sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="the extra `otel` is not installed")


@pytest.fixture
def traced() -> Any:
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return Spans(provider), exporter


def events(*facts: tuple[float, str, dict[str, Any]]) -> list[Event]:
    return [Event("7f3a", number, at, kind, body, number) for number, (at, kind, body) in enumerate(facts, 1)]


def call(at: float, place: str, duration: float, **more: Any) -> tuple[float, str, dict[str, Any]]:
    body = {"provider": "p", "model": "m", "tokens": {"input": 3, "output": 4}, "duration": duration, "place": place}
    return at, "call", {**body, **more}


RUN = (
    (10.0, "run_started", {"name": "develop_it", "format": "workflow", "input": "a secret plan"}),
    (10.0, "iteration_started", {"place": "develop/1", "loop": "develop", "iteration": 1, "maxIterations": 3}),
    call(12.0, "develop/1/write", 1.5, usd=0.25),
    (12.0, "iteration", {"place": "develop/1", "iteration": 1, "output": "a secret text"}),
    call(13.0, "develop/1:judge", 0.5, purpose="judge"),
    (13.0, "judged", {"place": "develop/1", "verdict": "no", "answer": "NO"}),
    (13.5, "iteration_started", {"place": "develop/2", "loop": "develop", "iteration": 2}),
    call(14.0, "develop/2/write", 0.25, error={"code": "timeout", "message": "too slow"}),
    (14.5, "iteration_failed", {"place": "develop/2", "iteration": 2, "error": {"code": "timeout"}}),
    (15.0, "failed", {"reason": "error", "error": {"code": "timeout", "message": "too slow"}}),
)


def test_the_trace_of_a_run(traced: Any) -> None:
    spans, exporter = traced
    spans.hear(events(*RUN))
    found = {span.name: span for span in exporter.get_finished_spans()}
    run, first, second = found["run develop_it"], found["iteration develop/1"], found["iteration develop/2"]
    assert run.parent is None
    assert {first.parent.span_id, second.parent.span_id} == {run.context.span_id}
    calls = [span for span in exporter.get_finished_spans() if span.name == "chat m"]
    assert [span.parent.span_id for span in calls] == [first.context.span_id] * 2 + [second.context.span_id]
    assert len({span.context.trace_id for span in exporter.get_finished_spans()}) == 1
    assert (first.start_time, first.end_time) == (10_000_000_000, 13_000_000_000)
    assert (calls[0].start_time, calls[0].end_time) == (10_500_000_000, 12_000_000_000)
    assert calls[0].attributes["gen_ai.usage.input_tokens"] == 3
    assert calls[0].attributes["loopls.usd"] == 0.25
    assert first.attributes["loopls.verdict"] == "no"
    assert [span.status.is_ok for span in (run, first, second, calls[2])] == [False, True, False, False]
    assert run.attributes["loopls.reason"] == "error"


def test_nothing_that_was_said_is_in_a_trace(traced: Any) -> None:
    spans, exporter = traced
    spans.hear(events(*RUN))
    told = "".join(span.to_json() for span in exporter.get_finished_spans())
    assert "secret" not in told
    assert "too slow" not in told


def test_a_run_that_is_taken_up_is_traced_from_there(traced: Any) -> None:
    spans, exporter = traced
    spans.hear(events((20.0, "recovered", {"inFlight": []}), call(21.0, "x", 0.5), (22.0, "completed", {})))
    run = next(span for span in exporter.get_finished_spans() if span.name == "run 7f3a")
    assert run.attributes["loopls.run.recovered"] is True
    assert run.end_time == 22_000_000_000


def test_a_fact_that_cannot_be_traced_harms_no_run(traced: Any, caplog: Any) -> None:
    spans, exporter = traced
    spans.hear(events((1.0, "run_started", {"name": "x"}), call(2.0, "y", "long"), (3.0, "completed", {})))
    assert [span.name for span in exporter.get_finished_spans()] == ["run x"]
    assert "could not be traced" in caplog.text


def test_only_the_users_environment_asks_for_traces() -> None:
    assert spans_of({}) is None
    assert spans_of({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"}) is None
    made = spans_of({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"})
    assert made is not None
    made.close()


def test_traces_reach_the_collector_that_the_environment_names(monkeypatch: Any) -> None:
    received: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "OTEL_SERVICE_NAME": "mine"}
        for name, value in (*environ.items(), ("OTEL_EXPORTER_OTLP_COMPRESSION", "none"), ("NO_PROXY", "*")):
            monkeypatch.setenv(name, value)
        spans = spans_of(environ)
        assert spans is not None
        spans.hear(events(*RUN))
        spans.close()
    finally:
        server.shutdown()
        thread.join(60)
        server.server_close()
    [(path, body)] = received
    assert path == "/v1/traces"
    for words in (b"run develop_it", b"iteration develop/1", b"chat m", b"mine"):
        assert words in body
    assert b"secret" not in body
