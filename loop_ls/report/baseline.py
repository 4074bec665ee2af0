"""Findings that a project accepts for now, so that only new ones are shown.

A finding is known by its file, rule and the text of its line, so that it is still recognised when
lines are inserted above it; `count` says how many equal ones are accepted. A file is listed as it is
seen from the root of the call that wrote the baseline, or from the folder of the baseline: so it does
not matter which part of a project a later call looks at.
"""

from __future__ import annotations

import errno
import json
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from loop_ls.report.checked import Checked, CheckedFile
from loop_ls.rules.engine.finding import Finding

VERSION = 1


class NoBaseline(Exception):
    """A file that is missing, cannot be written, or is no baseline."""


class Accepted(NamedTuple):
    path: str
    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class Baseline:
    counts: dict[Accepted, int]

    @classmethod
    def of(cls, checked: Checked) -> Baseline:
        return cls(dict(Counter(_accepted(file, finding) for file, finding in checked.findings())))

    def applied(
        self,
        checked: Checked,
        covered: Callable[[str, str], bool],
        names: Callable[[str], tuple[str, ...]] = lambda path: (path,),
    ) -> tuple[Checked, tuple[Accepted, ...]]:
        """What is not accepted, and the entries that match nothing any more. `covered` tells whether a
        file was looked at for a rule, `names` how a file that is shown so may be listed."""
        left = dict(self.counts)
        kept: dict[int, list[Finding]] = {}
        for file, finding in checked.findings():
            entries = (_accepted(file, finding)._replace(path=name) for name in names(file.path))
            if entry := next((one for one in entries if left.get(one, 0) > 0), None):
                left[entry] -= 1
            else:
                kept.setdefault(id(file), []).append(finding)
        files = tuple(replace(file, findings=tuple(kept.get(id(file), ()))) for file in checked.files)
        stale = tuple(sorted(entry for entry, count in left.items() if count and covered(entry.path, entry.rule)))
        return replace(checked, files=files), stale

    def besides(self, covered: Callable[[str, str], bool]) -> Baseline:
        """The entries about files and rules that a call does not look at."""
        return Baseline({entry: count for entry, count in self.counts.items() if not covered(entry.path, entry.rule)})

    def with_all(self, other: Baseline) -> Baseline:
        return Baseline({**self.counts, **other.counts})


def _accepted(file: CheckedFile, finding: Finding) -> Accepted:
    line = finding.span.start.line
    text = file.lines[line].strip() if line < len(file.lines) else ""
    return Accepted(file.path, finding.rule, text)


def read_baseline(path: str) -> Baseline:
    try:
        data = json.loads(Path(path).read_text("utf-8-sig"))
    except FileNotFoundError:
        raise NoBaseline(f"baseline not found: {path}; create it with --write-baseline") from None
    except OSError as error:
        raise NoBaseline(f"the baseline {path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise NoBaseline(f"{path} is not a baseline: invalid JSON") from None
    if not isinstance(data, dict) or data.get("version") != VERSION or not isinstance(data.get("findings"), list):
        raise NoBaseline(f"{path} is not a baseline of version {VERSION}")
    counts: Counter[Accepted] = Counter()
    for number, entry in enumerate(data["findings"], 1):
        if not _is_entry(entry):
            raise NoBaseline(f"{path} is damaged: entry {number} of `findings` has no path, rule, text and count")
        counts[Accepted(entry["path"], entry["rule"], entry["text"])] += entry["count"]
    return Baseline(counts)


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in Accepted._fields):
        return False
    count = entry.get("count")
    return isinstance(count, int) and not isinstance(count, bool) and count > 0


def write_baseline(path: str, baseline: Baseline) -> None:
    """Replace the file in one step. Anything that is there and no baseline is left alone."""
    target, below = Path(path), Path(path).parent
    if target.exists():
        read_baseline(path)
        below = target.resolve().parent
    entries = [
        {"path": entry.path, "rule": entry.rule, "text": entry.text, "count": count}
        for entry, count in sorted(baseline.counts.items())
    ]
    text = json.dumps({"version": VERSION, "findings": entries}, ensure_ascii=False, indent=1) + "\n"
    try:
        write_whole(target, text.encode("utf-8", "replace"), below)
    except OSError as error:
        raise NoBaseline(f"the baseline {path} cannot be written: {error.strerror or error}") from None


def write_whole(path: Path, data: bytes, below: Path | str) -> None:
    """All or nothing: a reader never sees half a file. Keeps the permissions of the file. Raises `OSError` where a link
    leads out of the folder `below`: a project that somebody else made may lay links to files of its reader."""
    import tempfile  # only here: checking has no use for it

    target = Path(os.path.realpath(path))
    if not target.is_relative_to(os.path.realpath(below)):
        raise OSError(errno.EPERM, f"a link points to {target}, outside {below}")
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
