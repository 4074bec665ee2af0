"""The read-only shell against the real programs: what its command lines really open, by strace.

Lines are generated from every option that the installed program knows, those that write or run something
included, with values and paths of an enemy. Each one is refused, or what we start in its place touches
nothing outside of the workspace and writes nothing.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loop_ls.engine.roles.tools.command_line import argv_of, words_of
from loop_ls.engine.roles.tools.command_table import PROGRAMS
from loop_ls.engine.roles.tools.tool import Refusal
from loop_ls.engine.roles.tools.workspace import Workspace
from loop_ls.engine.subprocesses.landlock_exec import landlock_version
from loop_ls.engine.subprocesses.sandbox import find_program

from .support.traced import Trace, traced

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the read-only shell runs on Linux only"),
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed"),
]

#: For each program. An ordinary run tries some; `LOOP_LS_EXAMPLES` has all of them tried.
LINES, FENCED_LINES = (210, 40) if "LOOP_LS_EXAMPLES" in os.environ else (60, 20)
PATHS = ["a.txt", "b.txt", "sub", "sub/c.txt", ".", "sub/../a.txt", "-dash.txt", "in_link"]
ENEMY = [
    *("../out/secret.txt", "out_link", "out_link/secret.txt", "sub/out_file", "/etc/hostname", "--", "-", "-e"),
    *("--to-file=../out/secret.txt", "--from-file=../out/secret.txt", "--files0-from=names", "-R", "-L", "-f"),
    *("--output=x", "new.txt", "names", "--follow", "-exec", "-delete", "-fprint", ";", "+", "~/.profile"),
]
VALUES = ["1", "5", "+2", "-3", "hello", "*.txt", "f", "d", "l", "full-iso", "%p %s\\n", "%Y", "%l", "a.txt", "never"]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root, out = tmp_path / "ws", tmp_path / "out"
    (root / "sub").mkdir(parents=True)
    out.mkdir()
    (out / "secret.txt").write_text("SECRET hello\n")
    (root / "a.txt").write_text("hello\nhello\nworld\n")
    (root / "b.txt").write_text("hello\nthere\n")
    (root / "-dash.txt").write_text("hello\n")
    (root / "names").write_bytes(b"../out/secret.txt\0")
    (root / "sub" / "c.txt").write_text("hello c\n")
    (root / "in_link").symlink_to("a.txt")
    (root / "out_link").symlink_to("../out")
    (root / "sub" / "out_file").symlink_to("../../out/secret.txt")
    return Workspace(root)


def known_options(name: str) -> list[str]:
    """Every option of the installed program, by its own help."""
    told = subprocess.run([name, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    found = set(re.findall(r"(?<![\w-])(--?[A-Za-z0-9][\w-]*)", told)) | set(PROGRAMS[name].options)
    assert len(found) > 5
    return sorted(found)


def lines(name: str) -> Iterator[str]:
    chance = random.Random(name)
    options = known_options(name)
    while True:
        words = [name]
        if name == "find" and chance.random() < 0.7:
            words += chance.choices(PATHS, k=chance.randrange(3))
        for _ in range(chance.randrange(4)):
            option = chance.choice(options)
            words.append(option)
            if chance.random() < 0.5:
                value = chance.choice(VALUES if chance.random() < 0.6 else [*PATHS, *ENEMY])
                words[-1:] = [f"{option}={value}"] if chance.random() < 0.3 else [option, value]
        if chance.random() < 0.2:
            words.append(chance.choice(ENEMY))
        if name != "find":
            wanted = 3 if name == "grep" else 2
            words += chance.choices([*PATHS, *ENEMY[:3]] if chance.random() < 0.2 else PATHS, k=wanted)
        yield shlex.join(words)


def accepted(name: str, workspace: Workspace, number: int) -> list[list[str]]:
    """What we would start for so many of the first lines that are not refused, each once."""
    program = find_program(name)
    assert program is not None
    found: dict[tuple[str, ...], None] = {}
    for tried, line in enumerate(lines(name)):
        assert tried < 100_000
        try:
            argv = argv_of(words_of(line), workspace)
        except Refusal:
            continue
        found[program, *argv[1:]] = None
        if len(found) == number:
            return [list(words) for words in found]
    raise AssertionError


def faults(traces: list[Trace]) -> list[str]:
    return [f"{shlex.join(trace.words)}: {fault}" for trace in traces for fault in trace.faults]


def content(folder: Path) -> dict[str, bytes]:
    return {path.as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_RB_111_our_command_lines_touch_nothing_outside_and_write_nothing(
    name: str, workspace: Workspace, tmp_path: Path
) -> None:
    before = content(tmp_path)
    started = accepted(name, workspace, LINES)
    found = traced(started, workspace.root, tmp_path / "traces")
    shutil.rmtree(tmp_path / "traces")
    assert faults(found) == []
    assert content(tmp_path) == before


@pytest.mark.parametrize("name", PROGRAMS)
def test_RB_106_in_the_sandbox_they_open_nothing_but_the_workspace_and_libraries(
    name: str, workspace: Workspace, tmp_path: Path
) -> None:
    version = landlock_version()
    if not version:
        pytest.skip("this kernel does not support Landlock")
    started = accepted(name, workspace, FENCED_LINES)
    found = traced(started, workspace.root, tmp_path / "traces", version)
    assert faults(found) == []


def test_the_same_look_notices_what_the_programs_would_do_with_a_line_as_it_came(
    workspace: Workspace, tmp_path: Path
) -> None:
    lines = [
        *("grep -R hello .", "grep -e hello -f ../out/secret.txt a.txt", "ls -L out_link", "cat out_link/secret.txt"),
        *("diff -I -- --to-file=../out/secret.txt a.txt", "wc --files0-from=names", "find -L . -name *.txt"),
        *("find . -name c.txt -exec cat {} +", "tail /etc/hostname", "find . -printf %Y", "ls -lF", "uniq - b.txt"),
        *("cp a.txt d.txt", "find . -fprint new.txt", "find . -name c.txt -delete"),
    ]
    started = [[str(shutil.which(line.split()[0])), *line.split()[1:]] for line in lines]
    found = traced(started, workspace.root, tmp_path / "traces")
    assert [line for line, trace in zip(lines, found, strict=True) if not trace.faults] == []
