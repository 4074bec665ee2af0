"""The lines of `loop-ls repl`: each is one operation of the engine, with its answer in words.

Knows no terminal: what is read and printed is passed in, so a test can be one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, assert_never

from loop_ls.cli.engine.connect import refusal_lines
from loop_ls.cli.repl import tables
from loop_ls.cli.repl.live import Showing
from loop_ls.client import Control, EngineClient
from loop_ls.contract.endings import FILTERS
from loop_ls.contract.ids import SHORTEST
from loop_ls.contract.questions import DECIDED
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.registry import ROLE_LOOP
from loop_ls.report.terminal_text import shown
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from loop_ls.contract.answers import Done, NewRun, Refusal, Started

HELP = f"""\
/loops                              the newest loops; /loops STATUS: only those
/loops definitions                  what can be started
/loops start NAME [OPTIONS] GOAL    OPTIONS: --mock, --param NAME=VALUE, --max-iterations N
/loops status ID                    state of a loop, stage by stage
/loops history ID                   every iteration with verdict and output
/loops metrics ID                   counts, durations and cost
/loops pause|resume|stop ID|all
/loops approve|reject ID [TEXT]     answer a loop's question
/loops restore ID                   restore protected files that its agent touched
/loops retry ID [TEXT]              let a blocked loop try again, with your answer
/loops inbox                        everything that waits for you
/loops fork ID ITERATION            continue from there in a new run
/loops replay ID                    apply the recorded answers to the current file
/loops delete ID                    delete a finished loop
/help   /quit
An ID may be shortened to {SHORTEST} characters."""

_QUOTES = re.compile(r"\"[^\"]*\"|'[^']*'")
_WORD = re.compile(rf"(?:{_QUOTES.pattern}|[^\s\"'])+(?=\s|$)")

#: verb -> how it is used.
VERBS = {
    "definitions": "/loops definitions",
    "defs": "/loops definitions",
    "start": "/loops start NAME [--mock] [--param NAME=VALUE] [--max-iterations N] GOAL",
    "status": "/loops status ID",
    "history": "/loops history ID",
    "metrics": "/loops metrics ID",
    "pause": "/loops pause ID|all",
    "resume": "/loops resume ID|all",
    "stop": "/loops stop ID|all",
    "approve": "/loops approve ID [TEXT]",
    "reject": "/loops reject ID [TEXT]",
    "restore": "/loops restore ID",
    "retry": "/loops retry ID [TEXT]",
    "inbox": "/loops inbox",
    "fork": "/loops fork ID ITERATION",
    "replay": "/loops replay ID",
    "delete": "/loops delete ID",
}


class Usage(Exception):
    """The line cannot be followed; the message says how it is used."""


class Leave(Exception):
    """The person wants to go."""


@dataclass(frozen=True, slots=True)
class Lines:
    """`ask` puts a question and waits for the answer; `root` is where definitions are looked up."""

    engine: EngineClient
    root: str
    say: Callable[[str], None]
    ask: Callable[[str], str]

    async def line(self, text: str) -> None:
        """Follow one line. Raises `Leave`."""
        words = text.split()
        if not words:
            return
        match words[0]:
            case "/quit" | "/exit" | "/q":
                raise Leave
            case "/help" | "/?":
                self.say(HELP)
            case "/loops":
                try:
                    await self._loops(words[1:], text)
                except Usage as usage:
                    self.say(str(usage))
            case _:
                self.say("Commands start with /loops; try /help.")

    async def _loops(self, words: list[str], text: str) -> None:
        verb, rest = (words[0], words[1:]) if words else ("", [])
        match verb:
            case "" | "list":
                await self._list(rest[0] if rest else None)
            case _ if verb in FILTERS:
                await self._list(verb)
            case "definitions" | "defs":
                await self._definitions()
            case "start":
                await self._start(_behind(text, 2))
            case "status" | "history" | "metrics" | "replay":
                await self._about(verb, _id(verb, rest))
            case "pause" | "resume" | "stop":
                await self._control(verb, _id(verb, rest))
            case "approve" | "reject" | "restore" | "retry":
                await self._answer(verb, _id(verb, rest), _behind(text, 3))
            case "inbox":
                await self._inbox()
            case "fork":
                await self._fork(_id(verb, rest), rest[1:])
            case "delete":
                await self._delete(_id(verb, rest))
            case _:
                near = nearest(verb, [*VERBS, *FILTERS])
                guess = f"; did you mean `/loops {near}`?" if near else "; try /help."
                raise Usage(f"Unknown command `{shown(verb)}`{guess}")

    async def _about(self, verb: Literal["status", "history", "metrics", "replay"], run_id: str) -> None:
        match verb:
            case "status":
                await self._status(run_id)
            case "history":
                await self._history(run_id)
            case "metrics":
                await self._metrics(run_id)
            case "replay":
                self._new(await self.engine.replay(run_id))
            case _:
                assert_never(verb)

    async def _list(self, status: str | None) -> None:
        """Any other word shows all, as documented."""
        answer = await self.engine.runs(status if status in FILTERS else None, limit=50)
        if self._refused(answer):
            return
        counts = await self.engine.engine_status()
        going = counts["engine"]["running"] if counts["ok"] else 0
        self._say_lines(tables.loops(answer["runs"], going))

    async def _definitions(self) -> None:
        answer = await self.engine.definitions()
        if not self._refused(answer):
            self._say_lines(tables.definitions(answer["definitions"]))

    async def _status(self, run_id: str) -> None:
        answer = await self.engine.show(run_id)
        if not self._refused(answer):
            self._say_lines(tables.status(answer))

    async def _history(self, run_id: str) -> None:
        answer = await self.engine.history(run_id)
        if not self._refused(answer):
            self._say_lines(tables.history(answer))

    async def _metrics(self, run_id: str) -> None:
        answer = await self.engine.metrics(run_id)
        if not self._refused(answer):
            self._say_lines(tables.metrics(answer))

    async def _start(self, text: str) -> None:
        """A role loop is shown until it has ended; others go on in the background."""
        request = _start_request(text, self.root)
        async with Showing(self.engine) as showing:
            answer = await self._agreed_start(request)
            if answer is None or self._refused(answer):
                return
            run_id = answer["runId"]
            self.say(f"Started {run_id[:8]}... It keeps running when you quit. /loops status {run_id[:8]}")
            loop = answer.get("loop")
            if loop and loop["state"]["format"] == ROLE_LOOP:
                await showing.to_the_end(run_id, self.say)

    async def _agreed_start(self, request: JsonObject) -> Started | Refusal | None:
        """The answer of the start; None where the person did not agree to what it uses."""
        while True:
            answer = await self.engine.start(request)
            if answer["ok"] or answer["code"] != "consent_required" or "consent" in request:
                return answer
            self._refused(answer)
            for one in answer.get("capabilities", ()):
                self.say(f"  it {shown(str(one))}")
            if not self._yes("Continue?"):
                return None
            request = {**request, "consent": self.engine.agree(answer)}

    async def _control(self, verb: Control, run_id: str) -> None:
        """`all`, and every stop, wait for a yes."""
        if run_id.lower() == "all":
            run_id = "all"
        if run_id == "all" and not self._yes(f"{verb.capitalize()} all loops?"):
            return
        if verb == "stop" and run_id != "all" and not await self._wanted("Stop", run_id):
            return
        answer = await self.engine.control(verb, run_id)
        if self._refused(answer):
            return
        self._say_lines([f"{row['runId'][:8]}... {row['status']}" for row in answer["runs"]])
        if not answer["runs"]:
            self.say(f"Nothing to {verb}.")

    async def _answer(self, verb: str, run_id: str, feedback: str) -> None:
        answer = await self.engine.approve(run_id, None, verb == "approve", verb, feedback or None)
        if not self._refused(answer):
            self.say(f"{DECIDED[verb].capitalize()}.")

    async def _inbox(self) -> None:
        answer = await self.engine.inbox()
        if self._refused(answer):
            return
        for one in answer["waiting"]:
            words = ", ".join(each["answer"] for each in one["answers"])
            self._say_lines([f"{one['runId'][:8]}... {one['text']} ({words})"])
        if not answer["waiting"]:
            self.say("Nothing waits for you.")

    async def _fork(self, run_id: str, rest: list[str]) -> None:
        if len(rest) != 1 or not rest[0].isdecimal():
            raise Usage(f"Usage: {VERBS['fork']}")
        self._new(await self.engine.fork(run_id, int(rest[0])))

    async def _delete(self, run_id: str) -> None:
        if await self._wanted("Delete", run_id):
            answer = await self.engine.delete(run_id)
            if not self._refused(answer):
                self.say("Deleted.")

    def _new(self, answer: NewRun | Refusal) -> None:
        if not self._refused(answer):
            self.say(f"Started {answer['runId'][:8]}...")

    def _refused(self, answer: Done | Refusal) -> TypeIs[Refusal]:
        if answer["ok"]:
            return False
        self._say_lines(refusal_lines(answer))
        return True

    def _say_lines(self, lines: list[str]) -> None:
        for line in lines:
            self.say(line)

    async def _wanted(self, verb: str, run_id: str) -> bool:
        """Whether a person wants that of a run which is there."""
        there = run_id == "all" or not self._refused(await self.engine.show(run_id))
        return there and self._yes(f"{verb} {shown(run_id)}?")

    def _yes(self, question: str) -> bool:
        return self.ask(f"{question} [y/N] ").strip().lower() in ("y", "yes")


def _id(verb: str, words: list[str]) -> str:
    """Tables show `7f3a19c2...`; what is copied from there is an id."""
    if not words or not words[0].rstrip("."):
        raise Usage(f"Usage: {VERBS[verb]}")
    return words[0].rstrip(".")


def _behind(text: str, words: int) -> str:
    """The rest of a line behind so many words, as it was typed."""
    parts = text.split(maxsplit=words)
    return parts[words].strip() if len(parts) > words else ""


def _start_request(text: str, root: str) -> JsonObject:
    """Raises `Usage`."""
    request: JsonObject = {"root": root, "origin": "cli", "detach": True}
    name, _, rest = text.partition(" ")
    rest = rest.strip()
    parameters: dict[str, str] = {}
    while rest.startswith("--"):
        option, _, rest = rest.partition(" ")
        if option == "--mock":
            request["mock"] = True
            continue
        if not rest.strip():
            raise Usage(f"Usage: {VERBS['start']}")
        value, rest = _word(rest.strip())
        match option:
            case "--param" if "=" in value:
                key, _, given = value.partition("=")
                parameters[key] = given
            case "--max-iterations" if value.isdecimal():
                request["maxIterations"] = int(value)
            case _:
                raise Usage(f"Usage: {VERBS['start']}")
    goal = _unquoted(rest.strip())
    if not name:
        raise Usage(f"Usage: {VERBS['start']}")
    request |= {"definition": name, **({"goal": goal, "input": goal, "message": goal} if goal else {})}
    return {**request, "parameters": parameters} if parameters else request


def _word(text: str) -> tuple[str, str]:
    """The first word, of which parts may be quoted, and the rest."""
    found = _WORD.match(text)
    if found is None:
        raise Usage("Missing quotation mark.")
    return _QUOTES.sub(lambda part: part[0][1:-1], found[0]), text[found.end() :].strip()


def _unquoted(text: str) -> str:
    """Without one pair of quotation marks around all of it."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text
