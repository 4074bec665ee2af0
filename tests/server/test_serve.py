"""`loop-ls serve`: where it listens, what it accepts."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loop_ls.server.rpc.framing import Frames, frame

Json = dict[str, Any]


def test_one_client_is_served_over_tcp(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "loop_ls", "serve", "--tcp", "0", "--log-level", "info"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            port = next(int(hit[1]) for line in process.stderr if (hit := re.search(r"port (\d+)", line)))
            with socket.create_connection(("127.0.0.1", port), 20) as connection:
                connection.settimeout(60)
                frames = Frames()

                def ask(message: Json) -> Json:
                    connection.sendall(frame(json.dumps({"jsonrpc": "2.0", **message}).encode()))
                    while True:
                        for body in frames.feed(connection.recv(65536)):
                            answer: Json = json.loads(body)
                            if answer.get("id") == message["id"]:
                                return answer

                answer = ask({"id": 1, "method": "initialize", "params": {"capabilities": {}}})
                assert answer["result"]["serverInfo"]["name"] == "loop-ls"
                assert ask({"id": 2, "method": "shutdown"})["result"] is None
                connection.sendall(frame(b'{"jsonrpc":"2.0","method":"exit"}'))
                assert process.wait(60) == 0
        finally:
            process.kill()


@pytest.mark.parametrize(
    "words",
    [
        ["--tcp", "70000"],
        ["--tcp", "x"],
        ["--stdio", "--tcp", "5"],
        ["--log-level", "loud"],
        ["--log-file", "/nowhere/x"],
    ],
)
def test_wrong_usage_is_said(words: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", "loop_ls", "serve", *words], capture_output=True, timeout=60)
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("to_file", [True, False])
def test_the_log_goes_to_the_file_that_is_named(tmp_path: Path, to_file: bool) -> None:
    file = tmp_path / "serve.log"
    command = [sys.executable, "-m", "loop_ls", "serve", "--log-level", "debug"]
    command += ["--log-file", str(file)] if to_file else []
    done = subprocess.run(command, input=b"", capture_output=True, timeout=60)
    assert (b"DEBUG" in done.stderr, file.exists() and "DEBUG" in file.read_text()) == (not to_file, to_file)


def test_a_port_that_is_taken_is_said_in_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        words = ["serve", "--tcp", str(taken.getsockname()[1])]
        done = subprocess.run([sys.executable, "-m", "loop_ls", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "cannot listen on port" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_vscode_adds_to_the_command_line_is_accepted(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "loop_ls", "serve", "--stdio", "--clientProcessId=1"]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=60)
    assert done.returncode == 1  # no session: the input just ended
    assert done.stdout == b""


def test_a_client_that_writes_long_before_it_reads_is_served() -> None:
    """Both pipes are full for a while: neither side may wait for the other for ever."""
    text = "$schema: workflow/v2.0\nname: a\nsteps:\n" + "".join(f"  - {{name: s{n}, run: x}}\n" for n in range(40))
    document = {"uri": "untitled:a.yaml", "languageId": "yaml", "version": 1, "text": text}
    about = {"textDocument": {"uri": "untitled:a.yaml"}}
    messages: list[Json] = [
        {"id": 0, "method": "initialize", "params": {"capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
        *({"id": n, "method": "textDocument/documentSymbol", "params": about} for n in range(1, 1500)),
        {"id": 9999, "method": "shutdown"},
        {"method": "exit"},
    ]
    data = b"".join(frame(json.dumps({"jsonrpc": "2.0", **message}).encode()) for message in messages)
    command = [sys.executable, "-m", "loop_ls", "serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(data)
            process.stdin.flush()
            bodies = Frames().feed(process.stdout.read())
            answered = {json.loads(body).get("id") for body in bodies}
            assert answered >= {*range(1500), 9999}
            assert process.wait(60) == 0
        finally:
            process.kill()
