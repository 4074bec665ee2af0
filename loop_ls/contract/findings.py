"""What judges find wrong with an iteration, as every surface says it.

A finding stays the same one while judges name it again in other words; one that is named no more is settled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NotRequired

from typing_extensions import TypedDict

Severity = Literal["critical", "important", "minor"]


class ReviewFinding(TypedDict):
    """`number` names it in its loop; `since` is the iteration that first named it; `settled`: no longer named."""

    number: int
    severity: Severity
    summary: str
    since: int
    location: NotRequired[str]
    settled: NotRequired[bool]


def finding_line(one: Mapping[str, object]) -> str:
    """`critical: no tests (a.py:3), since iteration 2`; a settled one has a tick in front."""
    where = f" ({one['location']})" if one.get("location") else ""
    told = f"{one.get('severity', 'important')}: {one.get('summary', '')}{where}"
    return f"✓ {told}" if one.get("settled") else f"{told}, since iteration {one.get('since', 1)}"


def finding_lines(found: Iterable[object]) -> list[str]:
    """Of findings as they stand in a fact."""
    return [finding_line(one) for one in found if isinstance(one, Mapping)]
