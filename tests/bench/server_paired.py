"""The language server against an earlier commit, in one run: `python -m tests.bench.server_paired --against COMMIT`.

Both are started in turn, round after round, in the same interpreter with byte code of their own, so that whatever
else the machine does falls on both. A figure is the ratio of the medians; the least of each side stands beside it.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from tests.bench.server_flows import flow, place
from tests.bench.server_process import Json, TimedServer
from tests.bench.server_python import MeasuredPython

ROOT = Path(__file__).resolve().parents[2]
#: How many times as much as the earlier commit may be spent.
MOST = 1.3
_LINES, _MESSAGES = 1_000, 200
_URI = "untitled:long_flow.yaml"

Figures = dict[str, float]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", required=True, metavar="COMMIT")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="loop-ls-paired-") as folder:
        before, data = Path(folder, "before"), Path(folder, "data")
        export(args.against, before)
        sides = {"before": Side(before, data), "now": Side(ROOT, data)}
        for side in sides.values():
            side.measure()  # compiles what is not compiled yet
        rounds = [{name: side.measure() for name, side in sides.items()} for _ in range(args.rounds)]
        for side in sides.values():
            side.close()
    return report(args.against, rounds)


def export(commit: str, folder: Path) -> None:
    archive = subprocess.run(
        ["git", "archive", commit, "loop_ls"], cwd=ROOT, capture_output=True, check=True, timeout=60
    )
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")


def report(against: str, rounds: list[dict[str, Figures]]) -> int:
    print(f"{len(rounds)} rounds; median (least) against {against}")
    too_much = 0
    for name in rounds[0]["now"]:
        before, now = ([one[side][name] for one in rounds] for side in ("before", "now"))
        ratio = statistics.median(now) / statistics.median(before)
        too_much += ratio > MOST
        told = " -> ".join(f"{statistics.median(side):8.2f} ({min(side):.2f})" for side in (before, now))
        print(f"{'over' if ratio > MOST else 'ok':5}{name:44}{told}   x {ratio:.2f} (x {min(now) / min(before):.2f})")
    return 1 if too_much else 0


class Side:
    """One version of the server."""

    def __init__(self, source: Path, data: Path) -> None:
        self._python = MeasuredPython(sys.executable)
        # Before the folder of an editable install, which is on the path as well; and not the folder where this runs.
        self._environment = {**self._python.environment(data), "PYTHONPATH": str(source), "PYTHONSAFEPATH": "1"}

    def measure(self) -> Figures:
        one = TimedServer(self._python.command("serve"), self._environment)
        try:
            return {**_start(one), **_messages(one)}
        finally:
            one.end()

    def close(self) -> None:
        self._python.close()


def _start(one: TimedServer) -> Figures:
    text = flow(_LINES)  # before the clock: a server that waits for its client warms up meanwhile
    begun = one.begin()
    cpu = one.cpu()
    one.open(_URI, text)
    shown = one.until_diagnostics(_URI, 1)
    return {
        "spawn to initialize, ms": (begun - one.spawned) * 1000,
        "CPU of spawn to initialize, ms": cpu,
        "spawn to first diagnostics, ms": (shown - one.spawned) * 1000,
        "CPU of spawn to first diagnostics, ms": one.cpu(),
    }


def _messages(one: TimedServer) -> Figures:
    one.until_quiet()
    line, column = place(flow(_LINES), "Keep it short")
    at = {"line": line, "character": column}
    return {
        **_each(one, "hover", lambda _: _ask(one, "hover", at)),
        **_each(one, "inlay hints of one line", lambda _: _ask(one, "inlayHint", at)),
        **_each(one, "keystroke", lambda number: _type(one, at, number)),
    }


def _each(one: TimedServer, name: str, act: Callable[[int], None]) -> Figures:
    """After as many that are not counted."""
    times = []
    for number in range(2 * _MESSAGES):
        if number == _MESSAGES:
            before = one.cpu()
        start = time.perf_counter()
        act(number)
        times.append(time.perf_counter() - start)
    spent = (one.cpu() - before) / _MESSAGES
    return {f"{name}, ms": statistics.median(times[_MESSAGES:]) * 1000, f"CPU of a {name}, ms": spent}


def _ask(one: TimedServer, what: str, at: Json) -> None:
    key = one.next_id()
    params = {"textDocument": {"uri": _URI}, "position": at, "range": {"start": at, "end": at}}
    one.send({"id": key, "method": f"textDocument/{what}", "params": params})
    one.until_answer(key)


def _type(one: TimedServer, at: Json, number: int) -> None:
    version = number + 2
    change = {"range": {"start": at, "end": at}, "text": "x"}
    document = {"uri": _URI, "version": version}
    one.send({"method": "textDocument/didChange", "params": {"textDocument": document, "contentChanges": [change]}})
    one.until_diagnostics(_URI, version)


if __name__ == "__main__":
    sys.exit(main())
