"""What the language server costs, against its budgets: `python -m tests.bench.server_bench [--runs 3]`.

Each figure is the median of several runs, each with a process of its own. yaml-language-server is measured in
between, on the same file. A busy machine shows: the load and a fixed loop of arithmetic are printed with the figures.

Budgets hold for the machine on which they were measured, where yaml-language-server spends 11.2 ms on a keystroke
at 1,000 lines. What it spends here says how much slower this machine is, and times are judged with that in mind:
both figures are printed, the one of this machine and the one that it would be there.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path

from tests.bench.server_flows import HEAD, LOOP, callee, flow, place
from tests.bench.server_peer import installed, peer
from tests.bench.server_process import Json, TimedServer
from tests.bench.server_python import Home, MeasuredPython
from tests.bench.server_workspace import WORKSPACE, measure_workspace

Figures = dict[str, float]
SIZES = (1_000, 10_000, 50_000)
#: name -> budget for each size; None where there is none.
BUDGETS: dict[str, tuple[float | None, ...]] = {
    "keystroke to diagnostics, p50, ms": (1.2, 1.4, 1.6),
    "keystroke to diagnostics, p99, ms": (4, 5, 6),
    "CPU per keystroke, p50, ms": (1.1, 1.2, 1.4),
    "completion right after a keystroke, p95, ms": (5, 8, 15),
    "hover right after a keystroke, p95, ms": (3, 3, 5),
    "open to first diagnostics, ms": (15, 60, 300),
    "spawn to first diagnostics, ms": (180, None, None),
    "memory at most, MB": (50, 65, 130),
}
#: How many times less than yaml-language-server in the same run, for the first two sizes.
RATIOS: dict[str, tuple[float | None, float | None]] = {
    "keystroke to diagnostics, p50, ms": (None, None),
    "CPU per keystroke, p50, ms": (10, 60),
    "completion right after a keystroke, p95, ms": (None, None),
    "hover right after a keystroke, p95, ms": (None, None),
    "open to first diagnostics, ms": (None, None),
    "spawn to first diagnostics, ms": (None, None),
    "memory at most, MB": (None, None),
}
#: Milliseconds on a processor that yaml-language-server takes for a key, at 1,000 lines, where budgets were measured.
PEER_THERE, PEER_LINE = 11.2, "CPU per keystroke, p50, ms"
EVENTS = {"fact in the engine to notification, p95, ms": 50.0}
TYPED = {"prompt": " with {{input}} in mind", "name": "_renamed", "key": "no_color: true"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--python", default=sys.executable, help="the interpreter that is measured")
    parser.add_argument("--no-workspace", action="store_true")
    parser.add_argument("--no-engine", action="store_true")
    parser.add_argument("--no-peer", action="store_true")
    args = parser.parse_args()
    sizes = [int(size) for size in args.sizes.split(",") if size]
    python = MeasuredPython(args.python)
    print(python.build())
    print(f"load {os.getloadavg()[0]:.1f}, arithmetic {arithmetic():.1f} ms, {os.cpu_count()} processors")
    entry = None if args.no_peer or not sizes else installed()
    over = 0
    with tempfile.TemporaryDirectory() as folder:
        home = Home(python, Path(folder, "data"))
        warm_up(home)
        slower = 1.0
        if entry is not None:
            peers = [measure_peer(entry, home.data, SIZES[0])[PEER_LINE] for _ in range(args.runs)]
            slower = max(1.0, statistics.median(peers) / PEER_THERE)
            print(f"yaml-language-server says that this machine is {slower:.2f} times as slow as that of the budgets")
        for size in sizes:
            over += compare(home, size, args.runs, entry if size in SIZES[:2] else None, slower)
        if not args.no_workspace:
            runs = [measure_workspace(home, Path(folder, f"many{n}")) for n in range(args.runs)]
            for name, budget in WORKSPACE.items():
                over += show(name, budget, statistics.median(run[name] for run in runs), slower)
        if not args.no_engine:
            runs = [measure_events(home, Path(folder, f"run{n}")) for n in range(args.runs)]
            for name, budget in EVENTS.items():
                over += show(name, budget, statistics.median(run[name] for run in runs), slower)
            stop_engine(home)
    python.close()
    print(f"load {os.getloadavg()[0]:.1f}, arithmetic {arithmetic():.1f} ms; {over} over budget")
    return 0


def warm_up(home: Home) -> None:
    """One start that nobody measures, so that everything is compiled."""
    home.python.compile()
    measure(home, 100)


def compare(home: Home, size: int, count: int, entry: Path | None, slower: float) -> int:
    """Our figures for one size, and the peer's; how many are over their budget."""
    ours, theirs = [], []
    for _ in range(count):
        ours.append(measure(home, size))
        if entry is not None:
            theirs.append(measure_peer(entry, home.data, size))
    over = 0
    index = SIZES.index(size) if size in SIZES else None
    for name, budgets in BUDGETS.items():
        figure = statistics.median(run[name] for run in ours)
        over += show(f"{size:>6,} lines: {name}", None if index is None else budgets[index], figure, slower)
        if theirs and name in RATIOS and index is not None:
            over += show_ratio(name, figure, statistics.median(run[name] for run in theirs), RATIOS[name][index])
    return over


