"""A fifth file format with its loop system: `*.countdown.yaml` counts down, one iteration for each number.

All that the product knows of it is registered here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from loop_ls.app import loop_systems
from loop_ls.app.loop_systems import LoopSystem
from loop_ls.contract.facts.kinds import RunStarted
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import History, Limits, LoopParts, Outcome, Turn, drive
from loop_ls.engine.core.plan import ModelAccess, Plan
from loop_ls.engine.core.ports import Models, Recorder
from loop_ls.engine.core.preparer import Prepared
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.features import language_support
from loop_ls.features.languages.object_file import ObjectFileSupport
from loop_ls.features.runs.runnable import Runnable
from loop_ls.formats import registry as formats
from loop_ls.formats.common.key_table import Key, Shape, Type, shape
from loop_ls.formats.file_format import FileFormat
from loop_ls.index.document import Document
from loop_ls.rules.engine import registry as rules
from loop_ls.rules.engine.registry import FormatRules
from loop_ls.text.hash import hash_of

NAME = "countdown"
KEYS = shape(
    NAME,
    "Countdown",
    "Counts down.",
    Key("name", Type.TEXT, "What is launched.", required=True),
    Key("from", Type.INTEGER, "The first number.", required=True, default="3"),
)


def _keys() -> Shape:
    return KEYS


FORMAT = FileFormat(NAME, "countdown", lambda path: path.endswith(".countdown.yaml"), _keys, target=NAME)


class CountdownSupport(ObjectFileSupport):
    def runnables(self, document: Document) -> Iterable[Runnable]:
        part = document.whole.parts.get("name")
        if part is not None and part.node is not None:
            span = document.absolute(part.piece, part.node.span)
            name = str(part.field.value)
            yield Runnable(NAME, name, name, span, span)


class CountdownPreparer:
    async def prepare(self, request: StartRequest, models: Callable[[Plan], ModelAccess]) -> Prepared:
        text = Path(request.root, request.path).read_text()
        document = Document.open(request.uri, text, path=f"{request.root.as_posix()}/{request.path}")
        parts = document.whole.parts.keys
        first = int(str(parts["from"].field.value))
        started = RunStarted(
            format=NAME,
            name=str(parts["name"].field.value),
            target={"kind": NAME},
            root=request.root.as_posix(),
            uri=request.uri,
            path=request.path,
            files={request.path: hash_of(text)},
            limits={"maxIterations": first},
            origin=request.origin,
        )
        return Prepared(started, {hash_of(text): text})


class Counting:
    def __init__(self, first: int) -> None:
        self._first = first

    async def run(self, turn: Turn) -> str:
        return str(self._first - turn.number + 1)


class CountdownProgram:
    async def run(self, plan: Plan, recorder: Recorder, models: Models) -> Outcome:
        first = plan.limits["maxIterations"]
        place = Place(file=plan.path).element(plan.name)
        parts = LoopParts(plan.name, place, Counting(first), History(), Limits(max_iterations=first))
        return await drive(parts, recorder)


@contextmanager
def registered() -> Iterator[None]:
    """The format is known while the block runs."""
    formats.register(FORMAT)
    rules.register(NAME, FormatRules("CD", ("tests.fifth_format.countdown_rules",), ("CD001", "syntax"), "CD001"))
    language_support.register(NAME, CountdownSupport())
    loop_systems.register(LoopSystem(NAME, lambda parts: CountdownProgram(), lambda parts: CountdownPreparer()))
    try:
        yield
    finally:
        formats.unregister(NAME)
        rules.unregister(NAME)
        language_support.unregister(NAME)
        loop_systems.unregister(NAME)
