"""Running programs for a stage: restricted ones without a shell, or any command where the role may do all.

Both in the workspace, with a reduced environment, on a leash that ends the whole group, within a time.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from loop_ls.engine import leash
from loop_ls.engine.roles.tools.policy import COMMANDS, allowed, words_of
from loop_ls.engine.roles.tools.tool import Arguments, Refusal, RoleTool, number, shortened, spec, text
from loop_ls.engine.roles.tools.workspace import Workspace

SECONDS, MOST_SECONDS = 120, 600
#: What is read of one program's output; a program that writes more is ended.
MOST_BYTES = 1024 * 1024
#: Says to programs of ours that a stage started them: they start no loop then.
MARK = "LOOP_LS_STAGE"


def restricted_shell(workspace: Workspace, environ: Mapping[str, str]) -> RoleTool:
    async def run(given: Arguments) -> str:
        words = allowed(words_of(text(given, "command")), workspace)
        words[0] = _program(words[0], workspace, environ)
        return await _run(words, workspace, environ, SECONDS)

    told = f"Run one command that only reads: {', '.join(COMMANDS)}. There is no shell: no pipes, no redirection."
    return RoleTool(spec("shell", told, command="The command with its arguments."), run)


def full_shell(workspace: Workspace, environ: Mapping[str, str]) -> RoleTool:
    async def run(given: Arguments) -> str:
        command = text(given, "command")
        if not command.strip():
            raise Refusal("The command is empty.")
        seconds = min(max(1, number(given, "seconds", SECONDS)), MOST_SECONDS)
        words = ["cmd", "/c", command] if os.name == "nt" else ["/bin/sh", "-c", command]
        return await _run(words, workspace, environ, seconds)

    described = spec(
        "shell",
        "Run a command in the workspace, through a shell.",
        command="The command line.",
        seconds_=f"How long it may take; {MOST_SECONDS} at most.",
    )
    return RoleTool(described, run)


def _program(name: str, workspace: Workspace, environ: Mapping[str, str]) -> str:
    """The program of this name that is none of the workspace's own."""
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    safe = [each for each in folders if Path(each).is_absolute() and not _lies_in(each, workspace)]
    found = shutil.which(name, path=os.pathsep.join(safe))
    if found is None:
        raise Refusal(f"`{name}` is not installed here.")
    return found


def _lies_in(folder: str, workspace: Workspace) -> bool:
    return Path(folder).resolve().is_relative_to(workspace.root)


async def _run(words: Sequence[str], workspace: Workspace, environ: Mapping[str, str], seconds: float) -> str:
    env = leash.reduced(environ, **{MARK: "1"})
    child = await leash.start(words, cwd=workspace.root, env=env)
    assert child.process.stdout is not None and child.process.stderr is not None
    readers = (_read(child.process.stdout), _read(child.process.stderr))
    reading = asyncio.gather(*readers)
    try:
        async with asyncio.timeout(seconds):
            out, err = await reading
            code = await child.wait()
    except TimeoutError:
        raise Refusal(f"The command ran longer than {seconds:g} s and was ended.") from None
    finally:
        reading.cancel()
        if child.running:
            await child.stop()
        child.release()
    parts = [part for part in (out, err) if part]
    ended = "" if code == 0 else f"\n[ended with {code}]"
    return shortened("\n".join(parts) or "(no output)") + ended


async def _read(stream: asyncio.StreamReader) -> str:
    """The text of a pipe. What comes after the most is thrown away, so that nobody waits for us."""
    kept = bytearray()
    left = 0
    while chunk := await stream.read(65_536):
        room = MOST_BYTES - len(kept)
        kept += chunk[:room]
        left += max(0, len(chunk) - room)
    told = kept.decode("utf-8", "replace").rstrip("\n")
    return f"{told}\n[… {left} bytes left out]" if left else told
