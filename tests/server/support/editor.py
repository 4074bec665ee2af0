"""A session with one loop file open, over raw messages, and what a person would see in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.server.support.flows import LOOP
from tests.server.support.raw import RawClient

Json = dict[str, Any]

CAPABILITIES: Json = {
    "window": {
        "workDoneProgress": True,
        "showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}},
        "showDocument": {"support": True},
    },
    "workspace": {"codeLens": {"refreshSupport": True}},
    "textDocument": {"publishDiagnostics": {"relatedInformation": True}, "codeLens": {}},
}
TARGET = {"kind": "loop", "name": "refine"}


class Editor:
    def __init__(
        self,
        client: RawClient,
        folder: Path,
        options: Any = None,
        capabilities: Json | None = None,
        text: str = LOOP,
    ) -> None:
        self.client, self.uri = client, (folder / "flow.yaml").as_uri()
        self.capabilities = client.begin(CAPABILITIES if capabilities is None else capabilities, folder, options)
        client.open(self.uri, text)

    def command(self, name: str, argument: Any) -> Json:
        params = {"command": name, "arguments": [argument]}
        found: Json = self.client.ask("workspace/executeCommand", params)["result"]
        return found

    def run(self, script: Json | None = None, **more: Any) -> Json:
        argument = {"uri": self.uri, "target": TARGET, "input": json.dumps(script or {}), **more}
        return self.command("loopLs.run", argument)

    def events(self, run_id: str) -> list[Json]:
        return [
            m["params"]
            for m in self.client.received
            if m.get("method") == "loopLs/event" and m["params"]["runId"] == run_id
        ]

    def wait_event(self, kind: str, **fields: Any) -> Json:
        def wanted(message: Json) -> bool:
            params = message.get("params") or {}
            hit = message.get("method") == "loopLs/event" and params.get("kind") == kind
            return hit and all(params.get(name) == value for name, value in fields.items())

        found: Json = self.client.wait(wanted)["params"]
        return found

    def wait_state(self, **fields: Any) -> Json:
        def wanted(message: Json) -> bool:
            params = message.get("params") or {}
            return message.get("method") == "loopLs/run" and all(params.get(n) == v for n, v in fields.items())

        found: Json = self.client.wait(wanted)["params"]
        return found

    def run_diagnostics(self, wanted: Callable[[list[Json]], bool]) -> list[Json]:
        """The first published set of run diagnostics that is wanted."""

        def of_runs(message: Json) -> list[Json]:
            return [d for d in message["params"]["diagnostics"] if d["source"] == "loop-run"]

        def hit(message: Json) -> bool:
            return message.get("method") == "textDocument/publishDiagnostics" and wanted(of_runs(message))

        return of_runs(self.client.wait(hit))
