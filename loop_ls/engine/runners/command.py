"""Any command as an agent: the message on standard input or in a file, its output as the answer.

The words `{message_file}` and `{system_file}` are replaced by the path of a file that only the engine's user can
read and that is gone afterwards; without one for the message the text goes to standard input, after the persona.
`{message}` and `{system}` put the text itself among the words, where everybody on the machine can read it: for
programs that take it no other way. It may print plain text or speak stream-json: the first line tells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loop_ls.engine.runners.cli import CommandLine
from loop_ls.engine.runners.codex import with_persona
from loop_ls.engine.runners.output_parser import AgentOutput, OutputParser, PlainOutput, parsed
from loop_ls.engine.runners.runner import Assignment, Hear
from loop_ls.engine.runners.stream_json import StreamJson
from loop_ls.text.record import equal_record


@equal_record
class AnyCommand:
    """`words` are those after the program."""

    words: tuple[str, ...] = ()
    credentials: tuple[str, ...] = ()
    handed_on: tuple[str, ...] = ()
    prices: str = ""
    tells_cost: bool = False

    def environment(self, environ: Mapping[str, str]) -> Mapping[str, str]:
        return {}

    def speech(self, hear: Hear) -> OutputParser:
        return EitherOutput(hear)

    def said(self, work: Assignment, by_file: Callable[[str], str]) -> CommandLine:
        named = {"{system}", "{system_file}"} & set(self.words)
        message = work.message if named else with_persona(work)
        texts = {"{message}": message, "{system}": work.system}
        files = {"{message_file}": message, "{system_file}": work.system}
        words = [by_file(files[word]) if word in files else texts.get(word, word) for word in self.words]
        return CommandLine(words, stdin=None if {"{message}", "{message_file}"} & set(self.words) else message)


class EitherOutput:
    """Plain text, unless the first line is an object with a `type`."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._chosen: OutputParser | None = None

    def line(self, line: str) -> bool:
        if self._chosen is None:
            first = parsed(line)
            speaks_json = first is not None and "type" in first
            self._chosen = StreamJson(self._hear) if speaks_json else PlainOutput(self._hear)
        return self._chosen.line(line)

    def heard(self) -> AgentOutput:
        return AgentOutput() if self._chosen is None else self._chosen.heard()
