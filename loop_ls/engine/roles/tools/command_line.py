"""Command line of the read-only shell: what a model wrote is read by the table and written anew by us.

Nothing of it is passed on as it came. The program gets options that the table knows, each value where the
program must take it for a value, then `--`, then paths that lie inside of the workspace. So it does not matter
whether we read a line exactly as the program would have: it reads ours.
"""

from __future__ import annotations

import re
import shlex
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import assert_never

from loop_ls.engine.context.workspace_files import engine_data_below
from loop_ls.engine.roles.tools.command_table import PROGRAMS, Kind, Program
from loop_ls.engine.roles.tools.tool import Refusal
from loop_ls.engine.roles.tools.workspace import Workspace
from loop_ls.formats.common.did_you_mean import nearest

#: What a shell would act upon, where no quotes stand around it; a substitution acts in double ones as well.
_OPERATOR = re.compile(r"\d*[<>]+&?\d*|[|;&]+")
_SUBSTITUTION = re.compile(r"\$\(|\$\{|`|<\(|>\(")
_SINGLE_QUOTED = re.compile(r"'[^']*'|\\.", re.DOTALL)
_QUOTED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.""", re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d{1,15}[A-Za-z]{0,3}")
_DIGITS = re.compile(r"-(\d{1,15})")
#: Directives of `-printf` that say something about a file itself, never about what a link points to.
_FORMAT = re.compile(
    r"""(?: [^%\\]
        | \\ (?: [abfnrtv0\\] | [0-7]{3} )
        | % (?: % | [-+ #]* \d* (?: \.\d+ )? (?: [bdDfGhHikmMnpPsStUyl] | [ACT][@+A-Za-z] ) )
        )*""",
    re.VERBOSE,
)

#: The options with which a program reads files of folders, and those with which it leaves folders out.
_INTO_FOLDERS = {"grep": frozenset({"-r", "--recursive"}), "diff": frozenset({"-r", "--recursive"})}
_LEAVING_OUT = {"grep": frozenset({"--exclude-dir"}), "diff": frozenset({"-x", "--exclude"})}


def words_of(command: str) -> list[str]:
    """A command line as words; there is no shell that would read it otherwise. Raises `Refusal`."""
    for pattern, quoted in ((_SUBSTITUTION, _SINGLE_QUOTED), (_OPERATOR, _QUOTED)):
        if found := pattern.search(quoted.sub("", command)):
            raise Refusal(f"There is no shell: `{found[0]}` is not supported. Run one command at a time.")
    if "\x00" in command:
        raise Refusal("A command cannot contain NUL.")
    try:
        return shlex.split(command)
    except ValueError as error:
        raise Refusal(f"The command cannot be read: {error}.") from None


def argv_of(words: Sequence[str], workspace: Workspace) -> list[str]:
    """The words to start instead: the program's name and our own writing of the rest. Raises `Refusal`."""
    if not words:
        raise Refusal(f"The command is empty; available commands: {', '.join(PROGRAMS)}.")
    name, *rest = words
    program = PROGRAMS.get(name)
    if program is None:
        raise Refusal(f"`{name[:60]}` is not among the commands of this role: {', '.join(PROGRAMS)}.")
    writing = _Writing(name, program, workspace)
    return [name, *(writing.of_find(rest) if name == "find" else writing.of_options(rest))]


class _Writing:
    """Options and paths of one command line as they are collected."""

    def __init__(self, name: str, program: Program, workspace: Workspace) -> None:
        self._name, self._program, self._workspace = name, program, workspace
        self._options: list[str] = []
        self._used: set[str] = set()
        self._left_out: set[str] = set()

    def of_options(self, rest: Iterable[str]) -> list[str]:
        """As `getopt` reads: options anywhere, clusters of letters, everything after `--` is a path."""
        given, operands = deque(rest), list[str]()
        while given:
            word = given.popleft()
            if word == "--":
                operands += given
                break
            if not word.startswith("-") or word == "-":
                operands.append(word)
            elif word.startswith("--"):
                self._long(word, given)
            elif self._program.shorthand and (digits := _DIGITS.fullmatch(word)):
                self._add(self._program.shorthand, digits[1])
            else:
                self._cluster(word, given)
        if self._program.first and not self._used & self._program.instead:
            if not operands:
                raise Refusal(f"`{self._name}` needs a pattern and a path.")
            self._add(self._program.first, operands.pop(0))
        paths = self._counted(operands)
        if self._name == "diff" and any(path.is_dir() for path in paths):
            self._options.append("--no-dereference")  # what links in these folders point to may lie outside
        if self._used & _INTO_FOLDERS.get(self._name, frozenset()):
            self._around_engine_data(paths)
        return [*self._options, "--", *operands]

    def _around_engine_data(self, paths: Sequence[Path]) -> None:
        """Raises `Refusal` where the program would read what an engine keeps: its keys and its journal."""
        for path in paths or [self._workspace.root]:
            for folder in engine_data_below(path):
                if folder.name not in self._left_out:
                    told = f"It contains the data folder of the engine (`{self._workspace.named(folder)}`)"
                    option = "-x" if self._name == "diff" else "--exclude-dir"
                    raise Refusal(f"{told}: name another folder, or leave it out with `{option} {folder.name}`.")

    def of_find(self, rest: Iterable[str]) -> list[str]:
        """Paths first, then an expression; there is no `--` that would end it."""
        given, paths = deque(rest), list[str]()
        while given and not given[0].startswith(("-", "(", ")", "!", ",")):
            paths.append(given.popleft())
        for path in paths:
            self._inside(path)
        while given:
            word = given.popleft()
            kind = self._kind(word)
            if kind == "flag":
                self._options.append(word)
            else:
                self._options += [word, self._checked(word, kind, self._next(word, given))]
        return [*(paths or ["."]), *self._options]

    def _long(self, word: str, given: deque[str]) -> None:
        option, written, value = word.partition("=")
        kind = self._kind(option)
        if kind == "flag" and written:
            raise Refusal(f"`{self._name} {option}` does not take a value.")
        if kind == "flag":
            self._add(option)
        else:
            self._add(option, self._checked(option, kind, value if written else self._next(option, given)))

    def _cluster(self, word: str, given: deque[str]) -> None:
        """`-rn`, `-e PATTERN`, `-ePATTERN`, `-rePATTERN`."""
        for place, letter in enumerate(word[1:], 2):
            option = f"-{letter}"
            kind = self._kind(option)
            if kind == "flag":
                self._add(option)
                continue
            value = word[place:] or self._next(option, given)
            self._add(option, self._checked(option, kind, value))
            return

    def _add(self, option: str, value: str | None = None) -> None:
        self._used.add(option)
        if value is not None and option in _LEAVING_OUT.get(self._name, frozenset()):
            self._left_out.add(value)
        match option, value:
            case _, None:
                self._options.append(option)
            case str(), str() if option.startswith("--"):
                self._options.append(f"{option}={value}")
            case _:
                self._options += [option, str(value)]

    def _kind(self, option: str) -> Kind:
        kind = self._program.options.get(option)
        if kind is not None:
            return kind
        known = [each for each in self._program.options if len(each) > 2]
        near = nearest(option, known) if len(option) > 2 else None
        guess = f"; did you mean `{near}`?" if near else ": this role can only read, inside the workspace."
        raise Refusal(f"`{self._name} {option[:60]}` is not allowed here{guess}")

    def _next(self, option: str, given: deque[str]) -> str:
        if not given:
            raise Refusal(f"`{self._name} {option}` needs a value.")
        return given.popleft()

    def _checked(self, option: str, kind: Kind, value: str) -> str:
        match kind:
            case "path":
                self._inside(value)
            case "number" if not _NUMBER.fullmatch(value):
                raise Refusal(f"`{self._name} {option}` needs a number, not `{value[:60]}`.")
            case "format" if not _FORMAT.fullmatch(value):
                raise Refusal(
                    f"`{self._name} {option}` supports only directives about the file itself, such as `%p %s\\n`."
                )
            case "flag" | "text" | "number" | "format":
                pass
            case never:
                assert_never(never)
        return value

    def _counted(self, operands: Sequence[str]) -> list[Path]:
        """Where the operands lie, as many as the program needs."""
        least, most = self._program.least, self._program.most
        if self._used & self._program.recursive:
            least = 0
        if len(operands) < least:
            told = "two paths" if least == 2 else "a path"
            raise Refusal(f"`{self._name}` needs {told}: there is no standard input here.")
        if most is not None and len(operands) > most:
            raise Refusal(f"`{self._name}` takes {most} paths, not {len(operands)}.")
        return [self._inside(path) for path in operands]

    def _inside(self, path: str) -> Path:
        if path == "-":
            raise Refusal("There is no standard input here: `-` is not a path.")
        return self._workspace.inside(path)
