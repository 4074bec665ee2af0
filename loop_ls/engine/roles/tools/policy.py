"""What the restricted shell runs: a few programs that read, started without any shell (role-loop spec 13).

Everything that could write, run another program or leave the workspace is refused before anything starts.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from loop_ls.engine.roles.tools.tool import Refusal
from loop_ls.engine.roles.tools.workspace import Workspace

COMMANDS = ("grep", "find", "cat", "head", "tail", "wc", "ls", "uniq", "diff")
#: What a shell would act upon.
_OPERATORS = re.compile(r"[|<>;&]+|\d*[<>]+&?\d*")
_SUBSTITUTION = re.compile(r"\$\(|\$\{|`|<\(|>\(")

_FIND_REFUSED = frozenset(
    {
        *("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"),
        *("-files0-from", "-follow", "-L", "-H"),
    }
)
#: Program -> single letters and long words of options that write, run a program, or follow links outwards.
_REFUSED: dict[str, tuple[str, tuple[str, ...]]] = {
    "grep": ("R", ("--dereference-recursive",)),
    "diff": ("l", ("--paginate",)),
    "ls": ("", ()),
    "wc": ("", ("--files0-from",)),
}
#: What stands before a path that leads out, in a word of short options.
_ROOTED = re.compile(r"^-[^/.]*(?=/|\.\.)")
#: Options with a value of its own behind them: that value is no path of this program.
_PATTERN_GIVEN = re.compile(r"-[A-Za-z]*[ef]|--regexp|--file")


def words_of(command: str) -> list[str]:
    """A command line as words; there is no shell that would read it otherwise. Raises `Refusal`."""
    if found := _SUBSTITUTION.search(command):
        raise Refusal(f"There is no shell: `{found[0]}` means nothing here.")
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise Refusal(f"The command cannot be read: {error}.") from None
    for word in words:
        if _OPERATORS.fullmatch(word):
            raise Refusal(f"There is no shell: `{word}` means nothing here. Run one command at a time.")
    return words


def allowed(words: Sequence[str], workspace: Workspace) -> list[str]:
    """The words as they may be started. Raises `Refusal`."""
    if not words:
        raise Refusal(f"The command is empty; there are {', '.join(COMMANDS)}.")
    program, *rest = words
    if program not in COMMANDS:
        raise Refusal(f"`{program[:60]}` is not among the commands of this role: {', '.join(COMMANDS)}.")
    match program:
        case "find":
            _check_find(rest)
        case "uniq" if len([word for word in rest if not word.startswith("-")]) > 1:
            raise Refusal("`uniq` takes no output file here.")
        case _:
            _check_options(program, rest)
    for path in _paths(program, rest):
        workspace.inside(path)
    # `diff -r` would follow links out of the workspace.
    return [program, *(["--no-dereference"] if program == "diff" else []), *rest]


def _check_find(rest: Sequence[str]) -> None:
    for word in rest:
        if word in _FIND_REFUSED:
            raise Refusal(f"`find {word}` is refused: this role only reads.")


def _check_options(program: str, rest: Sequence[str]) -> None:
    letters, long = _REFUSED.get(program, ("", ()))
    for word in rest:
        if word == "--":
            return
        name = word.partition("=")[0]
        if word.startswith("--"):
            bad = len(name) > 2 and any(each.startswith(name) for each in long)
        else:
            bad = word.startswith("-") and any(letter in word[1:] for letter in letters)
        if bad:
            raise Refusal(f"`{program} {name}` is refused: this role only reads, inside of the workspace.")


def _paths(program: str, rest: Sequence[str]) -> Iterator[str]:
    """Every word that the program could open. One too many does no harm: it lies inside or is refused."""
    if program == "find":
        yield from _find_paths(rest)
        return
    pattern = program == "grep" and not any(_PATTERN_GIVEN.match(word) for word in rest)
    literal = False
    for word in rest:
        if word == "--" and not literal:
            literal = True
        elif word.startswith("-") and not literal:
            # `-rf/etc/x` holds a path as well; in a cluster of letters only its slash shows where.
            value = word.partition("=")[2] if word.startswith("--") else _ROOTED.sub("", word)
            if value != word and value:
                yield value
        elif pattern:
            pattern = False
        else:
            yield word


def _find_paths(rest: Sequence[str]) -> Iterator[str]:
    begun = False
    for before, word in zip(("", *rest), rest, strict=False):
        begun = begun or word.startswith(("-", "(", "!"))
        if not begun or before in ("-newer", "-anewer", "-cnewer", "-samefile") or before.startswith("-newer"):
            yield word