def show_ratio(name: str, ours: float, theirs: float, least: float | None) -> bool:
    ratio = theirs / max(ours, 0.001)
    under = least is not None and ratio < least
    wanted = "" if least is None else f", wanted {least:g}x"
    print(
        f"{'':>14} yaml-language-server {theirs:>8.2f}: {ratio:.1f}x{wanted}{'   UNDER' if under else ''}", flush=True
    )
    return under


def show(name: str, budget: float | None, figure: float, slower: float = 1.0) -> bool:
    """Print one line; whether it is over its budget on the machine of the budgets."""
    there = figure if name.endswith("MB") else figure / slower
    allowed = "" if budget is None else f"{budget:>8g}"
    over = budget is not None and there > budget
    much = budget is not None and there > 1.25 * budget
    said = "   OVER, by more than a quarter" if much else "   OVER" if over else ""
    print(f"{name:<58} budget {allowed:>8}   is {figure:>8.2f}   there {there:>8.2f}{said}", flush=True)
    return over


def arithmetic() -> float:
    """A fixed amount of work, best of five: how fast this machine is now."""

    def once() -> float:
        began, number = time.perf_counter(), 0
        for step in range(100_000):
            number += step
        return (time.perf_counter() - began) * 1000

    return min(once() for _ in range(5))


def measure(home: Home, size: int) -> Figures:
    return timed(home.server, home.data, size)


def measure_peer(entry: Path, data: Path, size: int) -> Figures:
    return timed(lambda: peer(entry), data, size)


def timed(server: Callable[[], AbstractContextManager[TimedServer]], data: Path, size: int) -> Figures:
    """One process that is hurried from the start, and one that a person has had open for a moment."""
    text = flow(size)
    folder = data.parent / "flows"
    folder.mkdir(exist_ok=True)
    (folder / "callee.yaml").write_text(callee())
    (folder / "long_flow.yaml").write_text(text)  # what a person opens lies on the disk
    uri = (folder / "long_flow.yaml").as_uri()
    found: Figures = {}
    with server() as one:
        one.begin(folder)
        one.open(uri, text)
        found["spawn to first diagnostics, ms"] = (one.until_diagnostics(uri, 1) - one.spawned) * 1000
    with server() as one:
        one.begin(folder)
        one.until_quiet()
        began = time.perf_counter()
        one.open(uri, text)
        found["open to first diagnostics, ms"] = (one.until_diagnostics(uri, 1) - began) * 1000
        one.until_quiet()
        found |= typing(one, uri, text)
        found["memory at most, MB"] = one.peak()
    return found


def typing(one: TimedServer, uri: str, text: str) -> Figures:
    """Type in a prompt, a name and a new key; alone, with a completion and with a hover in the same breath."""
    clock = Typist(one, uri, text)
    waits, costs = [], []
    for kind, words in TYPED.items():
        for character in clock.at(kind, words):
            before = one.cpu()
            waits.append(clock.key(character))
            time.sleep(0.004)
            costs.append(one.cpu() - before)
    completions = [clock.ask("completion", c) for kind, words in TYPED.items() for c in clock.at(kind, words)]
    hovers = [clock.ask("hover", c) for kind, words in TYPED.items() for c in clock.at(kind, words)]
    return {
        "keystroke to diagnostics, p50, ms": percentile(waits, 50),
        "keystroke to diagnostics, p99, ms": percentile(waits, 99),
        "CPU per keystroke, p50, ms": percentile(costs, 50),
        "completion right after a keystroke, p95, ms": percentile(completions, 95),
        "hover right after a keystroke, p95, ms": percentile(hovers, 95),
    }


