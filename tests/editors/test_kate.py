"""Kate with the set-up of the documentation, on a screen that nobody sees: what it asked and got is in the log."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE, PICTURES, installed
from editors_flow import write_flow

LIMIT = 90.0
Json = dict[str, Any]

RC = """\
[Kate Plugins]
lspclientplugin=true

[lspclient]
ServerConfiguration=file://{setup}
AllowedServerCommandLines={program} serve

[General]
Show welcome view for new window=false
"""
#: Kate asks a person once whether the server may be started; here it was allowed.
#: Stands where `loop-ls` is looked for, and keeps what goes in and out.
BETWEEN = """\
#!/bin/sh
tee -a {log}/asked | {program} "$@" | tee -a {log}/answered
"""


class Kate:
    def __init__(self, file: Path, home: Path, environment: dict[str, str], program: str) -> None:
        self.log = home / "log"
        config, between = home / ".config", home / "bin" / "loop-ls"
        setup = config / "kate" / "lspclient" / "settings.json"
        for folder in (self.log, setup.parent, between.parent, home / "run"):
            folder.mkdir(parents=True)
        (home / "run").chmod(0o700)
        setup.write_text((HERE / "kate.json").read_text("utf-8"))
        (config / "katerc").write_text(RC.format(setup=setup, program=between))
        between.write_text(BETWEEN.format(log=self.log, program=program))
        between.chmod(0o755)
        for name in ("asked", "answered"):
            (self.log / name).touch()
        self._screen = subprocess.Popen(
            [installed("Xvfb"), "-displayfd", "1", "-screen", "0", "1100x700x24", "-nolisten", "tcp"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._screen.stdout is not None
        self.environment = {
            **environment,
            "PATH": f"{between.parent}{os.pathsep}{environment['PATH']}",
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(config),
            "XDG_RUNTIME_DIR": str(home / "run"),
            "DISPLAY": f":{self._screen.stdout.readline().strip()}",
            "QT_QPA_PLATFORM": "xcb",
            "LANG": "C.UTF-8",
        }
        self._kate = subprocess.Popen(
            [installed("dbus-run-session"), "--", installed("kate"), "-n", "--startanon", str(file)],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=(home / "kate.log").open("wb"),
            start_new_session=True,
        )

    def messages(self, side: str) -> list[Json]:
        """What was `asked` of the server, or `answered` by it, as far as it has come."""
        found, rest = [], (self.log / side).read_bytes()
        while b"\r\n\r\n" in rest:
            head, _, body = rest.partition(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split()[0])
            if len(body) < length:
                break
            found.append(json.loads(body[:length]))
            rest = body[length:]
        return found

    def until(self, side: str, wanted: Callable[[Json], bool]) -> Json:
        end = time.monotonic() + LIMIT
        while True:
            if found := next((one for one in self.messages(side) if wanted(one)), None):
                return found
            assert time.monotonic() < end, f"not among {[one.get('method') for one in self.messages(side)]}"
            assert self._kate.poll() is None, "Kate has ended"
            time.sleep(0.1)

    def key(self, *words: str) -> None:
        subprocess.run([installed("xdotool"), *words], env=self.environment, check=True, timeout=LIMIT)

    def picture(self, name: str) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        picture = [installed("import"), "-window", "root", str(PICTURES / name)]
        subprocess.run(picture, env=self.environment, check=True, timeout=LIMIT)

    def close(self) -> None:
        os.killpg(self._kate.pid, signal.SIGKILL)
        self._kate.wait(30)
        self._screen.terminate()
        self._screen.wait(30)


@pytest.fixture
def kate(tmp_path: Path, editor_environment: dict[str, str], server_program: str) -> Iterator[Kate]:
    kate = Kate(write_flow(tmp_path / "poems"), tmp_path / "home", editor_environment, server_program)
    yield kate
    kate.close()


def test_kate_gets_findings_and_offers_what_fits(kate: Kate) -> None:
    opened = kate.until("asked", lambda one: one.get("method") == "textDocument/didOpen")
    assert opened["params"]["textDocument"]["uri"].endswith("/poems/haiku.yaml")
    kate.until(
        "answered",
        lambda one: (
            one.get("method") == "textDocument/publishDiagnostics"
            and "WF702" in [each["code"] for each in one["params"]["diagnostics"]]
        ),
    )
    kate.key("key", "ctrl+End", "Up", "End", "Left")  # before the last quote
    kate.key("type", "--delay", "40", " {{co")
    kate.key("key", "ctrl+space")
    kate.until("asked", lambda one: one.get("method") == "textDocument/completion")

    def offered(one: Json) -> bool:
        result = one.get("result")
        items = result.get("items", []) if isinstance(result, dict) else result if isinstance(result, list) else []
        return any(isinstance(each, dict) and "compose" in str(each.get("label")) for each in items)

    kate.until("answered", offered)
    kate.picture("kate.png")
