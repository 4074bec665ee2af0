"""What an enhance loop keeps of a round in the record, as JSON and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from loop_ls.engine.enhance.report.failures import FailedStep, Feedback, Observed, Totals, Verifier

Json = Any


def written(observed: Observed) -> dict[str, Json]:
    return asdict(observed)


def read(value: dict[str, Json]) -> Observed:
    failures = tuple(_failure(one) for one in value["failures"])
    feedback = tuple(Feedback(**one) for one in value["feedback"])
    ran = tuple(value.get("ran") or ())
    return Observed(
        **{**value, "ran": ran, "failures": failures, "totals": Totals(**value["totals"]), "feedback": feedback}
    )


def _failure(value: dict[str, Json]) -> FailedStep:
    tuples = {name: tuple(value[name]) for name in ("feedback", "upstream")}
    return FailedStep(**{**value, **tuples, "verifier": Verifier(**value["verifier"])})