class Typist:
    """Types character by character, and takes back what was typed before going elsewhere."""

    def __init__(self, one: TimedServer, uri: str, text: str) -> None:
        self._server, self._uri, self._text = one, uri, text
        self._version = 1
        self._line = self._column = 0

    def at(self, kind: str, words: str) -> Iterator[str]:
        """Go to a place, hand out the characters, and clean up."""
        wanted = {"prompt": "Keep it short", "name": "- name: step_", "key": "timeout: "}[kind]
        self._line, self._column = place(self._text, wanted)
        start = (self._line, self._column)
        if kind == "key":
            self.key("\n    ")
            self._line, self._column = self._line + 1, 4
        yield from words
        self._change(start, (self._line, self._column), "")
        self._server.until_diagnostics(self._uri, self._version)

    def key(self, character: str) -> float:
        """Milliseconds from sending a character to its diagnostics."""
        began = time.perf_counter()
        self._change((self._line, self._column), (self._line, self._column), character)
        shown = self._server.until_diagnostics(self._uri, self._version)
        self._column += len(character)
        return (shown - began) * 1000

    def ask(self, what: str, character: str) -> float:
        """Milliseconds from sending a character with a request to the answer."""
        key = self._server.next_id()
        began = time.perf_counter()
        at = (self._line, self._column)
        position = {"line": self._line, "character": self._column + len(character)}
        request = {"textDocument": {"uri": self._uri}, "position": position}
        self._change(at, at, character, {"id": key, "method": f"textDocument/{what}", "params": request})
        answered = self._server.until_answer(key)
        self._column += len(character)
        return (answered - began) * 1000

    def _change(self, start: tuple[int, int], end: tuple[int, int], text: str, *more: Json) -> None:
        self._version += 1
        span = {name: {"line": line, "character": column} for name, (line, column) in (("start", start), ("end", end))}
        document = {"uri": self._uri, "version": self._version}
        params = {"textDocument": document, "contentChanges": [{"range": span, "text": text}]}
        self._server.send({"method": "textDocument/didChange", "params": params}, *more)


def measure_events(home: Home, folder: Path) -> Figures:
    """A mock run of twenty iterations: how long each fact is on its way from the journal to the editor."""
    folder.mkdir()
    (folder / "callee.yaml").write_text(callee())
    text = (
        HEAD.format(name="flow") + "  - {name: step_0, run: Say it}\n" + "loops:\n" + LOOP.format(n=0, callee="callee")
    )
    text = text.replace("max_iterations: 4", "max_iterations: 20")
    (folder / "flow.yaml").write_text(text)
    (folder / "flow.answers.yaml").write_text(
        "answers:\n  - when: {purpose: judge}\n    say: ['NO']\n  - say: [text]\n"
    )
    uri = (folder / "flow.yaml").as_uri()
    with home.server() as one:
        one.begin(folder)
        one.open(uri, text)
        one.until_diagnostics(uri, 1)
        target = {"kind": "loop", "name": "loop_0"}
        argument = {"uri": uri, "target": target, "input": "x", "mock": True}
        params = {"command": "loopLs.run", "arguments": [argument]}
        one.send({"id": one.next_id(), "method": "workspace/executeCommand", "params": params})
        waits: list[float] = []
        while True:
            message = one.receive()
            result = message.get("result")
            assert not isinstance(result, dict) or result.get("ok") is not False, message
            if message.get("method") == "loopLs/event" and "seq" in message["params"]:
                fact = message["params"]
                waits.append((time.time() - datetime.fromisoformat(fact["at"]).timestamp()) * 1000)
                if fact["kind"] in ("completed", "failed"):
                    return {"fact in the engine to notification, p95, ms": percentile(waits, 95)}


def stop_engine(home: Home) -> None:
    command = home.python.command("engine", "stop", "--data-dir", str(home.data))
    subprocess.run(command, env=home.environment, stdout=subprocess.DEVNULL, timeout=60, check=False)


def percentile(values: list[float], percent: int) -> float:
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, len(ranked) * percent // 100)]


if __name__ == "__main__":
    raise SystemExit(main())
