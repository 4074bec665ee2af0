"""What projects spent of which there is no record: trials of conditions, and runs that were deleted. It counts for
caps all the same, or whoever deletes a run could spend its money again."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path

from loop_ls.contract.private_file import write_private
from loop_ls.engine.journal.integrity import WAY_OUT
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.money.accounts import Day
from loop_ls.engine.money.ledger import Cost
from loop_ls.text.json_value import Json, JsonObject, as_object, float_field, int_field

FILE_NAME = "unrecorded-spending.json"
logger = logging.getLogger(__name__)


class UnrecordedSpending:
    """In one file of the data folder, written whole with each call. One that cannot be read is damage as that of the
    journal is: whatever it held was spent, so nobody spends or forgets more before a person has accepted the loss."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME

    def of(self, project: str) -> dict[Day, Cost]:
        """By the days on which it was spent. Raises `JournalRefused`."""
        return _of(self._read(), project)

    def add(self, project: str, days: Mapping[Day, Cost]) -> None:
        """What a trial has cost just now."""
        try:
            self.add_all([(project, days)])
        except (OSError, JournalRefused) as error:
            logger.warning("the cost of a trial cannot be saved in %s: %s", self._path, error)

    def add_all(self, spent: Iterable[tuple[str, Mapping[Day, Cost]]]) -> None:
        """Projects, with what they have spent on each day. Raises `OSError` and `JournalRefused`."""
        known = dict(self._read())
        for project, days in spent:
            all_days = _of(known, project)
            for day, cost in days.items():
                all_days[day] = all_days.get(day, Cost()).plus(cost)
            known[project] = {_written(day): _wire(cost) for day, cost in all_days.items()}
        write_private(self._path, known)

    def require_whole(self) -> None:
        """Raises `JournalRefused`."""
        self._read()

    def _read(self) -> Mapping[str, Json]:
        if found := damage(self._path.parent):
            raise JournalRefused("damaged", found, WAY_OUT)
        try:
            return as_object(json.loads(self._path.read_text("utf-8")))
        except FileNotFoundError:
            return {}


def damage(folder: Path) -> str:
    """What is wrong with the file, as a sentence; empty where nothing is."""
    path = folder / FILE_NAME
    try:
        known = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not valid JSON"
        return f"{FILE_NAME}, the cost of deleted runs and trials, cannot be read: {why}."
    if isinstance(known, dict) and all(map(_is_sound, known.values())):
        return ""
    return f"{FILE_NAME}, the cost of deleted runs and trials, has invalid values."


def _is_sound(entry: Json) -> bool:
    return isinstance(entry, dict) and all(_day(day) is not None and _is_cost(cost) for day, cost in entry.items())


def _is_cost(written: Json) -> bool:
    found = as_object(written)
    usd, tokens = float_field(found, "usd"), int_field(found, "tokens")
    return usd is not None and math.isfinite(usd) and usd > -0.01 and tokens is not None and tokens >= 0


def _of(known: Mapping[str, Json], project: str) -> dict[Day, Cost]:
    days = ((_day(day), _cost(cost)) for day, cost in as_object(known.get(project)).items())
    return {day: cost for day, cost in days if day is not None}


def _day(written: str) -> Day | None:
    try:
        found = date.fromisoformat(written)
    except ValueError:
        return None
    return found.year, found.month, found.day


def _written(day: Day) -> str:
    return date(*day).isoformat()


def _cost(written: Json) -> Cost:
    found = as_object(written)
    return Cost(float_field(found, "usd") or 0.0, int_field(found, "tokens") or 0)


def _wire(cost: Cost) -> JsonObject:
    return {"usd": cost.usd, "tokens": cost.tokens}
