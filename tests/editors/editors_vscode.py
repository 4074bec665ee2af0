"""One code-server with its own settings, extensions and process group."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

from loop_ls.testing.ports import free_port

QUIET_GALLERY = json.dumps({"serviceUrl": "", "controlUrl": "", "recommendationsUrl": ""})

#: Read by the window: a calm editor in which nothing but the test types, suggests or reports.
USER_SETTINGS = {
    "workbench.startupEditor": "none",
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "workbench.enableExperiments": False,
    "extensions.autoCheckUpdates": False,
    "extensions.autoUpdate": False,
    "extensions.ignoreRecommendations": True,
    "update.mode": "none",
    "workbench.tips.enabled": False,
    "chat.disableAIFeatures": True,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "git.enabled": False,
    "window.restoreWindows": "none",
    "files.hotExit": "off",
    "files.autoSave": "off",
    "workbench.reduceMotion": "on",
    "editor.minimap.enabled": False,
    "loopLs.panel.openOnStart": False,
    "editor.quickSuggestions": {"other": "off", "comments": "off", "strings": "off"},
}


class CodeServer:
    """Started at once; `stop` ends the whole group. Settings that an extension reads when it is
    activated are machine settings: the user's arrive later than the extension (a real race)."""

    def __init__(
        self,
        *,
        node: str,
        entry: str,
        vsix: Path | None,
        machine_settings: dict[str, object],
        environment: dict[str, str] | None = None,
        extra: tuple[str, ...] = (),
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="cs-"))  # short: a socket is made below it
        for kind, values in (("User", USER_SETTINGS), ("Machine", machine_settings)):
            (self.folder / "u" / kind).mkdir(parents=True)
            (self.folder / "u" / kind / "settings.json").write_text(json.dumps(values))
        (self.folder / "config.yaml").write_text("auth: none\ncert: false\n")
        self.base = [
            *(node, entry, "--config", str(self.folder / "config.yaml")),
            *("--user-data-dir", str(self.folder / "u"), "--extensions-dir", str(self.folder / "x")),
        ]
        if vsix:
            install = [*self.base, "--install-extension", str(vsix)]
            subprocess.run(install, check=True, capture_output=True, timeout=120)
        self.port = free_port()
        self.log = (self.folder / "log").open("wb")
        self.process = subprocess.Popen(
            [
                *self.base,
                *("--auth", "none", "--bind-addr", f"127.0.0.1:{self.port}", "--disable-telemetry"),
                *("--disable-update-check", "--disable-workspace-trust", "--disable-getting-started-override"),
                *("--ignore-last-opened", "--disable-proxy", "--reconnection-grace-time", "1", *extra),
            ],
            env={**os.environ, "EXTENSIONS_GALLERY": QUIET_GALLERY, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._wait_until_it_answers()

    def _wait_until_it_answers(self, limit: float = 60) -> None:
        end = time.monotonic() + limit
        while time.monotonic() < end:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=2).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(f"code-server did not answer within {limit} s:\n{(self.folder / 'log').read_text()}")

    def address(self, folder: Path, open_file: Path) -> str:
        target = f"vscode-remote://127.0.0.1:{self.port}{open_file}"
        query = urllib.parse.urlencode({"folder": str(folder), "payload": json.dumps([["openFile", target]])})
        return f"http://127.0.0.1:{self.port}/?{query}"

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(5)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
