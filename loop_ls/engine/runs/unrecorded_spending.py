"""What projects spent outside of runs: trials of conditions are in no record, and count for caps all the same."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
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
        known = self._read()
        on_day, whole = _of(known, project, day)
        own: JsonObject = {"day": list(day), "lastDay": _wire(on_day.plus(cost)), "whole": _wire(whole.plus(cost))}
        try:
            write_private(self._path, {**known, project: own})
        except OSError as error:
            logger.warning("what a trial has cost cannot be kept in %s: %s", self._path, error)

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
