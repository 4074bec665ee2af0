"""Real editors with our server: VS Code (code-server in a headless Chromium, our packaged extension), Neovim, Emacs,
Vim, Kate.

Needs what `.ci/setup-editors` prepares; without it these tests fail with a sentence that says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from editors_neovim import Neovim
from editors_vscode import CodeServer

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
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


def installed(program: str) -> str:
    """An editor of the system."""
    found = shutil.which(program)
    if found is None:
        pytest.fail(f"{program} is missing: run .ci/setup-editors", pytrace=False)
    return found


@pytest.fixture(scope="session")
def engine_data(server_program: str) -> Iterator[Path]:
    """Where the engine of the tests outside of VS Code lives: one for all, whoever runs first starts it."""
    data = Path(tempfile.mkdtemp(prefix="loopdata-"))
    yield data
    stop_engine(server_program, data)
    shutil.rmtree(data, ignore_errors=True)


def stop_engine(server_program: str, data: Path) -> None:
    stop = [server_program, "engine", "stop", "--data-dir", str(data)]
    subprocess.run(stop, capture_output=True, timeout=60, check=False)


@pytest.fixture
def editor_environment(tmp_path: Path, server_program: str, engine_data: Path) -> dict[str, str]:
    """What an editor is started with: `loop-ls` is on its path, as the set-ups expect, and nothing is at home."""
    return {
        **os.environ,
        "PATH": f"{Path(server_program).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LOOP_LS_DATA_DIR": str(engine_data),
    }


@pytest.fixture
def open_in_neovim(tmp_path: Path, editor_environment: dict[str, str]) -> Iterator[Callable[..., Neovim]]:
    """Starts Neovims with files of set-up, one after the other."""
    started: list[Neovim] = []

    def start(file: Path, *setup: str, older: bool = False, **more: str) -> Neovim:
        program = installed("nvim") if older else needed("LOOP_LS_NEOVIM")
        home = tmp_path / f"nvim{len(started)}"
        home.mkdir()
        init = home / "init.lua"
        init.write_text("".join((HERE / name).read_text("utf-8") for name in setup))
        started.append(Neovim(program, init, file, home, {**editor_environment, **more}))
        return started[-1]

    yield start
    for one in started:
        one.close()


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
    stop_engine(server_program, data)
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
