"""Of words that could not be read nothing is said but that: one fault gives one finding."""

from __future__ import annotations

from typing import Any, cast

import pytest

from loop_ls.formats.registry import WORKFLOW
from loop_ls.rules.engine.context import Draft, Spot
from loop_ls.rules.engine.registry import CHECKS, load
from loop_ls.rules.engine.work_unit import Unit
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.text.fault import Fault
from loop_ls.text.position import Span, span


class _Piece:
    def __init__(self, code: str) -> None:
        self.faults = (Fault(span(2, 4, 2, 8), "Unreadable", cast(Any, code)),)


def _kept(code: str, marked: Span, piece: _Piece | None) -> bool:
    load(WORKFLOW)
    check = next(one for one in CHECKS if one.rule.code == code)
    unit = Unit()
    unit.take(((check, Draft(Spot(cast(Piece | None, piece), marked), "A message")),))
    return unit.found != ()


@pytest.mark.parametrize(
    ("fault", "marked", "kept"),
    [
        ("quotes", span(1, 0, 1, 9), True),
        ("quotes", span(2, 0, 2, 3), True),
        ("quotes", span(2, 0, 2, 4), False),
        ("quotes", span(2, 5, 2, 6), False),
        ("quotes", span(2, 8, 2, 9), False),
        ("quotes", span(2, 9, 2, 10), True),
        ("quotes", span(3, 0, 3, 1), True),
        ("open-bracket", span(2, 0, 2, 3), True),
        ("open-bracket", span(2, 9, 2, 10), False),
        ("open-bracket", span(3, 0, 3, 1), True),
        ("tab", span(2, 0, 2, 3), True),
        ("tab", span(2, 9, 2, 10), False),
        ("indentation", span(5, 0, 5, 1), False),
    ],
)
def test_what_lies_in_unreadable_words_or_behind_what_misplaces_them_is_not_said(
    fault: str, marked: Span, kept: bool
) -> None:
    assert _kept("WF006", marked, _Piece(fault)) is kept


def test_that_it_cannot_be_read_is_said_and_so_is_what_has_no_place_of_its_own() -> None:
    assert _kept("WF001", span(2, 5, 2, 6), _Piece("quotes"))
    assert _kept("WF006", span(2, 5, 2, 6), None)
