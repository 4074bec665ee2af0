"""Running programs for a stage: read-only ones in a sandbox, or any command where the role may do all.

Both in the workspace, with a reduced environment, below a supervisor that ends the whole group, within a time.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loop_ls.contract.process_marks import IN_A_STAGE
from loop_ls.engine.roles.tools.command_line import argv_of, words_of
from loop_ls.engine.roles.tools.command_table import PROGRAMS
from loop_ls.engine.roles.tools.tool import Arguments, Refusal, RoleTool, number, shortened, spec, text
from loop_ls.engine.roles.tools.workspace import Workspace
from loop_ls.engine.subprocesses import supervisor
from loop_ls.engine.subprocesses.sandbox import REFUSED, Sandbox, find_program, program_environment

SECONDS, MOST_SECONDS = 120, 600
#: What is read of one program's output; a program that writes more is ended.
MOST_BYTES = 1024 * 1024


def readonly_shell(workspace: Workspace, sandbox: Sandbox) -> RoleTool:
    """Programs that read, each started without a shell by words of our own, in `sandbox`."""

    async def run(given: Arguments) -> str:
        words = words_of(text(given, "command"))
        name, *arguments = await asyncio.to_thread(argv_of, words, workspace)
        program = find_program(name)
        if program is None:
            raise Refusal(f"`{name}` is not installed here.")
        fenced = sandbox.argv(program, arguments, workspace.root)
        ended = await _ended(fenced, workspace, program_environment(**{IN_A_STAGE: "1"}), SECONDS)
        if ended.status == REFUSED:
            raise Refusal(f"`{name}` was not started: the sandbox ({sandbox.name}) could not be activated.")
        return ended.told

    told = f"Run one command that only reads: {', '.join(PROGRAMS)}. There is no shell: no pipes, no redirection."
    return RoleTool(spec("shell", told, command="The command with its arguments."), run)


def full_shell(workspace: Workspace, environ: Mapping[str, str]) -> RoleTool:
    async def run(given: Arguments) -> str:
        command = text(given, "command")
        if not command.strip():
            raise Refusal("The command is empty.")
        seconds = min(max(1, number(given, "seconds", SECONDS)), MOST_SECONDS)
        words = ["cmd", "/c", command] if os.name == "nt" else ["/bin/sh", "-c", command]
        return (await _ended(words, workspace, supervisor.reduced(environ, **{IN_A_STAGE: "1"}), seconds)).told

    described = spec(
        "shell",
        "Run a command in the workspace, through a shell.",
        command="The command line.",
        seconds_=f"How long it may take; {MOST_SECONDS} at most.",
    )
    return RoleTool(described, run)


@dataclass(frozen=True, slots=True)
class _Ended:
    """`told` is what the model gets of it."""

    status: int
    told: str


async def _ended(words: Sequence[str], workspace: Workspace, env: Mapping[str, str], seconds: float) -> _Ended:
    child = await supervisor.start(words, cwd=workspace.root, env=env)
    assert child.process.stdout is not None and child.process.stderr is not None
    readers = (_read(child.process.stdout), _read(child.process.stderr))
    reading = asyncio.gather(*readers)
    try:
        async with asyncio.timeout(seconds):
            out, err = await reading
            code = await child.wait()
    except TimeoutError:
        raise Refusal(f"The command ran longer than {seconds:g} s and was stopped.") from None
    finally:
        await child.discard()
        reading.cancel()
    parts = [part for part in (out, err) if part]
    ended = "" if code == 0 else f"\n[ended with {code}]"
    return _Ended(code, shortened("\n".join(parts) or "(no output)") + ended)


async def _read(stream: asyncio.StreamReader) -> str:
    """The text of a pipe. What comes after the most is thrown away, so that nobody waits for us."""
    kept = bytearray()
    left = 0
    while chunk := await stream.read(65_536):
        room = MOST_BYTES - len(kept)
        kept += chunk[:room]
        left += max(0, len(chunk) - room)
    told = kept.decode("utf-8", "replace").rstrip("\n")
    return f"{told}\n[… {left} bytes omitted]" if left else told
