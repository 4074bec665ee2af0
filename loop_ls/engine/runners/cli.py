"""An agent that is a program: started fresh for each piece of work, listened to, and judged by its end.

What differs between agents is their command line and their speech (`Dialect`). A status other than 0, or
death by a signal, is a failure always: an agent that crashes without a word has done nothing.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import Protocol

from loop_ls.contract.amounts import clock_time
from loop_ls.engine.capabilities.guard import using_program
from loop_ls.engine.context.workspace_files import engine_data_below
from loop_ls.engine.core.ports import EXHAUSTED, LONGEST_ANSWER, Failure, LostAttempt
from loop_ls.engine.core.price_table import AttemptCost, Price, Usage, booked, known_price
from loop_ls.engine.core.redaction import redact
from loop_ls.engine.model_calls.tool_loop import CLOSING
from loop_ls.engine.providers.failures import reset_moment
from loop_ls.engine.runners import usage_windows as windows
from loop_ls.engine.runners.concurrency import gate_of
from loop_ls.engine.runners.environment import agent_environment
from loop_ls.engine.runners.line_reader import Ended, Invocation, OverTime, run_lines
from loop_ls.engine.runners.output_parser import (
    CLUE,
    AgentOutput,
    CountsSteps,
    HearsAside,
    OutputParser,
    TooMuch,
    number,
)
from loop_ls.engine.runners.runner import NOTHING_SERVED, Assignment, Hear, Work, deaf
from loop_ls.text.json_value import Json
from loop_ls.text.record import equal_record

#: Access with which an agent reads files by tools of its own, and is to do nothing else.
_READS = ("readonly", "readonly-shell")
#: Of what an agent has said, so many characters at the end are told it again.
LONGEST_SAID = 20_000
#: What an agent says when nobody writes to it, which is no error.
_NO_INPUT = ("no stdin data", "Reading additional input from stdin")


class _StepsUsedUp(Exception):
    """It has taken the steps that it may take, and would work on."""


@equal_record
class CommandLine:
    """A command line after the program's own words. The message and other prompts go by `stdin` or by a file:
    everybody on a machine can read the words of a process. `stdin` None: the settings put the message elsewhere.
    `environment` is laid over the one that the agent gets anyway."""

    words: Sequence[str]
    stdin: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


class Dialect(Protocol):
    """How one kind of agent is spoken to. `by_file` keeps a text for as long as the agent runs, in a file that only
    we can read, and gives its path."""

    @property
    def credentials(self) -> tuple[str, ...]: ...

    @property
    def handed_on(self) -> tuple[str, ...]: ...

    @property
    def prices(self) -> str:
        """Whose models it mostly asks, as the price table names them; empty: nobody knows."""
        ...

    @property
    def tells_cost(self) -> bool:
        """Whether it says what its work has cost."""
        ...

    def said(self, work: Assignment, by_file: Callable[[str], str]) -> CommandLine: ...

    def environment(self, environ: Mapping[str, str]) -> Mapping[str, str]: ...

    def speech(self, hear: Hear) -> OutputParser: ...


@equal_record
class CliRunner:
    """`program` are the words with which it starts, `written` all of them in the settings; `environ` is that of
    the engine, `settings` those of the provider."""

    name: str
    program: tuple[str, ...]
    dialect: Dialect
    environ: Mapping[str, str]
    settings: Mapping[str, Json] = field(default_factory=dict)
    written: tuple[str, ...] = ()

    async def run(self, work: Assignment, hear: Hear = deaf) -> Work:
        async with gate_of(self.name, self.settings).passing():
            self._require_window()
            return await self._run(work, hear)

    async def _run(self, work: Assignment, hear: Hear) -> Work:
        if not work.message.strip():
            raise Failure("empty_message", "The message of the agent is empty.", "Set what it should do.")
        if (work.model or "").startswith("-"):  # its program would read it as an option that nobody agreed to
            told = f"Unknown model `{work.model}` of the agent `{self.name}`: model names cannot start with `-`."
            raise Failure("bad_argument", told, "Use a model name from the documentation of the agent.")
        dialect = self.dialect
        env = agent_environment(
            self.environ,
            dialect.credentials,
            dialect.handed_on,
            {**dialect.environment(self.environ), **work.environment},
        )
        require_program(self.program[0], env, work.folder)
        if work.access in _READS and work.folder:
            await asyncio.to_thread(self._require_no_engine_data, Path(work.folder))
        began, speech = time.monotonic(), dialect.speech(hear)
        try:
            try:
                return await self._worked(work, env, speech, began)
            except _StepsUsedUp:
                last = await self._run(_closing(work, speech.heard().output or ""), hear)
            return self._together(work, speech.heard(), last, began)
        except Failure as failure:
            failure.booked |= self._lost(work, speech.heard(), failure.code, failure.message, began)
            raise
        except asyncio.CancelledError:
            self._lost(
                work, speech.heard(), "given_up", f"The agent `{self.name}` was stopped before it finished.", began
            )
            raise

    def _require_no_engine_data(self, folder: Path) -> None:
        """Its own tools read every file of its folder: keys with which the owner agrees and commands, too."""
        if (found := next(engine_data_below(folder), None)) is None:
            return
        where = found.relative_to(folder).as_posix()
        told = f"The agent `{self.name}` is not started: the data folder of an engine is in its folder (`{where}`)."
        raise Failure("forbidden", told, "Set `engine.dataDir` to a folder outside of the workspace.")

    async def _worked(self, work: Assignment, env: Mapping[str, str], speech: OutputParser, began: float) -> Work:
        with _files() as by_file:
            said = self.dialect.said(work, by_file)
            argv = (*self.program, *said.words)
            own = {**env, **said.environment}
            invocation = Invocation(argv, work.folder or None, own, said.stdin, work.idle, work.total)
            with using_program(self.written or self.program, work.folder):
                ended = await self._ended(invocation, speech, work.steps)
        heard = speech.heard()
        windows.heard(self.name, heard.windows)
        if heard.used_up and work.steps is not None:
            raise _StepsUsedUp
        output = self._output(ended, heard)
        cost = self._booked(work, heard, output)
        return Work(
            text=output,
            runner=self.name,
            model=heard.model or work.model or "",
            input_tokens=cost.input,
            output_tokens=cost.output,
            usd=cost.usd,
            duration=round(time.monotonic() - began, 3),
            session=work.session,
        )

    def _booked(self, work: Assignment, heard: AgentOutput, said: str, cut: bool = False) -> AttemptCost:
        """The settings' price, else what the agent says, else what its tokens cost by the price table: of an agent that
        does not say its cost, or was `cut` off before it could. Where none of them is there, nobody knows what was paid
        for tokens that nobody counted: then none are made up."""
        price = Price.read(self.settings.get("price"))
        if price is None:
            usd = heard.usd
            if usd == 0 or (usd is None and (cut or not self.dialect.tells_cost)):
                usd = self._by_table(work, heard) or usd  # tokens of a known model are not free
            return AttemptCost(heard.input_tokens, heard.output_tokens, usd)
        usage = Usage(heard.input_tokens, heard.output_tokens, heard.cached)
        return booked(usage, price, (work.message, work.system, work.appended), (said,))

    def _by_table(self, work: Assignment, heard: AgentOutput) -> float | None:
        """What its tokens cost as far as the prices of its model are known."""
        if not self.dialect.prices or not (heard.input_tokens or heard.output_tokens):
            return None
        models = (heard.model or "", work.model or "")  # that it says, and that it was asked for
        known = next(filter(None, (known_price(self.dialect.prices, model) for model in models if model)), None)
        return None if known is None else known.usd(heard.input_tokens, heard.output_tokens, heard.cached)

    def _lost(self, work: Assignment, heard: AgentOutput, code: str, message: str, began: float) -> bool:
        """Work that came to nothing is paid like any other, as far as it is known."""
        cost = self._booked(work, heard, heard.output or "", cut=True)
        if work.bill is None or not (cost.input or cost.output or cost.usd):
            return False
        took = round(time.monotonic() - began, 3)
        model = heard.model or work.model or ""
        work.bill.lost(LostAttempt(self.name, model, code, message, cost.input, cost.output, cost.usd, took))
        return True

    def _together(self, work: Assignment, first: AgentOutput, last: Work, began: float) -> Work:
        """The answer without tools, with what all of the work took."""
        cost = self._booked(work, first, first.output or "", cut=True)
        return replace(
            last,
            input_tokens=cost.input + last.input_tokens,
            output_tokens=cost.output + last.output_tokens,
            usd=None if cost.usd is None and last.usd is None else (cost.usd or 0.0) + (last.usd or 0.0),
            duration=round(time.monotonic() - began, 3),
        )

    def _require_window(self) -> None:
        """Raises `Failure` where so much of a usage window is used that the settings want nothing more started."""
        cap = number(self.settings.get("usagePercent"))
        found = None if cap is None else windows.used_up(self.name, cap)
        if found is None or cap is None:
            return
        name, until = Path(self.program[0]).name, clock_time(found.until)
        told = f"The agent `{name}` has used {found.percent:.0f} % of its usage window, which is reset at {until}"
        told += f" (`usagePercent` is {cap:g})."
        raise Failure(
            EXHAUSTED,
            told,
            "The run then continues automatically; resume it to continue now.",
            EXHAUSTED,
            until=found.until,
        )

    async def _ended(self, invocation: Invocation, speech: OutputParser, steps: int | None) -> Ended:
        try:
            hear = _counting(speech, steps)
            return await run_lines(invocation, hear, speech.aside if isinstance(speech, HearsAside) else None)
        except OverTime as over:
            silent = "it printed nothing for" if over.which == "inactivity" else "it ran for"
            told = f"The agent `{self.program[0]}` timed out ({over.which}): {silent} {over.seconds:g} s."
            raise Failure("agent_timeout", told, "Raise its timeout, or give it less to do.") from None
        except TooMuch:
            told = f"The agent `{self.program[0]}` was stopped: its answer is longer than {LONGEST_ANSWER >> 20} MiB."
            raise Failure("agent_failed", told, "Make it print only its answer.") from None
        except OSError as error:
            told = f"The agent `{self.program[0]}` could not be started: {error.strerror or error}."
            raise Failure("agent_failed", told) from error

    def _output(self, ended: Ended, heard: AgentOutput) -> str:
        errors = _without_noise(ended.errors)
        if heard.exhausted and (heard.error is not None or ended.status != 0):
            raise self._exhausted(heard)
        if heard.error is not None:
            raise self._failed(f"reported an error: {heard.error}", errors)
        if ended.status != 0:
            how = f"was ended by signal {ended.status - 128}" if ended.status > 128 else f"exited with {ended.status}"
            raise self._failed(how, errors or heard.clue)
        if heard.output is None and heard.unfinished:
            raise self._failed("ended without an answer", errors or heard.clue)
        if heard.output is None and (clue := "\n".join(filter(None, (heard.clue, errors[:CLUE])))):
            raise self._failed("returned no answer", clue)
        return heard.output or ""

    def _exhausted(self, heard: AgentOutput) -> Failure:
        name, said = Path(self.program[0]).name, redact(heard.error or "").strip().rstrip(".")[:CLUE]
        until = reset_moment(heard.resets_at)
        known = "" if until is None else f" until {clock_time(until)}"
        hint = "Check the plan and credit of its account; waiting does not help."
        if until is not None:
            hint = "The run then continues automatically; resume it to try earlier, or use another agent."
        told = f"The agent `{name}` has reached its usage limit{known}{f': {said}' if said else ''}."
        return Failure(EXHAUSTED, told, hint, EXHAUSTED, until=until)

    def _failed(self, how: str, details: str) -> Failure:
        told = f"The agent `{Path(self.program[0]).name}` {how}"
        return Failure("agent_failed", redact(f"{told}: {details[-CLUE:].strip()}" if details else f"{told}."))


def _counting(speech: OutputParser, steps: int | None) -> Callable[[str], bool]:
    """Hears the lines of an agent, and raises `_StepsUsedUp` once where it goes on after its last step."""
    if steps is None or not isinstance(speech, CountsSteps):
        return speech.line
    told = False

    def line(text: str) -> bool:
        nonlocal told
        works = speech.line(text)
        if not told and speech.goes_on_after(steps):
            told = True
            raise _StepsUsedUp
        return works

    return line


def _closing(work: Assignment, said: str) -> Assignment:
    """The work of an answer without tools, from what the agent said while it had them."""
    so_far = f"\n\nWhat you said so far:\n\n{said[-LONGEST_SAID:]}" if said.strip() else ""
    told = f"{work.message}\n\n---\nYou have worked on this, and have no steps left.{so_far}{CLOSING}"
    return replace(
        work,
        message=told,
        access="minimal",
        only=None,
        tools=None,
        served=NOTHING_SERVED,
        steps=None,
        session=str(uuid.uuid4()),
    )


def require_program(word: str, env: Mapping[str, str], folder: str) -> None:
    """Raises `Failure` where no such program can be found."""
    there = Path(folder or ".", word) if os.sep in word else None
    found = shutil.which(str(there) if there else word, path=env.get("PATH", os.defpath))
    if found is None:
        told = f"The agent `{word}` could not be started (ENOENT): program not found."
        raise Failure("agent_missing", told, "Install it, or configure another one under `providers` in .loop-ls.yaml.")


def _without_noise(errors: str) -> str:
    lines = (line for line in errors.splitlines() if not any(noise in line for noise in _NO_INPUT))
    return "\n".join(lines).strip()


@contextmanager
def _files() -> Iterator[Callable[[str], str]]:
    """Texts in files that only we can read, gone afterwards however it ends."""
    paths: list[Path] = []

    def by_file(text: str) -> str:
        number, path = tempfile.mkstemp(prefix="loop-ls-", suffix=".txt")
        paths.append(Path(path))
        with os.fdopen(number, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        return path

    try:
        yield by_file
    finally:
        for path in paths:
            path.unlink(missing_ok=True)
