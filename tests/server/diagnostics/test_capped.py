"""A folder with more files than are read: what a document calls is found all the same, and nothing is accused."""

from __future__ import annotations

import time
from pathlib import Path

from tests.server.support.flows import HEAD
from tests.server.support.raw import RawClient

CALL = HEAD.format(name="flow") + "steps:\n  - name: one\n    template: {name: zebra}\n"
ZEBRA = HEAD.format(name="zebra") + "steps:\n  - {name: write, run: 'Write about zebras'}\n"
MOST = 2_000


def test_a_callee_beyond_the_limit_is_found_and_never_missed(server: RawClient, tmp_path: Path) -> None:
    for number in range(MOST):
        (tmp_path / f"a{number}.yaml").touch()
    (tmp_path / "zebra.yaml").write_text(ZEBRA)
    server.begin({})
    uri = (tmp_path / "flow.yaml").as_uri()
    server.open(uri, CALL)
    assert server.diagnostics(uri, 1) == []
    place = {"textDocument": {"uri": uri}, "position": {"line": 7, "character": 22}}
    until = time.monotonic() + 60
    while not (found := server.ask("textDocument/definition", place)["result"]):
        assert time.monotonic() < until, "the called workflow was not found"
        server.ask("workspace/symbol", {"query": "zebra"})
    assert found[0]["uri"] == (tmp_path / "zebra.yaml").as_uri()
    server.change(uri, 2, {"text": CALL.replace("zebra", "giraffe")})
    assert server.diagnostics(uri, 2) == []
    assert server.ask("textDocument/hover", place)["result"] is None
