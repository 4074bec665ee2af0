"""Capabilities: the closed set of kinds of effects that a run can have, and the set of one run.

Everything is kept as it is written: a `${NAME}` is never filled here, so that what is shown, remembered and
compared holds no secret. A set answers two questions, what a person has to agree to and whether an effect is
in it, so the two cannot disagree.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from pathlib import Path, PurePath
from typing import assert_never

from loop_ls.contract.amounts import money
from loop_ls.engine.core.addresses import host_of
from loop_ls.formats.role_file.file_format import CLAUDE_FOLDER
from loop_ls.text.json_value import Json, JsonObject
from loop_ls.text.record import equal_record


@equal_record
class Program:
    """A program with the words that it is started with: a test command, an agent, an MCP server (with the `env`
    that is written for it). `variables`: whose values are among the texts that it gets. `of_project`: it is an
    agent that works with all its tools and does what the project's settings for it say, which are none of ours: who
    agreed to one that only reads has not agreed to it. `fenced` False: it is an agent whose tools nobody here can
    take away, and who agreed to one that is fenced has not agreed to it either. `place`: where it starts, links
    followed, unless that is the workspace. `price`: what its work is counted at, see `Endpoint`. `only_reads`: it is
    an agent that starts with options of ours, which leave it nothing but to read; its words alone are another one."""

    words: tuple[str, ...]
    folder: str = ""
    variables: tuple[str, ...] = ()
    of_project: bool = False
    fenced: bool = True
    place: str = ""
    price: tuple[float, float] | None = None
    only_reads: bool = False


@equal_record
class AnyCommand:
    """A role with full access: any command in `folder`, any file below it, any public page of the web. `file` is where
    the role is written down. `tools`: it has no others, in the words of Claude Code; whether that holds depends on
    `player`, the agent program that plays it (empty: a model, which gets its tools from us)."""

    role: str
    folder: str = ""
    file: str = ""
    tools: tuple[str, ...] | None = None
    player: str = ""


@equal_record
class ReadingCommands:
    """Roles that read `folder` by commands which change nothing."""

    folder: str = ""


@equal_record
class ToolUse:
    """One tool, used with these arguments (JSON) and no others: the judge of a `tool_bound` loop."""

    tool: str
    arguments: str
    folder: str = ""
    harmless: bool = False


@equal_record
class Endpoint:
    """A place that texts go to, with one variable whose value goes there too. `written` is the address as the
    project writes it, empty where it writes none; `url` is what is shown of it. `near`: a model of this machine
    that nobody pointed elsewhere. `price`: dollars for a million tokens of input and of output, where the project
    writes them: a cap in dollars holds only as far as they are true. `reads`: what is read there and handed on to
    models, the table of a database."""

    provider: str
    url: str
    variable: str = ""
    written: str = ""
    near: bool = False
    price: tuple[float, float] | None = None
    reads: str = ""

    @property
    def host(self) -> str:
        return host_of(self.url)


@equal_record
class Variable:
    """A variable of the process environment whose value the files of the run put into texts. Where these go is
    told by endpoints and programs."""

    name: str


@equal_record
class WritesFile:
    """A file, or the files below a folder, that the run writes because that is what was asked of it. `of_stranger`:
    it was asked elsewhere, by whoever recorded the run."""

    path: str
    of_stranger: bool = False


@equal_record
class EmbeddedModel:
    """A model in a process of its own: the one that comes with the product, or the one in the file `weights` that the
    project chose. Native code reads that, so it is as good as a program."""

    weights: str = ""


@equal_record
class Beside:
    """It may write in the folder in which another run, which goes on, may write too."""

    name: str
    run_id: str


@equal_record
class OwnWorktree:
    """It works in a Git worktree of its own instead of in `folder`: Git is started for that."""

    folder: str = ""


@equal_record
class FileFilter:
    """Git starts it for files of the worktree, because the own settings of the repository around `folder` say so."""

    command: str
    folder: str = ""


Capability = (
    Program
    | AnyCommand
    | ReadingCommands
    | ToolUse
    | Endpoint
    | Variable
    | WritesFile
    | EmbeddedModel
    | Beside
    | OwnWorktree
    | FileFilter
)


def asks(one: Capability) -> bool:
    """Whether a person has to agree to it."""
    match one:
        case Program() | AnyCommand() | Beside() | OwnWorktree() | FileFilter():
            return True
        case ToolUse(harmless=harmless):
            return not harmless
        case Endpoint(url=url, near=near):
            return bool(url) and not near
        case WritesFile(of_stranger=of_stranger):
            return of_stranger
        case EmbeddedModel(weights=weights):
            return bool(weights)
        case ReadingCommands() | Variable():
            return False
        case never:
            assert_never(never)


def identity(one: Capability) -> str:
    """The hash by which it is remembered. What is shown of an address stands for itself."""
    match one:
        case Program(words=words, folder=folder, variables=variables) as one:
            more: JsonObject = {"works": one.of_project, "place": one.place, "price": one.price and list(one.price)}
            more |= {"not fenced": not one.fenced, "only reads": one.only_reads}
            noted: JsonObject = {name: value for name, value in more.items() if value}
            told: list[Json] = ["program", *words, folder, *variables, *([noted] if noted else [])]
        case AnyCommand(role=role, folder=folder):
            named: JsonObject = {"file": one.file, "player": one.player} if one.file or one.tools is not None else {}
            more = {**named, **({"tools": list(one.tools)} if one.tools is not None else {})}
            told = ["any command", role, folder, *([more] if more else [])]
        case ReadingCommands(folder=folder):
            told = ["reading commands", folder]
        case ToolUse(tool=tool, arguments=arguments, folder=folder):
            told = ["tool", tool, arguments, folder]
        case Endpoint(provider=provider, url=url, variable=variable, price=price, reads=reads):
            told = ["endpoint", provider, url, variable, *([list(price)] if price else [])]
            told += [{"reads": reads}] if reads else []
        case Variable(name=name):
            told = ["variable", name]
        case WritesFile(path=path, of_stranger=of_stranger):
            told = ["file", path, *(["of a stranger"] if of_stranger else [])]
        case EmbeddedModel(weights=weights):
            told = ["embedded model", *([weights] if weights else [])]
        case Beside(run_id=run_id):
            told = ["beside", run_id]
        case OwnWorktree(folder=folder):
            told = ["own worktree", folder]
        case FileFilter(command=command, folder=folder):
            told = ["file filter", command, folder]
        case never:
            assert_never(never)
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


#: What an agent does whose tools are not taken away: nothing of it asks once more.
_WORKS = (
    ", which may run any command and change any file, with the project's settings for it, including hooks and servers;"
    " it can change protected files, but you are asked before such a turn counts"
)
#: What holds an agent that only reads, by its program: options of ours that it keeps to itself, and a sandbox.
_HELD = {
    "claude": ", read-only: it is started with its read tools only, and enforces that itself",
    "codex": ", read-only: without its own shell, in its own read-only sandbox",
    "opencode": ", read-only: its own rules deny everything else, and it enforces them itself",
}


def sentence(one: Capability) -> str:
    """What it does, as a person has to judge it: one line, with nothing hidden in it."""
    match one:
        case Program(words=words, variables=variables, of_project=of_project, fenced=fenced) as one:
            place, price, only_reads = one.place, one.price, one.only_reads
            more = f" in {place}" if place else ""
            more += _WORKS if of_project else _HELD.get(PurePath(words[0]).name, "") if only_reads else ""
            more += "" if fenced else ", not sandboxed: it uses all of its own tools"
            return literal(f"starts `{_joined(words)}`{more}{_with(variables)}{counted_at(price)}")
        case AnyCommand() as one:
            return literal(f"lets the role {one.role}{_written_in(one.file)} {_work(one)}")
        case ReadingCommands(folder=folder):
            return literal(f"reads files in {folder} with read-only commands")
        case ToolUse(tool=tool, arguments=arguments):
            return literal(f"uses the tool `{tool}` with {arguments}")
        case Endpoint(variable=variable) as endpoint:
            return literal(
                f"sends data to {endpoint.host or endpoint.provider}{_with([variable] if variable else ())}"
                f"{counted_at(endpoint.price)}{reading(endpoint.reads)}"
            )
        case Variable(name=name):
            return literal(f"puts the value of {name} into texts")
        case WritesFile(path=path):
            return literal(f"writes {path}")
        case EmbeddedModel(weights=weights):
            return literal(f"loads the model in {weights}") if weights else "uses the embedded model"
        case Beside(name=name, run_id=run_id):
            told = "which may write in the same folder: one can undo the other's work"
            return literal(f"runs at the same time as `{name}` (run {run_id}), {told}")
        case OwnWorktree(folder=folder):
            told = "not in your files: starts `git`, which creates a branch and commits each iteration to it"
            return literal(f"works in a Git worktree of its own for {folder}, {told}")
        case FileFilter(command=command, folder=folder):
            return literal(f"starts `{command}` for files of its worktree, as set in the Git settings of {folder}")
        case never:
            assert_never(never)


#: A player whose tools nobody here can take away.
OTHER = "other"
#: Whether a role is held to the tools that it names, by who plays it.
_NAMED = {
    "": "it gets no others",
    "claude": "of its own tools Claude Code is started with these alone, and keeps to that itself",
    "opencode": "opencode has rules that deny it the others, and keeps to them itself",
    "codex": "Codex has a shell only if Bash is named, and nothing keeps it from its other tools",
}


def _written_in(file: str) -> str:
    """Where a role has a file of its own, and who else reads that."""
    if not file:
        return ""
    return f" ({file}{', a file that Claude Code reads, too' if file.startswith(CLAUDE_FOLDER) else ''})"


def _work(one: AnyCommand) -> str:
    if one.tools is None:
        return f"run any command, write any file in {one.folder} and read any web page"
    held = _NAMED.get(one.player, "it is a program that nothing keeps from its other tools")
    may = "run any command" if "Bash" in one.tools else "work"
    return f"{may} in {one.folder} with the tools {', '.join(one.tools)}: {held}"


@equal_record
class Capabilities:
    """All that one run may do."""

    all: frozenset[Capability] = field(default_factory=frozenset)

    @staticmethod
    def of(found: Iterable[Capability]) -> Capabilities:
        return Capabilities(frozenset(found))

    def of_stranger(self) -> Capabilities:
        """The same, asked for by somebody elsewhere: the owner is asked about files that it writes, too."""
        return self.of(replace(one, of_stranger=True) if isinstance(one, WritesFile) else one for one in self.all)

    @property
    def shown(self) -> tuple[Capability, ...]:
        """In the order in which a person reads them."""
        return tuple(sorted(self.all, key=lambda one: (_ORDER.index(type(one)), sentence(one), identity(one))))

    @property
    def asked(self) -> tuple[Capability, ...]:
        return tuple(one for one in self.shown if asks(one))

    @property
    def digest(self) -> str:
        """Of exactly this set."""
        return hashlib.sha256("".join(sorted(map(identity, self.all))).encode()).hexdigest()[:32]

    def program(self, words: Sequence[str], folder: str) -> Program | None:
        """The program that is written so and starts there; None: it may not be started."""
        found = (one for one in self.all if isinstance(one, Program))
        return next((one for one in found if (one.words, one.folder) == (tuple(words), folder)), None)

    def endpoint(self, provider: str, written: str) -> Endpoint | None:
        """The place that texts for `provider` may go to; None: they may not."""
        found = (one for one in self.all if isinstance(one, Endpoint))
        return next((one for one in found if (one.provider, one.written) == (provider, written)), None)

    def writes(self, path: Path) -> bool:
        folders = (Path(one.path) for one in self.all if isinstance(one, WritesFile))
        return any(path.is_relative_to(folder) for folder in folders)

    @property
    def reads_pages(self) -> bool:
        """Whether any page of the web may be read, also by whoever uses no capability for it."""
        return False

    @property
    def works(self) -> bool:
        """Whether somebody may change any file of the workspace: an agent that nobody holds, a role that may."""
        return any(
            isinstance(one, AnyCommand) or (isinstance(one, Program) and (one.of_project or not one.fenced))
            for one in self.all
        )

    @property
    def isolated(self) -> bool:
        """Whether it works in a worktree of its own."""
        return any(isinstance(one, OwnWorktree) for one in self.all)

    @property
    def in_place(self) -> Capabilities:
        """The same, done in the workspace itself."""
        return self.of(one for one in self.all if not isinstance(one, OwnWorktree))

    def has(self, one: Capability) -> bool:
        return one in self.all


NOTHING = Capabilities()
_ORDER: tuple[type, ...] = (
    *(Beside, OwnWorktree, FileFilter, Program, AnyCommand, ToolUse, Endpoint, Variable),
    *(WritesFile, ReadingCommands, EmbeddedModel),
)


def place_of(folder: str, root: str) -> str:
    """Where a program that starts in `folder` really starts; empty where that is the workspace itself."""
    place = os.path.realpath(folder)
    return "" if place == os.path.realpath(root) else place


#: Signs that count as printable and of which a screen shows nothing: fillers, an empty pattern of dots, selectors of a
#: form, joiners.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)


def literal(text: str) -> str:
    """Line breaks and signs that a screen does not show stand as escapes: nothing can look like another line, and no
    gap like the end of one."""
    shown = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)
    return _UNSEEN.sub(lambda sign: ascii(sign[0])[1:-1], shown)


def _joined(words: Sequence[str]) -> str:
    """Quoted only where a reader could mistake where one word ends."""
    return " ".join(word if word and not any(map(str.isspace, word)) else shlex.quote(word) for word in words)


def counted_at(price: tuple[float, float] | None) -> str:
    """The price of the settings, as the end of a sentence; empty where they write none."""
    if price is None:
        return ""
    sent, got = (money(each) for each in price)
    return f", at {sent} in and {got} out per million tokens (from the settings)"


def reading(table: str) -> str:
    """What is read at a place, as the end of a sentence; empty where that is nothing but answers."""
    return f", and lets models read its table {table}" if table else ""


def _with(variables: Iterable[str]) -> str:
    listed = ", ".join(variables)
    return f", with the value of {listed}" if listed else ""
