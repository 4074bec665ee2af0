"""What projects spent of which there is no record: trials of conditions, and runs that were deleted. It counts for
caps all the same, or whoever deletes a run could spend its money again."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

from loop_ls.contract.private_file import write_private
from loop_ls.engine.money.accounts import Day
from loop_ls.engine.money.ledger import Cost
from loop_ls.text.json_value import Json, JsonObject, as_object, float_field, int_field

FILE_NAME = "unrecorded-spending.json"
logger = logging.getLogger(__name__)


class UnrecordedSpending:
    """In one file of the data folder, written whole with each call. A file that cannot be read counts as empty, and
    the log says so."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME

    def of(self, project: str, day: Day) -> tuple[Cost, Cost]:
        """On that day, and in all."""
        return _of(self._read(), project, day)

    def add(self, project: str, day: Day, cost: Cost) -> None:
        """What a trial has cost just now."""
        try:
            self.add_all(day, [(project, cost, cost)])
        except OSError as error:
            logger.warning("what a trial has cost cannot be kept in %s: %s", self._path, error)

    def add_all(self, day: Day, spent: Iterable[tuple[str, Cost, Cost]]) -> None:
        """Projects, with what they have spent on that day and in all. Raises `OSError`."""
        known = dict(self._read())
        for project, of_day, in_all in spent:
            last, whole = _of(known, project, day)
            own: JsonObject = {
                "day": list(day),
                "lastDay": _wire(last.plus(of_day)),
                "whole": _wire(whole.plus(in_all)),
            }
            known[project] = own
        write_private(self._path, known)

    def _read(self) -> Mapping[str, Json]:
        try:
            return as_object(json.loads(self._path.read_text("utf-8")))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            logger.warning("%s cannot be read, so what trials have cost counts from now on: %s", self._path, error)
            return {}


def _of(known: Mapping[str, Json], project: str, day: Day) -> tuple[Cost, Cost]:
    found = as_object(known.get(project))
    whole, last = _cost(found.get("whole")), _cost(found.get("lastDay"))
    return (last if found.get("day") == list(day) else Cost()), whole


def _cost(written: Json) -> Cost:
    found = as_object(written)
    return Cost(float_field(found, "usd") or 0.0, int_field(found, "tokens") or 0)


def _wire(cost: Cost) -> JsonObject:
    return {"usd": cost.usd, "tokens": cost.tokens}
