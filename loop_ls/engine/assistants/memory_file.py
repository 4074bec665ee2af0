"""Memory file of an assistant: what its iterations have learned, kept in the workspace by a cheap model call.

A fresh process knows nothing of the iterations before it but a line of each; what the file says goes into its system
prompt. After each iteration a model rewrites the file from what it said and from what the iteration answered. People
may edit it at any time. Each reading, answer and writing is recorded, so a run that was killed goes on behind the last
one and nothing is paid twice. A memory that cannot be kept ends no loop.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

from loop_ls.contract.facts.kinds import Warned
from loop_ls.engine.context.workspace_files import ProjectFiles
from loop_ls.engine.core.loop_driver import Turn
from loop_ls.engine.core.ports import Failure, Models, Recorder
from loop_ls.engine.core.redaction import redact
from loop_ls.engine.model_calls.ask import Question, ask
from loop_ls.engine.protection.patterns import Protected
from loop_ls.engine.roles.tools.tool import shortened
from loop_ls.formats.assistant.keys import MOST_MEMORY
from loop_ls.formats.common.target import Target
from loop_ls.index.disk.skill_files import is_skill

#: How the file begins. Without this line it is another file, which is not replaced.
FIRST_LINE = "<!-- Memory of an assistant. loop-ls rewrites this file after each iteration. -->"
OURS = re.compile(re.escape(FIRST_LINE))
#: Characters of a file that go into a prompt: people may have written more than a model may.
MOST_READ = 2 * MOST_MEMORY
#: Characters of the task and of an answer that the memory is made from.
MOST_TASK, MOST_ANSWER = 2_000, 12_000
#: Parts of the place of an iteration under which its memory is recorded.
READ, BEFORE, ASKED, WRITTEN = "memory", "memory-before", "memory-ask", "memory-written"
_TEMPERATURE = 0.2


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """`path` is relative to the workspace; `target` is who rewrites it."""

    path: str
    files: ProjectFiles
    target: Target
    models: Models
    recorder: Recorder

    async def text(self, turn: Turn) -> str:
        """What the file says when an iteration begins; empty where it says nothing."""
        return await self._read(turn.place.part(READ))

    async def keep(self, turn: Turn, task: str, answer: str) -> None:
        """Rewrite the file after an iteration. Raises `Stopped`."""
        try:
            before = await self._read(turn.place.part(BEFORE))
            question = Question(
                place=turn.place,
                key=turn.place.part(ASKED),
                prompt=_prompt(before, task, turn.number, answer),
                targets=(self.target,),
                temperature=_TEMPERATURE,
                purpose="memory",
                request_place=turn.place.part("memory"),
            )
            kept = fitting(await ask(question, self.models, self.recorder))
            if kept and kept != before:
                await self.recorder.call(turn.place.part(WRITTEN), lambda: asyncio.to_thread(self._write, kept))
        except Failure as failure:
            told = f"The memory in {self.path} was not updated: {failure.message}"
            warned = Warned(code="memory_not_kept", message=told).fact(turn.place)
            await self.recorder.record(turn.place.part("memory-failed"), [warned])

    async def _read(self, key: str) -> str:
        return await self.recorder.call(key, lambda: asyncio.to_thread(self._now))

    def _now(self) -> str:
        return shortened(memory_in(self.files, self.path), MOST_READ)

    def _write(self, text: str) -> str:
        return self.files.write(self.path, "", f"{FIRST_LINE}\n\n{text}\n", "memory file", OURS)


def memory_in(files: ProjectFiles, path: str) -> str:
    """What a memory file says, without its first line; empty where there is none or it is another file."""
    try:
        text = files.read(path, "", "memory file")
    except Failure:
        return ""
    return text[len(FIRST_LINE) :].strip() if OURS.match(text) else ""


def is_protected(files: ProjectFiles, path: str) -> bool:
    """Whether it would be one of the files that tell agents and tools what to do, links followed: no model writes
    these unseen. A skill is one of them, also if this run does not use it."""
    try:
        whole, root = (files.root / path).resolve(), files.root.resolve()
    except (OSError, RuntimeError, ValueError):
        return False  # it cannot be written either
    if not whole.is_relative_to(root):
        return False
    inside = whole.relative_to(root).as_posix()
    return is_skill(inside) or Protected().covers(inside)


def other_content(files: ProjectFiles, path: str) -> bool:
    """Whether a file of this name has other content, which must not be lost."""
    try:
        text = files.read(path, "", "memory file")
    except Failure:
        return False
    return bool(text.strip()) and OURS.match(text) is None


def fitting(answer: str) -> str:
    """What is kept of an answer: without what looks like a key, and no more than a memory may hold."""
    text = redact(answer).strip()
    if len(text) <= MOST_MEMORY:
        return text
    whole, _, _ = text[:MOST_MEMORY].rpartition("\n")
    return (whole or text[:MOST_MEMORY]).strip()


def told_memory(text: str) -> str:
    """The memory as a part of a system prompt; empty where there is none."""
    return f"## Memory\n\nWhat earlier iterations and runs left for you:\n\n{text}" if text else ""


def _prompt(before: str, task: str, number: int, answer: str) -> str:
    parts = (
        "You keep the memory of an assistant that works in iterations. Each one is a fresh process that knows of the "
        "others only what this memory says.",
        f"## Memory so far\n\n{before or '(empty)'}",
        f"## Task\n\n{shortened(task, MOST_TASK)}",
        f"## Answer of iteration {number}\n\n{shortened(answer, MOST_ANSWER)}",
        "Write the whole memory again: what later iterations need and cannot see in the files, such as decisions with "
        "their reasons, what was tried and failed, commands that work, and what is left to do. Keep what still holds "
        "and drop the rest. Never write down passwords or keys. Answer with the memory alone, in Markdown, with at "
        f"most {MOST_MEMORY:,} characters.",
    )
    return "\n\n".join(parts)
