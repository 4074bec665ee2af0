"""The live picture and the plain lines, drawn from events alone."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from loop_ls.cli.watch.live import LivePicture
from loop_ls.cli.watch.model import Watched, mark
from loop_ls.cli.watch.plain import told
from loop_ls.cli.watch.words import ending
from loop_ls.report.terminal_text import first_line, fitted

Event = dict[str, Any]


def at(kind: str, place: str = "", **body: Any) -> Event:
    return {"kind": kind, "place": place, "runId": "r", "seq": 1, **body}


BEGUN = [
    at("run_started", name="slugify"),
    at("step_started", "requirements", step="requirements", mode="run"),
    at("call", "requirements", tokens={"input": 29, "output": 40}, usd=0.0007),
    at("step_completed", "requirements", step="requirements", mode="run", output="1. Lower case.\n2. More."),
    at("step_started", "develop", step="develop", mode="loop", maxIterations=5, condition="The review says PASS"),
]


def turn(number: int, verdict: str | None, output: str = "", attempt: int = 1) -> list[Event]:
    place = f"develop/{number}" + (f".{attempt}" if attempt > 1 else "")
    events = [at("iteration_started", place, loop="develop", iteration=number, maxIterations=5, attempt=attempt)]
    if verdict:
        events += [
            at("text", f"{place}/review", text=output[:10]),
            at("call", f"{place}/review", tokens={"input": 100, "output": 50}, usd=0.01),
            at("iteration", place, loop="develop", iteration=number, output=output),
            at("judged", place, loop="develop", iteration=number, verdict=verdict, answer=verdict.upper()),
        ]
    return events


def watched(*events: Event) -> Watched:
    now = [0.0]
    found = Watched(clock=lambda: now[0])
    for event in events:
        now[0] += 1
        found.apply(event)
    return found


def drawn(run: Watched, width: int = 80) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=False, color_system=None)
    console.print(LivePicture(console, run, lambda: "Ctrl-C stops the run").picture())
    return out.getvalue()


def test_the_picture_shows_iterations_verdicts_cost_and_what_streams_in() -> None:
    run = watched(
        *BEGUN,
        *turn(1, "no", "FAIL: missing test for empty input"),
        *turn(2, None),
        at("text", "develop/2/write", text="def slugify():\n"),
        at("text", "develop/2/review", text="FAIL: empty input handled,"),
        at("text", "develop/2/review", text=" but"),
    )
    lines = drawn(run).splitlines()
    assert lines[0].split() == ["slugify", "$0.011", "219", "tokens", "00:14"]
    assert lines[1].split(maxsplit=2) == ["✓", "requirements", "1. Lower case."]
    assert lines[2].startswith("   ● develop  iteration 2/5  ━━━━━")
    assert lines[3].split(maxsplit=2)[:2] == ["1", "NO"]
    assert "FAIL: missing test for empty input  $0.01" in lines[3]
    assert lines[4].split(maxsplit=2) == ["2", "…", "review: FAIL: empty input handled, but"]
    assert lines[5] == " Ctrl-C stops the run"


def test_a_limit_is_drawn_unlike_success() -> None:
    rounds = [event for number in range(1, 6) for event in turn(number, "no", "FAIL")]
    over = at("step_completed", "develop", step="develop", mode="loop", reason="max_iterations", totalIterations=5)
    picture = drawn(watched(*BEGUN, *rounds, over))
    assert "◼ develop  limit reached after 5 iterations, condition not met" in picture
    good = at("step_completed", "develop", step="develop", mode="loop", reason="condition_met", totalIterations=1)
    assert "✓ develop  condition met in iteration 1" in drawn(watched(*BEGUN, *turn(1, "yes", "PASS"), good))


def test_UP_76_attempts_and_waits_are_seen() -> None:
    run = watched(
        *BEGUN,
        *turn(1, None),
        at("iteration_failed", "develop/1", loop="develop", iteration=1, error={"code": "server", "message": "broken"}),
        *turn(1, None, attempt=2),
        at("retrying", "develop/1.2/write", attempt=2, delay=2.0, because={"code": "x", "message": "rate limit"}),
    )
    picture = drawn(run, 120)
    assert "✗   broken" in picture
    assert "(attempt 2) attempt 2, next try in 2 s: rate limit" in picture


def test_many_rounds_keep_the_picture_small() -> None:
    rounds = [event for number in range(1, 101) for event in turn(number, "no", f"FAIL {number}")]
    lines = drawn(watched(*BEGUN, *rounds)).splitlines()
    assert len(lines) < 20
    assert any("FAIL 1 " in f"{line} " for line in lines)
    assert any("⋮" in line for line in lines)
    assert any("FAIL 100" in line for line in lines)


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_every_line_fits_whatever_comes_in(width: int) -> None:
    odd = "wide 漢字 " * 40 + "\x1b[31mred\x1b[0m \u202e tab\t"
    run = watched(*BEGUN, *turn(1, "no", odd), *turn(2, None), at("text", "develop/2/w", text=odd))
    from loop_ls.report.terminal_text import width as columns

    picture = drawn(run, width)
    assert "\x1b" not in picture and "\u202e" not in picture
    assert all(columns(line) <= width for line in picture.splitlines())


def test_nested_loops_count_for_their_round() -> None:
    run = watched(
        *BEGUN,
        *turn(1, None),
        at("iteration_started", "develop/1/polish/1", loop="polish", iteration=1, depth=1),
        at("iteration", "develop/1/polish/1", loop="polish", iteration=1, output="inner", depth=1),
        at("judged", "develop/1/polish/1", loop="polish", iteration=1, verdict="yes", depth=1),
    )
    assert list(run.parts) == ["requirements", "develop"]
    assert [mark(one) for one in run.parts["develop"].rounds] == [""]


def test_plain_lines_say_only_what_is_settled() -> None:
    run, lines = Watched(), []
    for event in [*BEGUN, *turn(1, "no", "FAIL: a\nb"), at("warning", message="look"), *turn(2, "yes", "PASS")]:
        run.apply(event)
        lines += told(event, run)
    assert lines == [
        "✓ requirements  1. Lower case.",
        "develop 1/5  NO   FAIL: a  $0.01",
        "! look",
        "develop 2/5  YES  PASS  $0.01",
    ]


BAD = {"code": "bad_answer", "message": "No answer.\nNothing at all."}


def lines_of(*events: Event) -> list[str]:
    run, lines = Watched(), []
    for event in events:
        run.apply(event)
        lines += told(event, run)
    return lines


def test_an_error_is_told_once_and_never_lost() -> None:
    failed = at("step_failed", "requirements", step="requirements", error=BAD)
    assert lines_of(*BEGUN[:3], failed, at("failed", reason="error", error=BAD)) == [
        "✗ requirements"
    ]  # below: all of it
    assert lines_of(failed, at("text", "x", text="x"), at("step_completed", "more", step="more", output="fine")) == [
        "✗ requirements",
        "     No answer.",
        "✓ more  fine",
    ]
    assert lines_of(failed, failed, at("failed", error={"message": "Too late."})) == [
        *("✗ requirements", "     No answer.", "✗ requirements", "     No answer."),
    ]
    assert "No answer." in drawn(watched(*BEGUN[:3], failed))
    assert "No answer." not in drawn(watched(*BEGUN[:3], failed, at("failed", reason="error", error=BAD)))


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"status": "completed", "reason": "condition_met", "iteration": 3}, "✓ condition met in iteration 3"),
        ({"status": "completed", "reason": "max_iterations", "iteration": 5}, "◼ limit reached after 5 iterations"),
        ({"status": "completed", "reason": "budget"}, "◼ budget used up"),
        ({"status": "cancelled", "reason": "user"}, "■ stopped"),
        ({"status": "failed", "reason": "error"}, "✗ failed"),
        ({"status": "failed", "reason": "something_new"}, "✗ something new"),
    ],
)
def test_UP_52_UP_81_endings_are_never_blurred(state: dict[str, Any], said: str) -> None:
    full = {"elapsedMs": 72_000, "costUsd": 0.047, **state}
    assert ending(full).startswith(said)
    assert ending(full).endswith("$0.047 · 01:12")


def test_lines_fit_into_columns() -> None:
    assert fitted("abcdef", 4) == "abc…"
    assert fitted("漢字漢字", 5) == "漢字…"
    assert first_line("\n  \n x \n y") == "x"


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("budget_warning", {"spentUsd": 4.1, "capUsd": 5}, "$4.10 of $5.00 spent"),
        ("budget_warning", {"spentTokens": 8123, "capTokens": 10000}, "8,123 of 10,000 tokens used"),
        ("unchanged_output_warning", {"loop": "w", "repeated": 2}, "the last 2 outputs of `w` were the same"),
        (
            "unchanged_output_warning",
            {"loop": "w", "repeated": 4, "empty": True},
            "the last 4 outputs of `w` were empty",
        ),
        (
            "manual_approval_required",
            {"runId": "0123456789ab", "loopId": "w", "iteration": 3},
            "your decision on iteration 3: loop-ls runs approve 012345 (or reject)",
        ),
    ],
)
def test_what_a_person_should_hear_of_is_said_while_it_happens(kind: str, body: Event, said: str) -> None:
    event = at(kind, "w/3", **body)
    run = watched(event)
    assert run.notes == [said]
    assert told(event, run) == [f"! {said}"]


def test_what_another_run_has_paid_is_not_counted() -> None:
    run = watched(at("call", "w/1", usd=0.5, tokens={"input": 1}, copied=True), at("call", "w/2", usd=0.25))
    assert (run.view.usd, run.view.calls) == (0.25, 1)
