"""A command line that says what is wrong with itself in one sentence, and what would be right.

argparse knows what is wrong; its words and its page of usage before them are replaced here.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

USAGE_ERROR = 2

_REQUIRED = re.compile(r"the following arguments are required: (.+)")
_ONE_OF = re.compile(r"one of the arguments (.+) is required")
_UNKNOWN = re.compile(r"unrecognized arguments: (.+)", re.DOTALL)
_TOGETHER = re.compile(r"argument (\S+): not allowed with argument (\S+)")
_VALUE = re.compile(r"argument (\S+): expected (?:one|at least one|\d+) arguments?")
_IGNORED = re.compile(r"argument (\S+): ignored explicit argument (.+)")
_ARGUMENT = re.compile(r"argument (\S+): (.+)", re.DOTALL)


class Parser(argparse.ArgumentParser):
    """Subcommands are made of the same class, so they speak the same way."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for action in self._actions:
            if isinstance(action, argparse._HelpAction):
                action.help = "Show this help and exit"

    def error(self, message: str) -> NoReturn:
        from loop_ls.report.terminal_text import shown

        print(f"{self.prog}: {shown(self._sentence(message))}", file=sys.stderr)
        print(f"  See `{self.prog} --help`.", file=sys.stderr)
        sys.exit(USAGE_ERROR)

    def parse_args(self, args: Any = None, namespace: object = None) -> Any:
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            self._spoken_to(args or ()).error(f"unrecognized arguments: {rest[0]}")
        return found

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        noun = (action.metavar if isinstance(action.metavar, str) else action.dest).lower()
        noun = {"verb": "command"}.get(noun, noun)
        told = f"Unknown {noun} `{value}`"
        if "_" in noun:  # no word of a sentence
            told = f"Unknown value `{value}` for `{action.option_strings[-1]}`"
        raise argparse.ArgumentError(None, f"{told}{_meant(str(value), known)}")

    def _sentence(self, message: str) -> str:
        """argparse's message in our words; what it has no pattern for is a sentence of ours already."""
        if found := _REQUIRED.fullmatch(message):
            names = found[1].split(", ")
            return f"Missing {', '.join(f'`{name}`' for name in names)}{self._choices(names[0])}."
        if found := _ONE_OF.fullmatch(message):
            return f"One of `{found[1].replace(' ', '`, `')}` is required."
        if found := _UNKNOWN.fullmatch(message):
            return self._unknown(found[1])
        if found := _TOGETHER.fullmatch(message):
            return f"`{found[1]}` cannot be used with `{found[2]}`."
        if found := _VALUE.fullmatch(message):
            return f"`{found[1]}` needs a value."
        if found := _IGNORED.fullmatch(message):
            return f"`{found[1]}` does not take a value."
        if found := _ARGUMENT.fullmatch(message):
            return f"`{found[1]}`: {_ended(found[2])}"
        return _ended(message)

    def _choices(self, name: str) -> str:
        action = next((each for each in self._actions if each.metavar == name), None)
        return f"; expected {', '.join(map(str, action.choices))}" if action and action.choices else ""

    def _unknown(self, word: str) -> str:
        if not word.startswith("-"):
            return f"Unexpected argument `{word}`."
        option = word.partition("=")[0]
        known = [name for action in self._actions for name in action.option_strings if name.startswith("--")]
        near = _nearest(option, known)
        return f"Unknown option `{option}`" + (f"; did you mean `{near}`?" if near else ".")

    def _spoken_to(self, words: Sequence[str]) -> Parser:
        """The parser of the innermost command among the words."""
        here = self
        for word in words:
            inner = next((each for each in here._actions if isinstance(each, argparse._SubParsersAction)), None)
            if inner is None:
                break
            found = inner.choices.get(word)
            here = found if isinstance(found, Parser) else here
        return here


def _meant(word: str, known: Iterable[str]) -> str:
    known = list(known)
    near = _nearest(word, known)
    return f"; did you mean `{near}`?" if near else f"; expected {', '.join(known)}."


def _nearest(word: str, known: Iterable[str]) -> str | None:
    from loop_ls.formats.common.did_you_mean import nearest  # a command line that is right does not need it

    return nearest(word, known)


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?")) else f"{sentence}."
