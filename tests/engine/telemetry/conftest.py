"""An engine as it is shipped, in a process of its own, that has run one workflow."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from loop_ls.client.engine_location import read_handover
from tests.processes.forked import Forked

WORKFLOW = """\
$schema: "workflow/v2.0"
name: greet
version: 1.0.0
execution: {provider: scripted, model: m}
steps:
  - {name: hello, run: "Say hello to {{input}}"}
"""


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[tuple[str, str]]:
    root, data = tmp_path / "root", tmp_path / "data"
    root.mkdir()
    (root / "greet.yaml").write_text(WORKFLOW, "utf-8")
    argv = [sys.executable, "-m", "loop_ls", "engine", "start", "--foreground", "--root", str(root)]
    argv += ["--data-dir", str(data), "--log-format", "json", "--log-level", "info"]
    with (tmp_path / "log").open("w") as log:
        child = Forked(argv, stdout=subprocess.DEVNULL, stderr=log)
    try:
        found, deadline = None, time.monotonic() + 60
        while found is None and time.monotonic() < deadline and child.poll() is None:
            time.sleep(0.02)
            found = read_handover(data)
        assert found is not None, "the engine did not start"
        headers = {"Authorization": f"Bearer {found.token}"}
        with httpx.Client(
            base_url=f"{found.url}/api/v1", headers=headers, trust_env=False, timeout=60, verify=False
        ) as http:
            body = {"root": str(root), "path": str(root / "greet.yaml"), "input": "Ada", "mock": True}
            run_id = http.post("/loops", json=body).json()["runId"]
            while http.get(f"/loops/{run_id}/state").json()["state"]["status"] != "completed":
                assert time.monotonic() < deadline
                time.sleep(0.02)
        yield found.url, found.token
    finally:
        child.kill()
        child.wait()
