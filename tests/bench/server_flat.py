"""Whether the language server costs the same at any size: `python -m tests.bench.server_flat [--only edits pause]`.

All figures are milliseconds on a processor, of all threads of the server; each is the median of several, with the
worst beside it. One table: what, the limit, the figure. Parts:

- `edits`: fifteen kinds of edit and five that concern the whole file, there and back, for clients that are told and
  for those that ask. At 50,000 lines at most 1.5 times the median at 1,000 lines, and 6 ms.
- `pause`: what an editor asks together when one stops typing, and what costs more: Ctrl+A, fix all, completion.
- `files`: keys in files of odd shapes: one line, JSON, a flow list.
- `workspace`: 2,000 files and a workflow with 500 callers; `check` of one file and of many.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.bench.server_edits import Edit, change, edits, with_findings
from tests.bench.server_flows import callee, flow, place
from tests.bench.server_process import Json, TimedServer
from tests.bench.server_python import Home, MeasuredPython

SIZES = (1_000, 10_000, 50_000)
#: At most so many times the figure at 1,000 lines, and so many milliseconds.
FLAT, KEY = 1.5, 6.0
PAUSE: dict[str, tuple[float, float, float]] = {
    "after one pause": (8, 20, 40),
    "Ctrl+A": (60, 60, 60),
    "fix all": (10, 50, 250),
    "completion": (15, 15, 15),
    "hover": (15, 15, 15),
    "rename of a step": (15, 15, 15),
}
FILE_KEY, FILE_MEMORY = 20.0, 150.0


class Table:
    def __init__(self) -> None:
        self.over = 0

    def row(self, what: str, limit: float | None, figure: float, worst: float | None = None) -> None:
        over = limit is not None and figure > limit
        self.over += over
        told = "" if limit is None else f"{limit:8.1f}"
        most = "" if worst is None else f"  worst {worst:8.1f}"
        print(f"{what:<64} limit {told:>8}   is {figure:9.2f}{most}{'   OVER' if over else ''}", flush=True)


class Editor:
    """One open file; `push`: the server tells of diagnostics, else they are asked for."""

    def __init__(self, server: TimedServer, uri: str, text: str, push: bool) -> None:
        self.server, self.uri, self._push, self._version = server, uri, push, 1
        self._result: str | None = None
        server.open(uri, text)
        self._told()
        server.until_quiet()

    def change(self, changes: list[Json]) -> float:
        """Milliseconds from the change to the diagnostics, and a moment more."""
        before = self.server.cpu()
        self._version += 1
        about = {"uri": self.uri, "version": self._version}
        self.server.send(
            {"method": "textDocument/didChange", "params": {"textDocument": about, "contentChanges": changes}}
        )
        self._told()
        time.sleep(0.004)
        return self.server.cpu() - before

    def _told(self) -> None:
        if self._push:
            self.server.until_diagnostics(self.uri, self._version)
            return
        about: Json = {"textDocument": {"uri": self.uri}}
        if self._result is not None:
            about["previousResultId"] = self._result
        self._result = ask(self.server, "textDocument/diagnostic", about)["resultId"]

    def ask(self, method: str, **more: object) -> object:
        return ask(self.server, f"textDocument/{method}", {"textDocument": {"uri": self.uri}, **more})


def ask(server: TimedServer, method: str, params: Json) -> Json:
    key = server.next_id()
    server.send({"id": key, "method": method, "params": params})
    return server.until_message(key)["result"]


def spent(server: TimedServer, act: Callable[[], object]) -> float:
    before = server.cpu()
    act()
    return server.cpu() - before


# -- edits ------------------------------------------------------------------------------------------


def measure_edits(home: Home, folder: Path, sizes: list[int], rounds: int, table: Table) -> None:
    for push in (True, False):
        least: dict[str, float] = {}
        for size in sizes:
            for edit, times in _edited(home, folder, size, rounds, push):
                figure, worst = statistics.median(times), max(times)
                limit = None
                if edit.flat and size != sizes[0]:
                    limit = min(KEY, FLAT * least.get(edit.name, KEY))
                least.setdefault(edit.name, figure)
                how = "told" if push else "asks"
                table.row(f"{size:>6} {how}: {edit.name}", limit, figure, worst)
                if worst > edit.most:
                    table.row(f"{size:>6} {how}: {edit.name}, worst", edit.most, worst)


def _edited(home: Home, folder: Path, size: int, rounds: int, push: bool) -> Iterator[tuple[Edit, list[float]]]:
    uri = (folder / "long_flow.yaml").as_uri()
    open_text, editor, server = "", None, None
    for edit in edits(size):
        if server is None or editor is None or edit.text != open_text:
            if server is not None:
                server.end()
            open_text, server = edit.text, begun(home, folder, push)
            editor = Editor(server, uri, edit.text, push)
        count = rounds if edit.flat else max(2, rounds // 4)
        for changes in (edit.there, edit.back):
            editor.change(changes)  # what is asked for the first time
        yield edit, [editor.change(changes) for _ in range(count) for changes in (edit.there, edit.back)]
    if server is not None:
        server.end()


def begun(home: Home, folder: Path, push: bool = True) -> TimedServer:
    server = TimedServer(home.python.command("serve"), home.environment)
    server.begin(folder, None if push else {"diagnostic": {}})
    server.until_quiet()
    return server


# -- after a pause ----------------------------------------------------------------------------------


def measure_pause(home: Home, folder: Path, sizes: list[int], rounds: int, table: Table) -> None:
    for size in sizes:
        found = _paused(home, folder, size, rounds)
        for name, times in found.items():
            limit = PAUSE[name][SIZES.index(size)] if name in PAUSE and size in SIZES else None
            table.row(f"{size:>6} {name}", limit, statistics.median(times), max(times))


def _paused(home: Home, folder: Path, size: int, rounds: int) -> dict[str, list[float]]:
    text = with_findings(flow(size))
    server = begun(home, folder)
    editor = Editor(server, (folder / "long_flow.yaml").as_uri(), text, push=True)
    line, column = place(text, "Keep it short")
    key = [change(line, column, (line, column), "x")], [change(line, column, (line, column + 1), "")]
    step, end = place(text, "- name: step_")
    context: Json = {"diagnostics": []}
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": text.count("\n"), "character": 0}}
    visible = {"start": {"line": line, "character": 0}, "end": {"line": line + 60, "character": 0}}
    result = editor.ask("semanticTokens/full")["resultId"]

    def tokens() -> None:
        nonlocal result
        result = editor.ask("semanticTokens/full/delta", previousResultId=result)["resultId"]

    parts: dict[str, Callable[[], object]] = {
        "tokens": tokens,
        "folds": lambda: editor.ask("foldingRange"),
        "lenses": lambda: editor.ask("codeLens"),
        "symbols": lambda: editor.ask("documentSymbol"),
        "links": lambda: editor.ask("documentLink"),
        "inlays": lambda: editor.ask("inlayHint", range=visible),
    }
    alone: dict[str, Callable[[], object]] = {
        "Ctrl+A": lambda: editor.ask("codeAction", range=everything, context=context),
        "fix all": lambda: editor.ask("codeAction", range=everything, context={**context, "only": ["source.fixAll"]}),
        "completion": lambda: editor.ask("completion", position={"line": step + 1, "character": 4}),
        "hover": lambda: editor.ask("hover", position={"line": step, "character": end - 2}),
        "rename of a step": lambda: editor.ask(
            "rename", position={"line": step, "character": end - 2}, newName="other"
        ),
    }
    found: dict[str, list[float]] = {name: [] for name in ("after one pause", *parts, *alone)}
    for number in range(rounds + 1):
        for changes in key:
            editor.change(changes)
            each = {name: spent(server, act) for name, act in parts.items()}
            if number:
                found["after one pause"].append(sum(each.values()))
                for name, figure in each.items():
                    found[name].append(figure)
        for name, act in alone.items():
            editor.change(key[0])
            figure = spent(server, act)
            editor.change(key[1])
            if number:
                found[name].append(figure)
    server.end()
    return found


# -- files of odd shapes ----------------------------------------------------------------------------


def odd_files() -> dict[str, tuple[str, str]]:
    """What -> path and text."""
    roles = [{"role": "coder", "prompt": f"Write part {n} well.", "temperature": 0.4} for n in range(4_800)]
    loop = {"$schema": "role_loop/v1", "name": "r", "roles": roles}
    steps = [{"name": f"step_{n}", "run": f"Say {n} and keep it short."} for n in range(10_000)]
    listed = ",\n".join("  " + json.dumps(one) for one in steps)
    head = "$schema: workflow/v2.0\nname: listed\nexecution: {provider: ollama, model: x}\n"
    line = json.dumps({"$schema": "workflow/v2.0", "name": "line", "steps": steps * 2})[:1_000_000]
    scalar = "".join("      Keep it short, and keep every number.\n" for _ in range(20_000))
    env = "".join(f"  KEY_{n}: value\n" for n in range(10_000))
    return {
        "role loop in JSON, 24,000 lines": ("loops/roles.json", json.dumps(loop, indent=1)),
        "flow list of 10,000 lines": ("listed.yaml", f"{head}steps: [\n{listed}\n]\n"),
        "1 MB on one line": ("line.yaml", line),
        "1 MB on one line of JSON": ("line.json", line),
        "one text of 20,000 lines": ("scalar.yaml", f"{head}steps:\n  - name: one\n    run: |\n{scalar}"),
        "10,000 constants": ("env.yaml", f"{head}env:\n{env}steps:\n  - name: one\n    run: Say it\n"),
    }


def measure_files(home: Home, folder: Path, rounds: int, table: Table) -> None:
    for what, (name, text) in odd_files().items():
        server = begun(home, folder)
        editor = Editor(server, (folder / name).as_uri(), text, push=True)
        lines = text.split("\n")
        line = len(lines) // 2
        while len(lines) > 1 and not any(word in lines[line] for word in ("short", "prompt", "value")):
            line += 1
        if len(lines) == 1:
            column = text.index("short", len(text) // 2)
        else:
            column = len(lines[line]) - 3
        key = [change(line, column, (line, column), "x")], [change(line, column, (line, column + 1), "")]
        times = [editor.change(changes) for _ in range(max(2, rounds // 3)) for changes in key]
        table.row(f"{what}: a key", FILE_KEY, statistics.median(times), max(times))
        table.row(f"{what}: MB", FILE_MEMORY, server.peak())
        server.end()


# -- many files -------------------------------------------------------------------------------------


def measure_workspace(home: Home, folder: Path, rounds: int, table: Table) -> None:
    many = folder / "many"
    tree(many, 2_000, callers=500)
    server = TimedServer(home.python.command("serve"), home.environment)
    server.begin(many)
    server.until_quiet()
    before = server.cpu()
    table.row("2,000 files: start and index, ms", 2_500, before)
    table.row("2,000 files: MB", 150, server.peak())
    text = (many / "callee.yaml").read_text()
    editor = Editor(server, (many / "callee.yaml").as_uri(), text, push=True)
    lines = text.split("\n")
    prompt = next(n for n, line in enumerate(lines) if "improve" in line)
    for what, line, column in (("prompt", prompt, len(lines[prompt])), ("`name:`", 1, len(lines[1]))):
        key = [change(line, column, (line, column), "x")], [change(line, column, (line, column + 1), "")]
        for changes in key:
            editor.change(changes)
        times = [editor.change(changes) for _ in range(rounds) for changes in key]
        table.row(
            f"workflow with 500 callers: key in its {what}",
            5 if what == "prompt" else None,
            statistics.median(times),
            max(times),
        )
    server.end()


def tree(folder: Path, count: int, callers: int = 0) -> None:
    for number in range(count):
        called = "callee" if number < callers else f"flow{(number * 7 + 1) % count}"
        path = folder / f"d{number % 50}" / f"flow{number}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(flow(100, f"flow{number}", called))
    (folder / "callee.yaml").write_text(callee())


def measure_check(home: Home, folder: Path, rounds: int, table: Table) -> None:
    some = folder / "some"
    tree(some, 3_000)
    times = [checked(home, some, "d5/flow5.yaml") for _ in range(rounds)]
    table.row("check of one file in a tree of 3,000, s", 0.35, statistics.median(one[1] for one in times))
    lot = folder / "lot"
    tree(lot, 5_000)
    one = checked(home, lot, ".", ["taskset", "-c", "0"])
    table.row("check of 5,000 files on one core, s", 20, one[1])
    both = checked(home, lot, ".")
    table.row("check of 5,000 files, times as fast on two", None, one[0] / both[0])
    table.row("check of 5,000 files, MB", 200, both[2])


def checked(home: Home, folder: Path, what: str, before: list[str] | None = None) -> tuple[float, float, float]:
    """Seconds, seconds of CPU, megabytes at most."""
    command = home.python.command("check", "--format", "json", what)
    script = [sys.executable, "-m", "tests.bench.server_workspace", *(before or []), *command]
    environment = {**home.environment, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run(script, env=environment, cwd=folder, capture_output=True, text=True, check=True, timeout=600)
    seconds, busy, megabytes = json.loads(done.stdout)
    return seconds, busy, megabytes


PARTS = ("edits", "pause", "files", "workspace", "check")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--rounds", type=int, default=8)
    args = parser.parse_args()
    sizes = [int(size) for size in args.sizes.split(",")]
    table, python = Table(), MeasuredPython(sys.executable)
    python.compile()
    print(f"load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="loop-ls-flat-") as place_:
        home, folder = Home(python, Path(place_, "data")), Path(place_, "flows")
        (folder / "loops").mkdir(parents=True)
        (folder / "callee.yaml").write_text(callee())
        if "edits" in args.only:
            measure_edits(home, folder, sizes, args.rounds, table)
        if "pause" in args.only:
            measure_pause(home, folder, sizes, args.rounds, table)
        if "files" in args.only:
            measure_files(home, folder, args.rounds, table)
        if "workspace" in args.only:
            measure_workspace(home, Path(place_), args.rounds, table)
        if "check" in args.only:
            measure_check(home, Path(place_), 3, table)
    python.close()
    print(f"load {os.getloadavg()[0]:.1f}; {table.over} over")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
