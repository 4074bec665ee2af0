"""CPU time per keystroke in large files that are none of ours, and in broken ones that are.

    python tests/bench/server_foreign.py [--keys 40]

Editors send every YAML and JSON file. Each key is one change and one hover over stdio, in the middle of the file;
the time is what all threads of the server spent on it. Exit status 1 where one takes longer than 5 ms.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.server_process import TimedServer

#: Milliseconds of a processor for one key.
LIMIT = 5.0


def _packages(count: int) -> dict[str, object]:
    rng = random.Random(1)
    return {
        f"node_modules/package-{number}": {
            "version": f"{rng.randrange(9)}.{rng.randrange(99)}.0",
            "resolved": f"registry/package-{number}-{rng.randrange(10**9)}.tgz",
            "requires": {f"other-{rng.randrange(count)}": "^1.0.0" for _ in range(3)},
        }
        for number in range(count)
    }


def _one_root_key(size: int) -> str:
    lines, length, number = ["app:", "  mode: workflow", "workflow:", "  graph:", "    nodes:"], 0, 0
    while length < size:
        node = f"    - data:\n        name: node {number}\n        execution: é 😀 {number}\n        steps: [a, b]\n"
        lines.append(node.rstrip())
        length += len(node)
        number += 1
    return "\n".join(lines) + "\n"


def _resources(size: int) -> str:
    part = "kind: Custom\nmetadata:\n  name: x{}\nspec:\n  execution:\n    image: y\n  steps:\n  - run: z\n"
    return "".join(
        f"key{number}:\n  " + part.format(number).replace("\n", "\n  ").rstrip(" ") for number in range(size // 110)
    )


def files() -> dict[str, str]:
    """Path -> text."""
    lock = {"name": "x", "execution": {}, "steps": [], "packages": _packages(4_000)}
    return {
        "package-lock.json": json.dumps(lock, indent=2)[:800_000],
        "minified.json": json.dumps(lock, separators=(",", ":"))[:800_000],
        "wide.json": json.dumps(lock, separators=(",", ":"))[:400_000].replace("node", "nöde😀"),
        "app.yml": _one_root_key(200_000),
        "resources.yaml": _resources(200_000),
        "loops/broken.json": '{"name":"r"\n' + 'x: "y"\n' * 2_000,
        "loops/open.json": '{"name": "r", "roles": [\n' + '{"role": "coder", "prompt": "x"}\n' * 420,
    }


def measured(server: TimedServer, uri: str, text: str, keys: int) -> list[float]:
    server.open(uri, text)
    server.until_diagnostics(uri, 1)
    server.until_quiet()
    lines = text.split("\n")
    line = len(lines) // 2
    at = {"line": line, "character": len(lines[line]) // 2}
    spent = []
    for version in range(2, keys + 2):
        before = server.cpu()
        change = {"range": {"start": at, "end": at}, "text": "x"}
        about = {"uri": uri, "version": version}
        key = server.next_id()
        server.send(
            {"method": "textDocument/didChange", "params": {"textDocument": about, "contentChanges": [change]}},
            {"id": key, "method": "textDocument/hover", "params": {"textDocument": {"uri": uri}, "position": at}},
        )
        server.until_answer(key)
        spent.append(server.cpu() - before)
    server.until_quiet()
    return spent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=40)
    args = parser.parse_args()
    slow = False
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        server = TimedServer(
            [sys.executable, "-m", "loop_ls", "serve"], {**os.environ, "LOOP_LS_DATA_DIR": str(folder / "data")}
        )
        server.begin(folder)
        for name, text in files().items():
            spent = measured(server, (folder / name).as_uri(), text, args.keys)
            slow |= mean(spent) > LIMIT
            size = len(text.encode())
            print(
                f"{name:20} {size / 1000:7.0f} KB  {mean(spent):6.2f} ms per key, worst {max(spent):6.2f}", flush=True
            )
        server.end()
    return 1 if slow else 0


if __name__ == "__main__":
    raise SystemExit(main())
