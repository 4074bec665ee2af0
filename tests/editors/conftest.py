"""Real editors with our server: VS Code (code-server in a headless Chromium, our packaged extension), Neovim, Emacs.

Needs what `.ci/setup-editors` prepares; without it these tests fail with a sentence that says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from editors_vscode import CodeServer

ROOT = Path(__file__).resolve().parents[2]
PICTURES = Path(os.environ.get("LOOP_LS_PICTURES", ROOT / "tests" / "editors" / "shots"))


def needed(variable: str) -> str:
    value = os.environ.get(variable, "")
    if not value or not Path(value).exists():
        sentence = f"{variable} names no file: run .ci/setup-editors and source the env.sh that it leaves"
        pytest.fail(sentence, pytrace=False)
    return value


@pytest.fixture(scope="session")
def extension() -> Path:
    """The packaged extension, built from this clone."""
    client = ROOT / "vscode-client"
    vsix = client / "loop-ls.vsix"
    if not vsix.exists():
        pytest.fail("vscode-client/loop-ls.vsix is missing: run `npm ci` and `npm run package` there", pytrace=False)
    return vsix


@pytest.fixture(scope="session")
def server_program() -> str:
    program = Path(sys.executable).with_name("loop-ls")
    if not program.exists():
        pytest.fail(f"{program} is missing: install loop-ls into this environment", pytrace=False)
    return str(program)


@pytest.fixture(scope="session")
def code_server(extension: Path, server_program: str) -> Iterator[CodeServer]:
    data = Path(tempfile.mkdtemp(prefix="loopdata-"))
    server = CodeServer(
        node=needed("LOOP_LS_NODE"),
        entry=needed("LOOP_LS_CODE_SERVER"),
        vsix=extension,
        machine_settings={"loopLs.server.command": [server_program, "serve"]},
        environment={"LOOP_LS_DATA_DIR": str(data)},
    )
    yield server
    server.stop()
    subprocess.run(
        [server_program, "engine", "stop", "--data-dir", str(data)], capture_output=True, timeout=30, check=False
    )
    shutil.rmtree(data, ignore_errors=True)


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    from playwright.sync_api import sync_playwright

    flags = [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    ]  # fmt: skip
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=needed("LOOP_LS_CHROMIUM"), headless=True, args=flags)
        yield chromium
        chromium.close()
