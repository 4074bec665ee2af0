"""What programs really touch: command lines run under strace, and what of it lies outside of a folder.

Run as a file it is the driver below strace: each line becomes a process of its own, so that its trace is a
file of its own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Calls that change something, whatever they are given.
_CHANGING = (
    *("creat", "truncate", "ftruncate", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat"),
    *("symlink", "symlinkat", "mkdir", "mkdirat", "rmdir", "mknod", "mknodat", "chmod", "fchmod", "fchmodat"),
    *("fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "futimesat", "utimensat"),
    *("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "mount", "swapon"),
)
_LOOKING = ("stat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat", "statfs")
_OPENING = ("open", "openat", "openat2")
_STARTING = ("fork", "vfork", "clone", "clone3")
_SPEAKING = ("connect", "bind", "sendto", "sendmsg")
_CALL = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d+|0x[0-9a-f]+)(?:<(.*)>)?(?: .*)?$")
_PATH = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
_WRITES = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)")
#: What programs are loaded from.
_LOADED = re.compile(r"/(?:usr/)?lib(?:32|64|x32)?(?:/.*)?|/etc/ld\.so\.(?:cache|preload)|/dev/null")
#: The same, and what the C library looks at before a program's own work: languages, time zone, names of owners.
_OF_THE_SYSTEM = re.compile(
    _LOADED.pattern + r"|/usr/share/(?:locale|zoneinfo|coreutils)(?:/.*)?"
    r"|/etc/(?:localtime|locale\.alias|passwd|group|nsswitch\.conf|selinux/config)|/proc/(?:filesystems|\d+/maps)|/(?:sys/fs/)?selinux|/"
)


@dataclass(frozen=True, slots=True)
class Trace:
    """`words` were started; `faults` says what they touched that they must not."""

    words: tuple[str, ...]
    faults: tuple[str, ...]


def traced(lines: Sequence[Sequence[str]], folder: Path, room: Path, fence_version: int = 0) -> list[Trace]:
    """Runs every line in `folder` under strace, fenced by Landlock where a version is given. `room` takes the
    traces; it lies outside of `folder`."""
    room.mkdir()
    (room / "lines.json").write_text(json.dumps([list(line) for line in lines]))
    calls = ",".join(f"?{name}" for name in (*_CHANGING, *_LOOKING, *_OPENING, *_STARTING, *_SPEAKING, "execve"))
    words = [
        "strace",
        "--seccomp-bpf",
        "-f",
        "-ff",
        "-y",
        "-z",
        "-s",
        "4096",
        "-qq",
        "-e",
        f"trace={calls}",
        "-o",
        str(room / "t"),
    ]
    driver = [sys.executable, "-S", __file__, str(folder), str(room), str(fence_version)]
    done = subprocess.run([*words, *driver], capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    pids = json.loads((room / "pids.json").read_text())
    assert len(pids) == len(lines)
    return [
        Trace(tuple(line), tuple(_faults((room / f"t.{pid}").read_text(errors="replace"), folder, bool(fence_version))))
        for line, pid in zip(lines, pids, strict=True)
    ]


def _faults(trace: str, folder: Path, fenced: bool) -> Iterator[str]:
    calls = trace.splitlines()
    started = [number for number, call in enumerate(calls) if call.startswith("execve(")]
    if len(started) != 1:
        yield f"{len(started)} programs were started"
    for call in calls[started[0] + 1 :] if started else ():
        if not call.startswith(("+++", "---")) and not _is_harmless(call, folder, fenced):
            yield call


def _is_harmless(call: str, folder: Path, fenced: bool) -> bool:
    found = _CALL.match(call)
    if found is None:
        return False
    name, arguments, _, opened = found.groups()
    if name in _OPENING:
        return (opened == os.devnull or not _WRITES.search(arguments)) and _lies_well(Path(opened), folder, fenced)
    if name in _LOOKING:
        path = _PATH.search(arguments)
        if path is None or not path[2] or "AT_SYMLINK_NOFOLLOW" in arguments or name.startswith("readlink"):
            return True
        return _lies_well(Path(os.path.realpath(Path(path[1] or str(folder), path[2]))), folder, fenced=False)
    return False  # it changes something, starts something or speaks to somebody


def _lies_well(where: Path, folder: Path, fenced: bool) -> bool:
    """Inside, or among what any program is loaded from."""
    return where.is_relative_to(folder) or (_LOADED if fenced else _OF_THE_SYSTEM).fullmatch(str(where)) is not None


def _drive(folder: str, room: str, version: int) -> None:
    """Each line as a child, one after the other."""
    from importlib.util import module_from_spec, spec_from_file_location

    source = Path(__file__).parents[4] / "loop_ls" / "engine" / "subprocesses" / "landlock_exec.py"
    found = spec_from_file_location("landlock_exec", source)
    assert found is not None
    assert found.loader is not None
    landlock_exec = module_from_spec(found)
    found.loader.exec_module(landlock_exec)
    os.chdir(folder)
    nothing = os.open(os.devnull, os.O_RDWR)
    pids = []
    for words in json.loads(Path(room, "lines.json").read_text()):
        pid = os.fork()
        if pid == 0:
            for number in (0, 1, 2):
                os.dup2(nothing, number)
            if version:
                landlock_exec.fence(folder, words[0], version)
            os.execve(words[0], words, {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"})
        os.waitpid(pid, 0)
        pids.append(pid)
    Path(room, "pids.json").write_text(json.dumps(pids))


if __name__ == "__main__":
    _drive(sys.argv[1], sys.argv[2], int(sys.argv[3]))
