"""Edits two servers at once: one follows every change, the other gets the text afresh; both must answer the same.

    python tests/bench/fuzz_edits.py [--steps 20000] [--seed 1] [--every 8] [--size 300 3000]

Each session opens one long file of one of the four formats beside a workflow that it calls, over stdio, in one of
the three encodings of positions and with one kind of line ends, and edits it as editors do (see
`tests/properties/long_texts.py`). Every few steps the text, diagnostics, tokens, symbols, folds, selection at the end
of the text and renames of both are compared. A difference says the seed of its session; exit status 1.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from loop_ls.server.documents.position_mapping import PositionMapping
from loop_ls.text.lines import Text
from tests.bench.server_process import TimedServer
from tests.properties.long_texts import CALLEE, ENCODINGS, EOLS, FORMATS, Buffer, long_text, some_edit

Json = dict[str, Any]
#: Sessions between two fresh pairs of processes.
_RESTART = 25
EVERYTHING = {"start": {"line": 0, "character": 0}, "end": {"line": 999_999, "character": 0}}


class Side:
    """One server, and what it says about the file."""

    def __init__(self, folder: Path, encoding: str) -> None:
        environment = {**os.environ, "LOOP_LS_DATA_DIR": str(folder / "data")}
        self.server = TimedServer([sys.executable, "-m", "loop_ls", "serve"], environment)
        capabilities = {
            "general": {"positionEncodings": [encoding]},
            "textDocument": {"diagnostic": {}, "rename": {"prepareSupport": True}, "semanticTokens": {}},
        }
        folders = [{"uri": (folder / "flows").as_uri(), "name": "flows"}]
        result = self.ask("initialize", {"capabilities": capabilities, "workspaceFolders": folders})["result"]
        assert result["capabilities"]["positionEncoding"] == encoding
        self.server.send({"method": "initialized", "params": {}})
        self.version = 0
        while not self.ask("workspace/symbol", {"query": "write"})["result"]:
            pass  # what a file calls is not known yet

    def ask(self, method: str, params: Json) -> Json:
        key = self.server.next_id()
        self.server.send({"id": key, "method": method, "params": params})
        while True:
            message = self.server.receive()
            if message.get("id") == key and "method" not in message:
                return message

    def open(self, uri: str, text: str) -> None:
        self.version += 1
        item = {"uri": uri, "languageId": "yaml", "version": self.version, "text": text}
        self.server.send({"method": "textDocument/didOpen", "params": {"textDocument": item}})

    def close(self, uri: str) -> None:
        self.server.send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}})

    def change(self, uri: str, changes: list[Json]) -> None:
        self.version += 1
        about = {"uri": uri, "version": self.version}
        params = {"textDocument": about, "contentChanges": changes}
        self.server.send({"method": "textDocument/didChange", "params": params})

    def answers(self, uri: str, places: list[Json]) -> list[tuple[str, Any]]:
        item = {"textDocument": {"uri": uri}}
        asked: list[tuple[str, Json]] = [
            ("textDocument/diagnostic", item),
            ("textDocument/semanticTokens/full", item),
            ("textDocument/documentSymbol", item),
            ("textDocument/foldingRange", item),
            ("textDocument/selectionRange", {**item, "positions": [{"line": 999_999, "character": 0}]}),
        ]
        for at in places:
            asked.append(("textDocument/hover", {**item, "position": at}))
            asked.append(("textDocument/definition", {**item, "position": at}))
            asked.append(("textDocument/rename", {**item, "position": at, "newName": "n3w"}))
        return [(method, _comparable(method, self.ask(method, params))) for method, params in asked]

    def end(self) -> None:
        self.server.process.kill()
        self.server.process.wait()


def _comparable(method: str, answer: Json) -> Any:
    result = answer.get("result")
    if isinstance(result, dict):
        result = {name: one for name, one in result.items() if name != "resultId"}
    if method == "textDocument/rename" and isinstance(result, dict):
        for document in result.get("documentChanges", []):
            document.get("textDocument", {}).pop("version", None)
    return {"result": result, "error": answer.get("error")}


class Session:
    """One file from its opening to its last edit."""

    def __init__(self, sides: tuple[Side, Side], folder: Path, encoding: str, seed: str, size: tuple[int, int]) -> None:
        self.edited, self.fresh = sides
        self.encoding: Any = encoding
        self.rng = random.Random(seed)
        self.name = self.rng.choices(list(FORMATS), (5, 2, 2, 2))[0]
        self.uri = (folder / "flows" / FORMATS[self.name][0]).as_uri()
        most = self.rng.choice((size[0], size[0] * 2, size[0] * 3, size[1]))
        self.eol = self.rng.choice(EOLS)
        text = long_text(self.name, self.rng, min(most, size[1]), self.eol)
        self.buffer, self.text = Buffer(text, encoding), Text.of(text)
        self.edited.open(self.uri, text)

    def kinds(self) -> tuple[str, ...]:
        """What the session is counted by: format, encoding, line ends at its opening and lines of this step."""
        lines = len(self.buffer.starts)
        most = next((most for most in (300, 1_000, 3_000) if lines <= most), None)
        size = f"<= {most} lines" if most else "> 3000 lines"
        return self.name, self.buffer.encoding, repr(self.eol), size

    def step(self) -> None:
        changes = some_edit(self.buffer, self.rng)
        self.edited.change(self.uri, changes)
        for change in changes:
            span = PositionMapping(self.text, self.encoding).read_range(change.get("range") or EVERYTHING)
            self.text = self.text.edit(span, change["text"])

    def differences(self) -> list[str]:
        places = [self._name() for _ in range(3)]
        self.fresh.open(self.uri, self.buffer.text)
        new = self.fresh.answers(self.uri, places)
        self.fresh.close(self.uri)
        old = self.edited.answers(self.uri, places)
        texts = [] if str(self.text) == self.buffer.text else ["text"]
        return texts + [
            f"{method}: {_first_difference(one, other)}"
            for (method, one), (_, other) in zip(old, new, strict=True)
            if one != other
        ]

    def _name(self) -> Json:
        line = self.rng.randrange(len(self.buffer.starts))
        start = self.buffer.starts[line]
        found = self.buffer.text.find("draft", start)
        return self.buffer.place(found if 0 <= found < start + 200 else start)

    def close(self) -> None:
        self.edited.close(self.uri)


def _first_difference(one: Any, other: Any) -> str:
    a, b = json.dumps(one, ensure_ascii=False), json.dumps(other, ensure_ascii=False)
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return f"edited ...{a[max(0, at - 80) : at + 160]} | fresh ...{b[max(0, at - 80) : at + 160]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=8, help="steps between two comparisons")
    parser.add_argument("--length", type=int, default=60, help="steps of a session")
    parser.add_argument("--size", type=int, nargs=2, default=(300, 3_000), help="lines of a file")
    parser.add_argument("--stop", type=int, default=5, help="give up after so many differences")
    args = parser.parse_args()
    done = compared = failures = session = 0
    spread = [Counter[str]() for _ in range(4)]
    begun = time.perf_counter()
    while done < args.steps and failures < args.stop:
        encoding = ENCODINGS[(session // _RESTART) % len(ENCODINGS)]
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            (folder / "flows" / "loops").mkdir(parents=True)
            (folder / "flows" / "callee.yaml").write_text(CALLEE)
            sides = Side(folder, encoding), Side(folder, encoding)
            for _ in range(_RESTART):
                seed = f"{args.seed}-{session}"
                session += 1
                one = Session(sides, folder, encoding, seed, args.size)
                for step in range(1, args.length + 1):
                    one.step()
                    done += 1
                    for counter, value in zip(spread, one.kinds(), strict=True):
                        counter[value] += 1
                    if step % args.every:
                        continue
                    compared += 1
                    if found := one.differences():
                        failures += 1
                        print(f"session {seed} ({one.name}, {encoding}), step {step}:", *found, sep="\n  ", flush=True)
                        break
                one.close()
                if done >= args.steps or failures >= args.stop:
                    break
            for side in sides:
                side.end()
        print(
            f"{done} steps, {compared} comparisons, {failures} differences, {[dict(one) for one in spread]}", flush=True
        )
    print(f"{session} sessions in {time.perf_counter() - begun:.0f} s: {failures} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
