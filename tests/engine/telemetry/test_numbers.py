"""Prometheus text: what facts add up to, in a form that a scraper reads."""

from __future__ import annotations

import re
from typing import Any

import httpx

from loop_ls.engine.core.users import Tokens
from loop_ls.engine.events import Event, RunState
from loop_ls.engine.telemetry.numbers import MOST_LABELS, Numbers

LINE = re.compile(r'[a-z_]+(\{([a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*\})? (\+Inf|-?[0-9.e+-]+)')


def event(kind: str, at: float = 0.0, run: str = "r", **body: Any) -> Event:
    return Event(run, 1, at, kind, body, 1)


def read(text: str) -> dict[str, float]:
    """Samples by name and labels; every line must be one that a scraper reads."""
    found: dict[str, float] = {}
    typed = set()
    for line in text.splitlines():
        if line.startswith("# TYPE"):
            typed.add(line.split()[2])
        if line.startswith("#"):
            continue
        assert LINE.fullmatch(line), line
        name, _, value = line.rpartition(" ")
        base = re.sub(r"_(bucket|sum|count)$", "", name.partition("{")[0])
        assert base in typed or name.partition("{")[0] in typed, line
        assert name not in found
        found[name] = float(value)
    return found


def call(**more: Any) -> Event:
    body = {"provider": "p", "model": "m", "purpose": "step", "tokens": {"input": 10, "output": 5}, "duration": 0.3}
    return event("call", **{**body, **more})


def test_a_run_adds_up() -> None:
    numbers = Numbers()
    numbers.hear([event("run_started", 100.0, format="workflow"), call(usd=0.25), call(usd=0.5), call(usd=None)])
    numbers.hear([call(error={"code": "timeout", "message": "too late"}), event("retrying")])
    numbers.hear([event("iteration", output="x")])
    numbers.hear([event("completed", 107.0, reason="condition_met")])
    found = read(numbers.text([], {}))
    assert found['loopls_runs_started_total{format="workflow"}'] == 1
    assert found['loopls_runs_ended_total{status="completed",reason="condition_met"}'] == 1
    assert found['loopls_calls_total{provider="p",model="m",purpose="step",outcome="answered"}'] == 3
    assert found['loopls_calls_total{provider="p",model="m",purpose="step",outcome="failed"}'] == 1
    assert found['loopls_tokens_total{provider="p",model="m",direction="input"}'] == 40
    assert found['loopls_usd_total{provider="p",model="m"}'] == 0.75
    assert found['loopls_call_seconds_bucket{provider="p",le="0.25"}'] == 0
    assert found['loopls_call_seconds_bucket{provider="p",le="0.5"}'] == 4
    assert found['loopls_call_seconds_bucket{provider="p",le="+Inf"}'] == 4
    assert found['loopls_run_seconds_sum{status="completed"}'] == 7
    assert found["loopls_retries_total"] == 1
    assert found['loopls_iterations_total{outcome="completed"}'] == 1


def test_what_goes_on_is_counted_by_status() -> None:
    live = [RunState(status="running"), RunState(status="running"), RunState(status="paused")]
    found = read(Numbers().text(live, {"listeners": 3, "journal_bytes": 4096}))
    assert found['loopls_runs{status="running"}'] == 2
    assert found['loopls_runs{status="paused"}'] == 1
    assert found['loopls_runs{status="waiting_approval"}'] == 0
    assert (found["loopls_listeners"], found["loopls_journal_bytes"]) == (3, 4096)


def test_names_out_of_files_break_no_line() -> None:
    numbers = Numbers()
    for name in ('a"b', "a\nb", "a\\", "}{,=", "ü\ud800", ""):
        numbers.hear([call(model=name, provider=name)])
    read(numbers.text([], {}))


def test_a_fact_that_cannot_be_counted_harms_no_other(caplog: Any) -> None:
    numbers = Numbers()
    numbers.hear([call(tokens="many"), call(), event("completed", "soon", reason="x")])
    assert "could not be counted" in caplog.text
    assert (
        read(numbers.text([], {}))['loopls_calls_total{provider="p",model="m",purpose="step",outcome="answered"}'] == 1
    )


def test_names_without_end_are_counted_together() -> None:
    numbers = Numbers()
    for number in range(MOST_LABELS + 50):
        numbers.hear([call(model=f"m{number}")])
    found = read(numbers.text([], {}))
    assert len([name for name in found if name.startswith("loopls_calls_total")]) == MOST_LABELS + 1
    assert found['loopls_calls_total{provider="other",model="other",purpose="other",outcome="other"}'] == 50


def test_the_engine_tells_its_numbers_to_whoever_may_read(serving: Any, tmp_path: Any) -> None:
    url, token = serving
    assert httpx.get(f"{url}/metrics", trust_env=False, timeout=60, verify=False).status_code == 401
    _, viewer = Tokens(tmp_path / "data").create("scraper", "viewer")
    for each in (token, viewer):
        answer = httpx.get(
            f"{url}/metrics", headers={"Authorization": f"Bearer {each}"}, trust_env=False, timeout=60, verify=False
        )
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found = read(answer.text)
    assert found['loopls_runs_started_total{format="workflow"}'] == 1
    assert found['loopls_runs_ended_total{status="completed",reason="completed"}'] == 1
    assert found["loopls_journal_bytes"] > 0
