"""The files of a call as a baseline lists them: seen from its own folder, or from the root of the call."""

from __future__ import annotations

from pathlib import Path

from loop_ls.cli.files.check_run import Chosen, absolute
from loop_ls.report.checked import Checked


class BaselinePaths:
    """How the files of `chosen` are called in the baseline at `path`."""

    def __init__(self, chosen: Chosen, checked: Checked, path: str) -> None:
        self._chosen, self._checked, self._folder = chosen, checked, absolute(path).rpartition("/")[0]

    def names(self, shown: str) -> tuple[str, ...]:
        """What stands in a baseline for a file that is printed so, the likeliest first."""
        whole = self._chosen.whole(shown)
        inside = f"{self._folder}/"
        return tuple(dict.fromkeys((whole.removeprefix(inside) if whole.startswith(inside) else shown, shown)))

    def covers(self, listed: str, rule: str) -> bool:
        """Whether a file and a rule are among those that the call looks at."""
        beside = listed if listed.startswith("/") else f"{self._folder}/{listed}"
        path = beside if Path(beside).is_file() else self._chosen.whole(listed)
        return self._chosen.holds(path) and self._checked.speaks(rule)
