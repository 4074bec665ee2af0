"""Any command as an agent: the message as its last word or on standard input, its output as the answer.

A word `{message}` or `{system}` among its words is replaced; without `{message}` the text goes to standard
input, after the persona. It may print plain text or speak stream-json: the first line tells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from loop_ls.engine.runners.cli import Said
from loop_ls.engine.runners.codex import with_persona
from loop_ls.engine.runners.output_parser import Heard, PlainSpeech, Speech, parsed
from loop_ls.engine.runners.runner import Assignment, Hear
from loop_ls.engine.runners.stream_json import StreamJson


@dataclass(frozen=True, slots=True)
class AnyCommand:
    """`words` are those after the program."""

    words: tuple[str, ...] = ()
    credentials: tuple[str, ...] = ()
    handed_on: tuple[str, ...] = ()

    def environment(self, environ: Mapping[str, str]) -> Mapping[str, str]:
        return {}

    def speech(self, hear: Hear) -> Speech:
        return EitherSpeech(hear)

    def said(self, work: Assignment, by_file: Callable[[str], str]) -> Said:
        system = "{system}" in self.words
        message = work.message if system else with_persona(work)
        words = [{"{message}": message, "{system}": work.system}.get(word, word) for word in self.words]
        return Said(words, stdin=None if "{message}" in self.words else message)


class EitherSpeech:
    """Plain text, unless the first line is an object with a `type`."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._chosen: Speech | None = None

    def line(self, line: str) -> None:
        if self._chosen is None:
            first = parsed(line)
            speaks_json = first is not None and "type" in first
            self._chosen = StreamJson(self._hear) if speaks_json else PlainSpeech(self._hear)
        self._chosen.line(line)

    def heard(self) -> Heard:
        return Heard() if self._chosen is None else self._chosen.heard()
