"""Checks and test cases as file formats: `NAME.checks.yaml` and `NAME.cases.yaml` beside the loop file of that name.

Others use these names, too, so a file counts only where the loop file is there (`loop_stem`); alone it is nobody's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from loop_ls.formats.file_format import FileFormat
from loop_ls.text.pattern import pattern

if TYPE_CHECKING:
    from loop_ls.formats.common.key_table import Shape
    from loop_ls.formats.common.object_parts import Parts
    from loop_ls.formats.common.problem import Placed

_CHECKS = pattern(r"([^/]+)\.checks\.ya?ml$")
_CASES = pattern(r"([^/]+)\.cases\.ya?ml$")
_LOOP = pattern(r"([^/]+?)(?:\.assistant)?\.(?:ya?ml|json)$")


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _claims_checks(path: str) -> bool:
    return _CHECKS.match(_name(path)) is not None


def _claims_cases(path: str) -> bool:
    return _CASES.match(_name(path)) is not None


def _checks_keys() -> Shape:
    from loop_ls.formats.checks.keys import CHECKS_FILE

    return CHECKS_FILE


def _cases_keys() -> Shape:
    from loop_ls.formats.checks.keys import CASES_FILE

    return CASES_FILE


def _checks_flaws() -> Callable[[Parts], Iterable[Placed]]:
    from loop_ls.formats.checks.problems import checks_flaws

    return checks_flaws


def _cases_flaws() -> Callable[[Parts], Iterable[Placed]]:
    from loop_ls.formats.checks.problems import cases_flaws

    return cases_flaws


CHECKS = FileFormat("checks", "checks", _claims_checks, _checks_keys, flaws=_checks_flaws, beside=True)
CASES = FileFormat("cases", "test cases", _claims_cases, _cases_keys, flaws=_cases_flaws, beside=True)


def subject_stem(path: str) -> str | None:
    """The path, without its suffix, of the loop file that checks or cases are about; None: it is neither."""
    name = _name(path)
    found = _CHECKS.match(name) or _CASES.match(name)
    return None if found is None else path.removesuffix(name) + found[1]


def loop_stem(path: str) -> str | None:
    """The same of a loop file: `team/fixer` for `team/fixer.assistant.yaml`. None: it can be none."""
    name = _name(path)
    found = _LOOP.match(name)
    return None if found is None or subject_stem(path) is not None else path.removesuffix(name) + found[1]


def loop_paths(stem: str) -> Iterable[str]:
    """Where the loop file of this stem may stand."""
    return (f"{stem}{kind}.{suffix}" for kind in ("", ".assistant") for suffix in ("yaml", "yml", "json"))


def checks_paths(path: str) -> Iterable[str]:
    """Where the checks of a loop file may stand; the first one that exists counts."""
    stem = loop_stem(path)
    return () if stem is None else (f"{stem}.checks.yaml", f"{stem}.checks.yml")


def cases_paths(path: str) -> Iterable[str]:
    """Where its test cases may stand; the first one that exists counts."""
    stem = loop_stem(path)
    return () if stem is None else (f"{stem}.cases.yaml", f"{stem}.cases.yml")
