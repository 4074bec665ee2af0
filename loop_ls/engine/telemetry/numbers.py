"""The numbers of an engine as Prometheus text: counted from facts as they are committed.

Counters begin at zero with the process, as Prometheus expects; what is true now is read when it is
asked for. A writer of our own: it needs forty lines and no import.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from loop_ls.contract.facts.kinds import Call
from loop_ls.engine.events import Event, RunState

log = logging.getLogger(__name__)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

#: Upper bounds in seconds: from a local answer to the longest agent.
CALL_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
RUN_SECONDS = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14400.0, 86400.0)
#: Names come from files: more different ones than this are counted together.
MOST_LABELS = 200

Labels = tuple[tuple[str, str], ...]


class Histogram:
    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts: dict[Labels, list[int]] = {}
        self._sums: Counter[Labels] = Counter()

    def observe(self, labels: Labels, value: float) -> None:
        counts = self._counts.setdefault(labels, [0] * (len(self._bounds) + 1))
        counts[bisect_left(self._bounds, value)] += 1
        self._sums[labels] += value  # type: ignore[assignment]

    def lines(self, name: str) -> Iterator[str]:
        for labels, counts in self._counts.items():
            total = 0
            for bound, count in zip((*self._bounds, float("inf")), counts, strict=True):
                total += count
                yield _line(f"{name}_bucket", (*labels, ("le", _number(bound))), total)
            yield _line(f"{name}_sum", labels, self._sums[labels])
            yield _line(f"{name}_count", labels, total)


class Numbers:
    """`hear` takes facts as the journal commits them; `text` is what a scraper reads."""

    def __init__(self) -> None:
        self._counters: dict[str, Counter[Labels]] = {name: Counter() for name in _COUNTERS}
        self._calls, self._runs = Histogram(CALL_SECONDS), Histogram(RUN_SECONDS)
        self._began: dict[str, float] = {}

    def hear(self, events: list[Event]) -> None:
        for event in events:
            try:
                self._hear(event)
            except Exception:  # a run does not end because it cannot be counted
                log.exception("An event could not be counted.")

    def _hear(self, event: Event) -> None:
        match event.kind:
            case "run_started":
                self._began[event.run_id] = event.at
                self._count("loopls_runs_started_total", format=event.body.get("format"))
            case "completed" | "failed" | "cancelled":
                self._ended(event)
            case "call" if not event.body.get("copied"):
                self._called(Call.model_validate(event.body))
            case "iteration" | "iteration_failed":
                outcome = "completed" if event.kind == "iteration" else "failed"
                self._count("loopls_iterations_total", outcome=outcome)
            case "retrying":
                self._count("loopls_retries_total")
            case "recovered":
                self._count("loopls_runs_recovered_total")

    def text(self, live: Iterable[RunState], gauges: Mapping[str, float]) -> str:
        """`gauges`: name without prefix -> value now."""
        states = Counter(state.status for state in live)
        lines = [*_head("loopls_runs", "gauge", "Runs that have not ended, by status.")]
        lines += [_line("loopls_runs", (("status", status),), states[status]) for status in _ALIVE]  # type: ignore[index]
        for name, value in gauges.items():
            lines += [*_head(f"loopls_{name}", "gauge", _GAUGES[name]), _line(f"loopls_{name}", (), value)]
        for name, counter in self._counters.items():
            lines += [*_head(name, "counter", _COUNTERS[name])]
            lines += [_line(name, labels, value) for labels, value in counter.items()]
        for name, text, histogram in (
            ("loopls_call_seconds", "Duration of calls.", self._calls),
            ("loopls_run_seconds", "Duration of runs.", self._runs),
        ):
            lines += [*_head(name, "histogram", text), *histogram.lines(name)]
        return "\n".join(lines) + "\n"

    def _called(self, call: Call) -> None:
        names = {"provider": call.provider, "model": call.model}
        outcome = "failed" if call.error else "answered"
        self._count("loopls_calls_total", **names, purpose=call.purpose, outcome=outcome)
        self._count("loopls_tokens_total", call.tokens.input, **names, direction="input")
        self._count("loopls_tokens_total", call.tokens.output, **names, direction="output")
        if call.usd is not None:
            self._count("loopls_usd_total", call.usd, **names)
        self._calls.observe((("provider", call.provider),), call.duration)

    def _ended(self, event: Event) -> None:
        reason = event.body.get("reason") or event.body.get("cause") or ""
        self._count("loopls_runs_ended_total", status=event.kind, reason=reason)
        began = self._began.pop(event.run_id, None)
        if began is not None:
            self._runs.observe((("status", event.kind),), max(0.0, event.at - began))

    def _count(self, name: str, amount: float = 1, /, **labels: object) -> None:
        counter = self._counters[name]
        key = tuple((label, str(value)) for label, value in labels.items())
        if key not in counter and len(counter) >= MOST_LABELS:
            key = tuple((label, "other") for label in labels)
        counter[key] += amount  # type: ignore[assignment]


_ALIVE = ("queued", "running", "stopping", "paused", "waiting_approval", "interrupted")
_GAUGES = {
    "journal_bytes": "Size of the journal on disk.",
    "listeners": "Open event streams.",
    "journal_position": "Position of the newest event.",
    "start_time_seconds": "When the engine started, in Unix seconds.",
}
_COUNTERS = {
    "loopls_runs_started_total": "Started runs, by format.",
    "loopls_runs_ended_total": "Ended runs, by status and reason.",
    "loopls_runs_recovered_total": "Runs resumed after the engine was restarted.",
    "loopls_iterations_total": "Ended iterations.",
    "loopls_retries_total": "Retries.",
    "loopls_calls_total": "Calls to models and agents.",
    "loopls_tokens_total": "Tokens, as the providers count them.",
    "loopls_usd_total": "Cost in dollars of calls with a known price.",
}


def _head(name: str, kind: str, text: str) -> tuple[str, str]:
    return f"# HELP {name} {text}", f"# TYPE {name} {kind}"


def _line(name: str, labels: Labels, value: float) -> str:
    told = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
    return f"{name}{{{told}}} {_number(value)}" if told else f"{name} {_number(value)}"


def _escaped(text: str) -> str:
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return clean.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    if value == float("inf"):
        return "+Inf"
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
