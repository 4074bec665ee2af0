"""Many files: the index of a large workspace, a rename that touches a quarter of it, and `loop-ls check`."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from tests.bench.server_flows import callee, flow
from tests.bench.server_python import Home

#: The budgets. What is opened at once is spawned too, so that it has the budget of a spawn.
WORKSPACE: dict[str, float] = {
    "2,000 files: spawn to first diagnostics, ms": 180,
    "2,000 files: index complete, s": 3,
    "2,000 files: rename of a name used in 500 files, ms": 300,
    "check of 1,000 files of 100 lines, s": 3,
    "check of 1,000 files of 100 lines, s of CPU": 3,
    "check of 1,000 files of 100 lines, MB": 150,
}
FILES, CALLERS, CHECKED = 2_000, 500, 1_000


def measure_workspace(home: Home, folder: Path) -> dict[str, float]:
    folder.mkdir()
    for number in range(FILES):
        called = "callee" if number < CALLERS else f"flow{(number * 7 + 1) % FILES}"
        (folder / f"flow{number}.yaml").write_text(flow(100, f"flow{number}", called))
    (folder / "callee.yaml").write_text(callee())
    found = in_editor(home, folder)
    for number in range(CHECKED, FILES):
        (folder / f"flow{number}.yaml").unlink()
    return {**found, **check(home, folder)}


def in_editor(home: Home, folder: Path) -> dict[str, float]:
    """One file is opened at once; when all are known the workflow that 500 files call is renamed."""
    uri, called = (folder / "flow5.yaml").as_uri(), folder / "callee.yaml"
    with home.server() as one:
        one.begin(folder)
        one.open(uri, (folder / "flow5.yaml").read_text())
        shown = one.until_diagnostics(uri, 1)
        complete = one.until_progress_ends("loop-ls/index")
        text = called.read_text()
        one.open(called.as_uri(), text)
        one.until_diagnostics(called.as_uri(), 1)
        line = next(number for number, words in enumerate(text.split("\n")) if words.startswith("name: "))
        place = {"textDocument": {"uri": called.as_uri()}, "position": {"line": line, "character": 7}}
        time.sleep(1.0)
        waits = []
        for turn in range(3):
            key = one.next_id()
            began = time.perf_counter()
            one.send({"id": key, "method": "textDocument/rename", "params": {**place, "newName": f"renamed{turn}"}})
            answer = one.until_message(key)
            waits.append((time.perf_counter() - began) * 1000)
            edits = answer["result"].get("documentChanges") or answer["result"]["changes"]
            assert len(edits) == CALLERS + 1, len(edits)
    return {
        "2,000 files: spawn to first diagnostics, ms": (shown - one.spawned) * 1000,
        "2,000 files: index complete, s": complete - shown,
        "2,000 files: rename of a name used in 500 files, ms": sorted(waits)[1],
    }


def check(home: Home, folder: Path) -> dict[str, float]:
    """From the start of the process to its end; its memory as the system counted it."""
    command = home.python.command("check", "--format", "json", str(folder))
    # In a child of its own, since the memory of children is kept as the largest of all.
    script = [sys.executable, "-m", "tests.bench.server_workspace", *command]
    done = subprocess.run(script, env=home.environment, capture_output=True, text=True, check=True, timeout=300)
    seconds, busy, megabytes = json.loads(done.stdout)
    return {
        "check of 1,000 files of 100 lines, s": seconds,
        "check of 1,000 files of 100 lines, s of CPU": busy,
        "check of 1,000 files of 100 lines, MB": megabytes,
    }


def main() -> None:
    """Run the words behind, and print seconds, seconds of CPU and megabytes."""
    began = time.perf_counter()
    done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False, env=dict(os.environ))
    seconds = time.perf_counter() - began
    assert done.returncode in (0, 1), done.returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps([seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))


if __name__ == "__main__":
    main()
