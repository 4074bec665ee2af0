"""What a command line would mean to a shell, which does not run it.

A command is split at blanks, and its words are handed over as they are.
"""

from __future__ import annotations

import re

from loop_ls.text.pattern import pattern

_SINGLE = pattern(r"'[^']*'")
_DOUBLE = pattern(r'"[^"]*"')
_VARIABLE = pattern(r"\$(?:[A-Za-z_{(0-9]|[?@#*!$](?:\s|$))")
_SETTING = pattern(r"\s*[A-Za-z_]\w*=")
_RANGE = pattern(r"\[(?:[!^][^\]]+|[^\]]*\w-\w[^\]]*)\]")
_SIGNS = (
    ("&&", "`&&`"),
    ("||", "`||`"),
    ("|", "a pipe (`|`)"),
    (";", "`;`"),
    (">", "redirection (`>`)"),
    ("<", "redirection (`<`)"),
    ("`", "a backtick"),
)


def words(command: str) -> list[str]:
    return command.split()


def shell_syntax(command: str) -> str | None:
    """The first thing that only a shell would understand, in words; what stands in quotes is left alone."""
    bare = _DOUBLE.sub('""', _SINGLE.sub("''", command))
    inside = "".join(_DOUBLE.findall(_SINGLE.sub("''", command)))
    setting = _SETTING.match(bare)
    if setting:
        return f"a variable before the program (`{setting[0].strip()}...`)"
    for sign, said in _SIGNS:
        if sign in bare:
            return said
    if _VARIABLE.search(bare) or _VARIABLE.search(inside):
        return "a variable (`$...`)"
    if "`" in inside:
        return "a backtick"
    for word in words(bare):
        if word == "&":
            return "`&`"
        if word.startswith("~") and (word == "~" or "/" in word):
            return "`~`"
        if "*" in word or ("?" in word and "://" not in word) or _RANGE.search(word):
            return f"a pattern for file names (`{word}`)"
    return None


def has_quotes(command: str) -> bool:
    return "'" in command or '"' in command


def program(command: str) -> str | None:
    """The program that would be started; None where the first word is not meant as one."""
    first = next(iter(words(command)), "")
    return first if first and not re.search(r"""['"`$*?=<>|;&~]""", first) else None
