"""What a program can do in each sandbox that this machine offers: read below one folder, and nothing else."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from loop_ls.engine.subprocesses import landlock_exec, sandbox
from loop_ls.engine.subprocesses.landlock_exec import landlock_version
from loop_ls.engine.subprocesses.sandbox import Bubblewrap, Landlock, NoSandbox, Sandbox, find_sandbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these sandboxes are of Linux")

MAY = ["cat a.txt", "grep -r hello .", "find . -name *.txt", "ls -la", "head -1 a.txt"]
#: Python code, since no program of the table can do any of it.
MAY_NOT = {
    "write a new file": "open('w', 'w')",
    "append": "open('a.txt', 'a')",
    "delete": "os.remove('a.txt')",
    "rename": "os.rename('a.txt', 'b.txt')",
    "link": "os.link('a.txt', 'c.txt')",
    "symlink": "os.symlink('a.txt', 'c.txt')",
    "make a folder": "os.mkdir('d')",
    "truncate": "os.truncate('a.txt', 0)",
    "change the mode": "os.chmod('a.txt', 0o600)",
    "change the owner": "os.chown('a.txt', 1, 1)",
    "change the times": "os.utime('a.txt', (0, 0))",
    "set an attribute": "os.setxattr('a.txt', 'user.k', b'v')",
    "read beside the folder": "open('../out/secret.txt').read()",
    "read through a link": "open('link').read()",
    "read a file of the system": "open('/etc/passwd').read()",
    "list a folder of the system": "os.listdir('/etc')",
    "write beside the folder": "open('../out/new.txt', 'w')",
    "open a socket": "socket.create_connection(('127.0.0.1', PORT), 2)",
    "open a unix socket": "socket.socket(socket.AF_UNIX).connect('../out/socket')",
    "send a datagram": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
    "signal another process": "os.kill(PARENT, 0)",
    "read another's environment": "open('/proc/PARENT/environ').read()",
    "run another program": "os.execv('/usr/bin/id', ['id'])",
}


def offered() -> Iterator[Sandbox]:
    if version := landlock_version():
        yield Landlock(version)
    if bwrap := shutil.which("bwrap"):
        yield Bubblewrap(bwrap)


SANDBOXES = list(offered())


def test_this_machine_offers_a_sandbox_that_can_be_tested() -> None:
    if not SANDBOXES:
        pytest.skip("this kernel does not support Landlock and bubblewrap is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made, out = tmp_path / "in", tmp_path / "out"
    made.mkdir()
    out.mkdir()
    (out / "secret.txt").write_text("a secret")
    (made / "a.txt").write_text("hello\n")
    (made / "link").symlink_to("../out/secret.txt")
    return made


def run(fence: Sandbox, folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    words: Sequence[str] = fence.argv(program, arguments, folder)
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False
    )


@pytest.mark.parametrize("fence", SANDBOXES, ids=lambda each: each.name)
@pytest.mark.parametrize("command", MAY)
def test_reading_below_the_folder_works(fence: Sandbox, folder: Path, command: str) -> None:
    name, *arguments = command.split()
    program = shutil.which(name)
    assert program is not None
    done = run(fence, folder, program, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.fixture
def port(folder: Path) -> Iterator[int]:
    """Somebody listens on it, and on a socket beside the folder."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        before = os.getcwd()
        os.chdir(folder.parent / "out")  # the name of such a socket is short
        try:
            local.bind("socket")
        finally:
            os.chdir(before)
        local.listen()
        yield server.getsockname()[1]


@pytest.mark.parametrize("attempt", MAY_NOT)
def test_everything_else_fails_by_landlock(folder: Path, attempt: str, port: int) -> None:
    """Whichever version of Landlock a kernel has: what an older one does not know, the filter refuses."""
    newest = landlock_version()
    if not newest:
        pytest.skip("this kernel does not support Landlock")
    code = MAY_NOT[attempt].replace("PARENT", str(os.getpid())).replace("PORT", str(port))
    for version in range(1, min(newest, 6) + 1):
        done = _in_process(folder, code, version)
        assert done.returncode == 1, (version, done.stdout, done.stderr)
        assert "Error" in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "link"]
    assert (folder / "a.txt").read_text() == "hello\n"
    free = _in_process(folder, code, 0)
    if attempt in ("change the owner", "set an attribute") and free.returncode:
        pytest.skip(f"not possible here without a sandbox either: {free.stderr[-80:]}")
    assert free.returncode == 0, free.stderr


def _in_process(folder: Path, code: str, version: int) -> subprocess.CompletedProcess[str]:
    """The code in a Python that fences itself (0: does not): Python's own files are not what a program may load."""
    fence = f"landlock_exec.fence({str(folder)!r}, '/usr/bin/cat', {version})" if version else "pass"
    text = (
        f"import sys, os, socket; sys.path.insert(0, {str(Path(landlock_exec.__file__).parent)!r})\n"
        f"import landlock_exec\n{fence}\n{code}\n"
    )
    return subprocess.run(
        [sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("fence", SANDBOXES, ids=lambda each: each.name)
@pytest.mark.parametrize("path", ["../out/secret.txt", "link", "/etc/passwd", "/proc/1/environ", "/root/.profile"])
def test_nothing_outside_is_read(fence: Sandbox, folder: Path, path: str) -> None:
    done = run(fence, folder, "/usr/bin/cat", path)
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize("fence", SANDBOXES, ids=lambda each: each.name)
def test_nothing_is_written(fence: Sandbox, folder: Path) -> None:
    done = run(fence, folder, "/usr/bin/touch", "a.txt", "new.txt")
    assert done.returncode == 1
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "link"]


def test_where_the_fence_fails_nothing_is_started(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock_exec, "landlock_version", lambda: 0)
    monkeypatch.setattr(os, "closerange", lambda low, high: None)
    assert landlock_exec.main([str(folder), "/usr/bin/touch", "new.txt"]) == landlock_exec.NOT_FENCED
    assert not (folder / "new.txt").exists()


@pytest.mark.parametrize(("system", "told"), [("darwin", "macOS"), ("win32", "Windows"), ("linux", "bubblewrap")])
def test_where_there_is_none_the_reason_is_a_sentence(system: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(sandbox, "landlock_version", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    found = find_sandbox.__wrapped__()
    assert isinstance(found, NoSandbox)
    assert told in found.reason
    assert found.reason.endswith(".")


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_without_landlock_bubblewrap_is_taken_where_it_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "landlock_version", lambda: 0)
    found = find_sandbox.__wrapped__()
    assert found == Bubblewrap(shutil.which("bwrap") or "")
    monkeypatch.setattr(sandbox, "_PROOF_SECONDS", 0.0)
    assert isinstance(find_sandbox.__wrapped__(), NoSandbox)
