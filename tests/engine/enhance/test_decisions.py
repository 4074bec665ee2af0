"""What comes after a round, by what failed in it and what is left."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.engine.enhance.report.decide import Decision, Situation, back_off, decide, next_previous
from loop_ls.engine.enhance.report.failures import FailedStep, Mode, Observed, has_converged, is_outside, only
from loop_ls.engine.enhance.report.fingerprint import fingerprint
from loop_ls.engine.enhance.report.kinds_of_errors import kind_of


def failed(*kinds: str) -> tuple[FailedStep, ...]:
    return tuple(FailedStep(1, f"s{number}", kind) for number, kind in enumerate(kinds))


def decision(*kinds: str, before: tuple[str, ...] = (), **more: Any) -> Decision:
    """What follows from a round that failed so, the second of three; `before` is how the first one failed."""
    mode, number = more.pop("mode", "strict"), more.pop("round", 2)
    observed = Observed(number, failed(*kinds), truncated_by_budget=more.pop("truncated", False))
    fixation, affordable = more.pop("on_fixation", "warn"), more.pop("affordable", True)
    assert not more
    return decide(Situation(observed, mode, fingerprint(failed(*before)), fixation, affordable, 3))


def test_EB_009_a_round_without_failures_converges_whatever_is_left() -> None:
    assert decision(round=3, affordable=False, before=("timeout",), on_fixation="abort") == Decision("converged")
    assert decision(truncated=True) == Decision("gave_up", "budget"), "it did not come to its end"


@pytest.mark.parametrize(
    ("kinds", "mode", "converged"),
    [
        ((), "strict", True),
        (("intentional_skip",), "strict", False),
        (("fallback_output",), "strict", False),
        (("intentional_skip", "fallback_output"), "lenient", True),
        (("intentional_skip", "verifier_fail"), "lenient", False),
        (("upstream_failed",), "lenient", False),
        (("upstream_failed", "intentional_skip"), "lenient", True),
    ],
)
def test_EB_014_what_counts_is_a_matter_of_the_mode(kinds: tuple[str, ...], mode: Mode, converged: bool) -> None:
    assert has_converged(Observed(1, failed(*kinds)), mode) is converged
    assert not has_converged(Observed(1, failed(*kinds), truncated_by_budget=True), mode)


def test_EB_011_the_last_round_is_not_planned_for() -> None:
    assert decision("timeout") == Decision("plan")
    assert decision("timeout", round=3) == Decision("gave_up", "max_rounds")
    assert decision("rate_limit", round=3) == Decision("gave_up", "max_rounds")


def test_EB_033_the_same_failure_again_ends_the_loop_before_anything_else() -> None:
    same = {"before": ("timeout",), "on_fixation": "abort"}
    assert decision("timeout", **same, affordable=False, round=3) == Decision("gave_up", "fixation", True)
    assert decision("step_error", **same) == Decision("plan")


def test_EB_034_or_is_told_of_and_planned_for() -> None:
    assert decision("timeout", before=("timeout",)) == Decision("plan", fixation=True)
    assert decision("timeout", before=("timeout",), affordable=False) == Decision("gave_up", "budget", True)
    assert decision("timeout", before=("timeout",), round=3) == Decision("gave_up", "max_rounds", True)
    assert decision("auth", before=("auth",)) == Decision("gave_up", "unfixable", True)


def test_EB_069_what_cannot_be_paid_is_not_planned() -> None:
    assert decision("timeout", affordable=False) == Decision("gave_up", "budget")
    assert decision("timeout", truncated=True) == Decision("gave_up", "budget")


def test_EB_083_what_passes_by_itself_is_waited_for() -> None:
    assert decision("rate_limit", "network") == Decision("back_off")
    assert decision("rate_limit", before=("rate_limit",), on_fixation="abort") == Decision("back_off")
    assert decision("rate_limit", "intentional_skip") == Decision("back_off")
    assert decision("rate_limit", "timeout") == Decision("plan")
    assert decision("rate_limit", "auth") == Decision("gave_up", "unfixable")
    assert [back_off(10, count, None) for count in range(6)] == [10, 20, 40, 80, 160, 300]
    assert (back_off(10, 5, 7), back_off(10, 0, 900)) == (7, 300)


def test_EB_085_what_nobody_can_mend_ends_the_loop_where_nothing_else_failed() -> None:
    assert decision("auth") == decision("quota") == Decision("gave_up", "unfixable")
    assert decision("auth", "timeout") == Decision("plan")
    assert decision("intentional_skip") == Decision("gave_up", "unfixable")


def test_EB_035_rounds_of_rate_limits_are_not_compared() -> None:
    assert next_previous(Observed(1, failed("rate_limit")), "before") == "before"
    assert next_previous(Observed(1, failed("timeout")), "before") == fingerprint(failed("timeout"))
    assert next_previous(Observed(1), "before") is None
    assert not only((), "transient")


@pytest.mark.parametrize(
    ("error", "reason", "kind"),
    [
        ({"code": "rate_limited"}, None, "rate_limit"),
        ({"code": "rate_limited", "message": "You exceeded your current quota"}, None, "quota"),
        ({"code": "server"}, "timeout", "network"),
        ({"code": "internal"}, "timeout", "timeout"),
        ({"code": "internal"}, "success_rate_not_met", "low_success_rate"),
        ({"code": "internal"}, "max_iterations", "step_error"),
        ({}, None, "step_error"),
    ],
)
def test_EB_024_the_kind_of_a_failure_is_told_by_its_error(
    error: dict[str, Any], reason: str | None, kind: str
) -> None:
    assert kind_of(error, reason) == kind


def test_a_run_that_only_providers_failed_says_nothing_of_the_workflow() -> None:
    def failed(*kinds: str) -> list[FailedStep]:
        return [FailedStep(1, kind, kind) for kind in kinds]

    assert is_outside(failed("network", "upstream_failed"))
    assert is_outside(failed("rate_limit", "auth"))
    assert not is_outside(failed("network", "bad_output"))
    assert is_outside(failed("network", "intentional_skip"))
    assert not is_outside(failed("intentional_skip"))
    assert not is_outside([])
