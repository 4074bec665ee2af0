"""Sandbox port: what fences the programs of roles that only read, and which one is in force on this machine.

A command line that was built by us is the first fence; the kernel's is the second, which holds where the
first has a fault: reading below one folder, no writing anywhere, no network, no signals. Where no kernel
fence is to be had there is no shell for such roles.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from loop_ls.engine.subprocesses import landlock_exec
from loop_ls.engine.subprocesses.landlock_exec import LIBRARIES, NOT_FENCED, filters_system_calls, landlock_version
from loop_ls.engine.subprocesses.supervisor import search_path
from loop_ls.text.record import equal_record

#: A sandbox ends with this status where it cannot be put in force; nothing was started then.
REFUSED = NOT_FENCED
#: Where sandboxed programs may lie.
_PROGRAMS = ("/usr/bin", "/bin", "/run/current-system/sw/bin")
#: Seconds in which bubblewrap has to show that it works.
_PROOF_SECONDS = 5.0


class Sandbox(Protocol):
    """Starts programs that can only read below one folder. `name` is shown to people."""

    @property
    def name(self) -> str: ...

    def argv(self, program: str, arguments: Sequence[str], folder: Path) -> list[str]:
        """The words that start `program` (an absolute path) in the sandbox; `folder` is the real path of
        what it may read, and its working folder."""
        ...


@equal_record
class NoSandbox:
    """None is to be had here; `reason` is one sentence for people."""

    reason: str


@equal_record
class Landlock:
    """Landlock and seccomp of the Linux kernel, by a small program of ours that becomes the other one."""

    version: int

    @property
    def name(self) -> str:
        return f"Landlock {self.version} with seccomp"

    def argv(self, program: str, arguments: Sequence[str], folder: Path) -> list[str]:
        child = str(Path(landlock_exec.__file__))
        return [sys.executable, "-I", "-S", child, str(folder), program, *arguments]


@equal_record
class Bubblewrap:
    """`bwrap`: namespaces of its own, in which only the folder and the libraries are mounted, to read."""

    bwrap: str

    @property
    def name(self) -> str:
        return "bubblewrap"

    def argv(self, program: str, arguments: Sequence[str], folder: Path) -> list[str]:
        words = [self.bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        words += ["--dev", "/dev"]
        for path in LIBRARIES:
            words += ["--ro-bind-try", path, path]
        words += ["--ro-bind", program, program, "--ro-bind", str(folder), str(folder), "--remount-ro", "/"]
        return [*words, "--chdir", str(folder), "--", program, *arguments]


def find_program(name: str) -> str | None:
    """Where a program of this name lies that a sandbox can start."""
    return shutil.which(name, path=os.pathsep.join(_PROGRAMS))


def program_environment(**more: str) -> Mapping[str, str]:
    """What a sandboxed program knows of the world: nothing of ours."""
    return {"PATH": os.pathsep.join(_PROGRAMS), "LANG": "C.UTF-8", **more}


@functools.cache
def find_sandbox() -> Sandbox | NoSandbox:
    """The one in force here, found once per process."""
    if sys.platform != "linux":
        return NoSandbox(f"There is no sandbox for {_system()} yet.")
    if (version := landlock_version()) and filters_system_calls():
        return Landlock(version)
    found = shutil.which("bwrap", path=search_path(os.environ.get("PATH", os.defpath)))
    if found is None:
        return NoSandbox(
            "This kernel does not support Landlock (Linux 5.13 or newer does), and bubblewrap is not installed."
        )
    if not _works(Bubblewrap(found)):
        return NoSandbox(
            "This kernel does not support Landlock (Linux 5.13 or newer does), and bubblewrap may not be used here."
        )
    return Bubblewrap(found)


def sandbox_in_words() -> str:
    """The one in force for people: its name, or that there is none and why."""
    found = find_sandbox()
    return f"none. {found.reason}" if isinstance(found, NoSandbox) else found.name


def _system() -> str:
    return {"darwin": "macOS", "win32": "Windows"}.get(sys.platform, sys.platform)


def _works(sandbox: Sandbox) -> bool:
    """Whether a harmless program runs in it: user namespaces may be forbidden."""
    listing = find_program("ls")
    if listing is None:
        return False
    words = sandbox.argv(listing, ("-d", "."), Path("/usr/lib").resolve())
    try:
        done = subprocess.run(words, capture_output=True, timeout=_PROOF_SECONDS, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
