"""Which rules speak, and how loudly: profiles, switches of the command line, settings of a project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import field
from typing import NamedTuple

from loop_ls.formats.file_format import Format
from loop_ls.formats.registry import WORKFLOW
from loop_ls.rules.engine.finding import Severity
from loop_ls.rules.engine.prefilter import Traits
from loop_ls.rules.engine.registry import CHECKS, Check, Profile, load
from loop_ls.text.record import equal_record

PROFILES: tuple[Profile, ...] = ("compat", "pedantic")

#: The words of the setting `rules.<CODE>`.
LEVELS = {
    "hint": Severity.HINT,
    "info": Severity.INFORMATION,
    "information": Severity.INFORMATION,
    "warning": Severity.WARNING,
    "error": Severity.ERROR,
}


@equal_record
class Selection:
    """`enabled` holds profiles and codes, `disabled` codes; what is disabled wins. `levels` gives
    rules another severity and switches those on that are off by default."""

    enabled: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()
    levels: Mapping[str, Severity] = field(default_factory=dict)

    @classmethod
    def of(
        cls, enable: Iterable[str] = (), disable: Iterable[str] = (), settings: Mapping[str, str] | None = None
    ) -> Selection:
        """Settings of the project first; the switches of a call win over them."""
        rules = settings or {}
        levels = {code: LEVELS[word] for code, word in rules.items() if word in LEVELS}
        on = frozenset(enable)
        off = frozenset(code for code, word in rules.items() if word == "off" and code not in on)
        return cls(on, off | frozenset(disable), levels)

    def is_on(self, check: Check) -> bool:
        code = check.rule.code
        if code in self.disabled:
            return False
        return check.profile is None or check.profile in self.enabled or code in self.enabled or code in self.levels


class Plan(NamedTuple):
    """The functions to run, by what they look at. WF609 counts the errors that all others find, so
    it comes last."""

    local: Mapping[str, tuple[Check, ...]]
    wide: Mapping[str, tuple[Check, ...]]
    last: tuple[Check, ...]
    levels: Mapping[str, Severity]
    selection: Selection
    picked: dict[tuple[bool, str, Traits], tuple[Check, ...]]

    def local_on(self, place: str, traits: Traits) -> tuple[Check, ...]:
        """The local functions for a place that may find something where these traits are."""
        found = self.picked.get((True, place, traits))
        return self._pick(True, place, traits) if found is None else found

    def wide_on(self, place: str, traits: Traits) -> tuple[Check, ...]:
        found = self.picked.get((False, place, traits))
        return self._pick(False, place, traits) if found is None else found

    def asked(self, checks: Set[int]) -> Plan:
        """Only those functions for elements that look beyond their piece and are among these, by `id`."""
        wide = {place: tuple(one for one in found if id(one) in checks) for place, found in self.wide.items()}
        return Plan({}, {place: found for place, found in wide.items() if found}, (), self.levels, self.selection, {})

    def _pick(self, local: bool, place: str, traits: Traits) -> tuple[Check, ...]:
        """Remembered: the steps of a project have few different sets of keys."""
        checks = (self.local if local else self.wide).get(place, ())
        found = tuple(one for one in checks if not one.about or not set(traits).isdisjoint(one.about))
        if len(self.picked) > _MOST:
            self.picked.clear()
        self.picked[local, place, traits] = found
        return found


#: So many sets of traits are remembered.
_MOST = 2000

#: Rules that look at the findings of other files.
LATE = frozenset({"WF609"})


def plan(selection: Selection, format_: Format = WORKFLOW) -> Plan:
    """What to run on files of a format."""
    load(format_)
    chosen = [check for check in CHECKS if selection.is_on(check)]
    replaced = {check.rule.code for check in chosen if check.replaces}
    chosen = [check for check in chosen if check.rule.code not in replaced or check.profile]
    return Plan(
        _by_place(check for check in chosen if check.local),
        _by_place(check for check in chosen if not check.local and check.rule.code not in LATE),
        tuple(check for check in chosen if check.rule.code in LATE),
        selection.levels,
        selection,
        {},
    )


def _by_place(checks: Iterable[Check]) -> Mapping[str, tuple[Check, ...]]:
    table: dict[str, tuple[Check, ...]] = {}
    for check in checks:
        for place in check.on:
            table[place] = (*table.get(place, ()), check)
    return table
