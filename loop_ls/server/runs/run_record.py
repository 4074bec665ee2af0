"""What the server knows of one run: the view of its facts, its state, and the text it was started on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from loop_ls.contract.endings import ENDED
from loop_ls.contract.run_view import fold
from loop_ls.features.runs.shown_run import shown_run
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.features.answers import ShownRun
    from loop_ls.index.document import Document
    from loop_ls.server.documents.session import OpenDocument


@dataclass(eq=False)
class RunRecord:
    """`lines` are the texts of the loops at start: a result belongs to that text and to no other. `shown`: the fact up
    to which the client has the view, where it looks at it."""

    run_id: str
    key: str = ""
    folded: fold.RunView = field(default_factory=fold.RunView)
    state: JsonObject = field(default_factory=dict)
    lines: dict[str, tuple[str, ...]] = field(default_factory=dict)
    shown: int | None = None
    _view: tuple[int, int, ShownRun] | None = None

    @property
    def last_seq(self) -> int:
        return self.folded.seq

    @property
    def ended(self) -> bool:
        return self.state.get("status") in ENDED

    @property
    def name(self) -> str:
        """What a person calls it: the loop that was started, else the workflow."""
        target = self.state.get("target")
        named = target.get("name") if isinstance(target, dict) else None
        return str(named or self.state.get("name") or self.run_id)

    @property
    def started_at(self) -> str:
        """When it began, as a text that sorts; a run that nobody has told of yet is the newest."""
        return str(self.state.get("startedAt") or "~")

    def take(self, fact: JsonObject) -> bool:
        """The next fact. False for one that is known; one too high is the caller's to notice."""
        if fact["seq"] != self.last_seq + 1:
            return False
        self.folded.take(fact)
        return True

    def place(self, opened: OpenDocument) -> None:
        """This is the document it runs; remember its loops as they are written now."""
        self.key = opened.key
        self.lines = {element.name: element.piece.lines for element in opened.document.elements if element.name}

    def view(self) -> ShownRun:
        made = self._view
        if made is None or made[:2] != (self.last_seq, id(self.state)):
            made = (self.last_seq, id(self.state), shown_run(self.state, self.folded))
            self._view = made
        return made[2]

    def view_for(self, document: Document) -> ShownRun:
        """The view for a version of its document, without the loops that were edited since the start."""
        view = replace(self.view(), uri=document.uri)
        now = {element.name: element.piece.lines for element in document.elements}
        same = {name: loop for name, loop in view.loops.items() if self._as_it_ran(name, now)}
        if view.rounds is not None and view.rounds.failures:
            kept = tuple(one for one in view.rounds.failures if self._as_it_ran(one.step.partition("/")[0], now))
            view = replace(view, rounds=replace(view.rounds, failures=kept))
        return view if len(same) == len(view.loops) else replace(view, loops=same)

    def _as_it_ran(self, name: str, now: dict[str, tuple[str, ...]]) -> bool:
        return name not in self.lines or now.get(name) == self.lines[name]
