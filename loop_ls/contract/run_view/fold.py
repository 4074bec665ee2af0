"""Fold of a run's facts into its view: loops, iterations, steps, verdicts, money, what waits, the graph's state.

The only place that knows what a kind of fact means for what people see. `RunView.take` does constant work for a fact;
`changed_after` gives what is new since a number, so that a reader who lost its connection goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from urllib.parse import unquote

from loop_ls.contract.endings import CHECKS, ENDINGS
from loop_ls.contract.findings import finding_lines
from loop_ls.contract.run_view.parts import Event, Loop, Node, Retry, Row, Stage, Status, Verdict, message_of, moment
from loop_ls.contract.run_view.rounds import Rounds, listed
from loop_ls.text.json_value import Json, float_field, int_field, text_field

#: Of a text this much is kept where nobody needs all of it.
SHOWN = 600
_LOOP_FACTS = frozenset({"iteration_started", "iteration", "iteration_failed", "judged"})


class RunView:
    """Takes the facts of one run in order. `keep`: characters kept of each text; None: all of it.

    A view may begin in the middle of a run: what lies before is not there."""

    def __init__(self, keep: int | None = SHOWN, format: str = "") -> None:
        self.keep, self.format = keep, format
        self.seq = 0
        self.started: Event = {}
        self.rows: dict[str, Row] = {}
        self.loops: dict[str, Loop] = {}
        self.outside: list[Stage] = []  # stages that lie in no iteration
        self.nodes: dict[str, Node] = {}
        self.rounds = Rounds()
        self.recovered = False
        self.usd: float | None = None
        self.tokens, self.calls = 0, 0
        #: Of the started file (in an enhance loop: in this round): loops and what was said, by name.
        self.own_loops: dict[str, Loop] = {}
        self.results: dict[str, str] = {}
        self._stages: dict[str, Stage] = {}
        self._touched: dict[str, Row] = {}  # the row that changed last is the last
        self._nodes_last = 0
        self._asked_in: dict[str, Status] = {}  # what rows were before somebody was asked

    # -- reading -----------------------------------------------------------------------------------

    @property
    def iterations(self) -> list[Row]:
        return [row for row in self.rows.values() if row.kind == "iteration"]

    def stage(self, place: str) -> Stage | None:
        """The step or stage that lies exactly there."""
        return self._stages.get(place)

    def changed_after(self, seq: int, most: int | None = None) -> list[Row]:
        """Rows with a fact above `seq`, in the order of their last change; of more than `most` the first ones, and
        those that the same fact changed."""
        found = list(takewhile(lambda row: row.last > seq, reversed(self._touched.values())))
        found.reverse()
        if most is None or len(found) <= most:
            return found
        return found[:most] + list(takewhile(lambda row: row.last == found[most - 1].last, found[most:]))

    def patch(self, after: int = 0, most: int | None = None) -> Event:
        """What is new since fact `after`: `{seq, rows, rounds?, nodes?, more?}`. `seq` is what to ask `after` next."""
        rows = self.changed_after(after, most)
        more = bool(rows) and rows[-1] is not next(reversed(self._touched.values()))
        found: Event = {"seq": rows[-1].last if more else self.seq, "rows": [row.wire() for row in rows]}
        if more:
            return {**found, "more": True}
        if rounds := [one.wire() for one in self.rounds.all() if one.last > after]:
            found["rounds"] = rounds
        if self._nodes_last > after:
            found["nodes"] = {path: node.wire() for path, node in self.nodes.items()}
        return found

    def row_of(self, place: str) -> Row | None:
        """The row that a place lies in: its own, or the nearest around it."""
        key = place
        while key:
            if (row := self.rows.get(key)) is not None:
                return row
            key = key[: max(key.rfind("/"), key.rfind(":"), 0)]  # a further try of a step is a part that rows lie in
        return None

    # -- facts -------------------------------------------------------------------------------------

    def take(self, event: Event) -> None:
        """The next fact. Streamed text is no fact, and is passed over."""
        kind = event.get("kind")
        if not isinstance(kind, str) or kind == "text":
            return
        self.seq = int_field(event, "seq") or self.seq + 1
        place = text_field(event, "place")
        if kind in _LOOP_FACTS:
            self._of_loop(kind, event, place)
        else:
            self._read(kind, event, place)
        if self.format == "enhance":
            self.rounds.take(event, self.seq)
        if (row := self.row_of(place)) is not None:
            self._touch(row)

    def _read(self, kind: str, event: Event, place: str) -> None:
        match kind:
            case "run_started":
                self.started, self.format = event, text_field(event, "format")
            case "recovered":
                self.recovered = True
            case "round_started" if self.format == "enhance":
                self.own_loops, self.results = {}, {}
            case "step_started" | "step_skipped" | "stage_started":
                self._stage_begins(kind, event, place)
            case "step_completed" | "step_failed" | "stage_completed" | "stage_failed":
                self._stage_ends(kind, event, place)
            case "call":
                self._paid(event, place)
            case "tool_called":
                if (stage := self._stage_at(place)) is not None:
                    stage.tools += 1
            case "retrying":
                self._waits(event, place)
            case "manual_approval_required" | "approval_resolved":
                self._asked(kind, place)
            case "warning" | "unchanged_output_warning" | "loop_fixation_warning":
                if (row := self.row_of(place)) is not None:
                    row.warnings.append(_warning(kind, event))
            case "completed" | "failed" | "cancelled":
                self._close(kind, event)
            case _:
                pass

    # -- loops -------------------------------------------------------------------------------------

    def _of_loop(self, kind: str, event: Event, place: str) -> None:
        name, depth = text_field(event, "loop"), int_field(event, "depth") or 0
        key = place.partition(":")[0]
        loop = self._loop(key.rpartition("/")[0] or name, name, depth) if name else None
        row = self._begin(event, place, loop) if kind == "iteration_started" else self.row_of(place)
        if loop is not None:
            loop.iteration = max(loop.iteration, int_field(event, "iteration") or 0)
            loop.max = int_field(event, "maxIterations") or loop.max
        if row is not None and kind != "iteration_started":
            self._note(kind, event, row)
        if loop is None:
            return
        if kind == "iteration" and self._is_own(depth):
            self.results[name] = self._cut(text_field(event, "output"))
        elif kind in ("judged", "iteration_failed"):
            loop.verdicts.append(self._verdict(kind, event, row, loop))

    def _loop(self, place: str, name: str, depth: int) -> Loop | None:
        """None where the place is that of a loop of another file."""
        known = self.loops.get(place)
        if known is None:
            known = self.loops[place] = Loop(place, name, depth)
        elif known.depth != depth:
            return None
        if self._is_own(depth):
            self.own_loops.setdefault(name, known)
        return known

    def _is_own(self, depth: int) -> bool:
        """A round is a run of the file, one level further down."""
        return depth == (1 if self.format == "enhance" else 0)

    def _begin(self, event: Event, place: str, loop: Loop | None) -> Row:
        home = place.rpartition("/")[0]
        heading = None if loop is None else loop.heading
        row = self._row("iteration", place, text_field(event, "loop") or unquote(home.rpartition("/")[2]), event)
        row.parent = heading or self.row_of(home)
        row.number, row.attempt = int_field(event, "iteration") or 0, int_field(event, "attempt") or 1
        row.max, row.item = int_field(event, "maxIterations"), text_field(event, "item") or None
        if loop is not None:
            loop.rows.append(row)
        if heading is not None:
            heading.number = max(heading.number, row.number)
            self._touch(heading)
        self._light(home, row)
        return row

    def _note(self, kind: str, event: Event, row: Row) -> None:
        row.ended_at, row.retry = moment(event), None
        match kind:
            case "iteration":
                row.status, row.output, row.error = "completed", self._cut(text_field(event, "output")), None
                row.length = _length(event)
            case "iteration_failed":
                error = event.get("error")
                row.status, row.error = "failed", error if isinstance(error, dict) else {"message": message_of(error)}
            case _:
                row.status = "completed" if row.status in ("running", "waiting") else row.status
                row.verdict, row.local = text_field(event, "verdict") or "unclear", _flag(event, "local")
                row.answer, row.criterion = self._text(event, "answer"), text_field(event, "criterion")
                row.may_be_impossible = _flag(event, "mayBeImpossible")
                found = event.get("findings")
                row.findings = finding_lines(found if isinstance(found, list) else ())
                if row.criterion == CHECKS and row.verdict != "yes":  # one line for each check that failed
                    row.findings = [f"✗ {line}" for line in text_field(event, "answer").splitlines()]
                self._stages_judged(event)
                row.condition, row.interpolated = self._text(event, "condition"), self._text(event, "interpolated")
                if (heading := row.parent) is not None and heading.kind == "loop":
                    heading.verdict = row.verdict
                    self._touch(heading)

    def _stages_judged(self, event: Event) -> None:
        for said in listed(event.get("stages")):
            if (stage := self.stage(text_field(said, "place"))) is not None:
                stage.verdict = text_field(said, "verdict")

    def _verdict(self, kind: str, event: Event, row: Row | None, loop: Loop) -> Verdict:
        of = int_field(event, "iteration") or loop.iteration
        if kind == "iteration_failed":
            return Verdict(of, "failed", "", message_of(event.get("error")))
        judged = self.rows.get(text_field(event, "outputRef"))
        output = (judged.output if judged is not None else None) or ""
        verdict, answer = text_field(event, "verdict") or "unclear", self._cut(text_field(event, "answer"))
        return Verdict(of, verdict, output, answer, event.get("local") is True)

    # -- steps -------------------------------------------------------------------------------------

    def _stage_begins(self, kind: str, event: Event, place: str) -> Stage:
        skipped, is_loop = kind == "step_skipped", event.get("mode") == "loop"
        status: Status = "skipped" if skipped else "running"
        self._node(self._path(place), status)
        if (known := self._stages.get(place)) is not None and place:  # again, after a crash
            known.status, known.error, known.retry = status, None, None
            known.more |= _more(event)
            return known
        row = self.row_of(place.rpartition("/")[0])
        if is_loop and not skipped:
            self._heading(event, place, row)
        name, mode = text_field(event, "step") or text_field(event, "stage"), text_field(event, "mode") or None
        stage = Stage(place, name, mode, text_field(event, "role") or None, status, moment(event), more=_more(event))
        if row is None:
            self.outside.append(stage)
            if not is_loop or skipped:
                row = self._row("step", place, name, event)
                row.status = status
        if row is not None:
            row.stages.append(stage)
        stage.row = row
        self._stages[place] = stage
        return stage

    def _heading(self, event: Event, place: str, around: Row | None) -> None:
        name, limit = text_field(event, "step"), int_field(event, "maxIterations")
        row = self._row("loop", f"{place}#loop", name, event)
        row.parent, row.condition, row.max = around, self._text(event, "condition"), limit
        loop = self._loop(place or name, name, int_field(event, "depth") or 0)
        if loop is not None:
            loop.heading, loop.max = row, limit

    def _stage_ends(self, kind: str, event: Event, place: str) -> None:
        failed = kind.endswith("failed")
        status: Status = "failed" if failed else "completed"
        self._loop_ends(event, place, failed)
        stage = self._stages.get(place) or self._stage_begins(kind, event, place)
        error, at = event.get("error"), moment(event)
        stage.status, stage.ended_at, stage.ended_seq, stage.retry = status, at, self.seq, None
        stage.error = error if isinstance(error, dict) else None
        stage.reason, stage.artifact = text_field(event, "reason") or None, text_field(event, "artifact") or None
        stage.total_iterations, stage.length = int_field(event, "totalIterations"), _length(event)
        row = stage.row
        is_step = row is not None and row.kind == "step"
        if "output" in event and (self.keep is None or row is None or is_step):
            stage.output = self._cut(text_field(event, "output"))
        if row is not None and is_step and row.id == place:
            row.status, row.ended_at, row.error, row.retry = status, at, stage.error, None
            row.output, row.length = stage.output, stage.length
        if kind == "step_completed" and self._is_own(int_field(event, "depth") or 0):
            self.results[stage.name] = self._cut(text_field(event, "output"))
        path = self._path(place)
        self._node(path, status, known.note if (known := self.nodes.get(path)) else None)

    def _loop_ends(self, event: Event, place: str, failed: bool) -> None:
        if (row := self.rows.get(f"{place}#loop")) is not None:
            row.status, row.ended_at = "failed" if failed else "completed", moment(event)
            row.reason = text_field(event, "reason")
            self._touch(row)
        if event.get("mode") != "loop":
            return
        name = text_field(event, "step")
        loop = self._loop(place or name, name, int_field(event, "depth") or 0)
        if loop is not None:
            loop.status, loop.reason = "failed" if failed else "completed", text_field(event, "reason") or None
            loop.iteration = int_field(event, "totalIterations") or loop.iteration
            if failed:
                error = event.get("error")
                loop.reason, loop.error = loop.reason or "error", error if isinstance(error, dict) else None

    # -- what happens inside -----------------------------------------------------------------------

    def _paid(self, event: Event, place: str) -> None:
        """Money and tokens of the row and of all around it. What another run paid is not this one's."""
        if event.get("copied") is True:
            return
        usd, tokens = float_field(event, "usd"), event.get("tokens")
        tokens = tokens if isinstance(tokens, dict) else {}
        total = sum(each for each in tokens.values() if isinstance(each, int))
        self.calls, self.tokens = self.calls + 1, self.tokens + total
        self.usd = self.usd if usd is None else (self.usd or 0.0) + usd
        row = self.row_of(place)
        if row is not None:
            row.calls += 1
            row.tokens.add(tokens)
        stage = self._stage_at(place)
        if usd is not None and row is not None:
            row.usd = (row.usd or 0.0) + usd
        if usd is not None and stage is not None:
            stage.usd = (stage.usd or 0.0) + usd
        for each in _upwards(row):
            each.total_tokens += total
            each.total_usd = each.total_usd if usd is None else (each.total_usd or 0.0) + usd
            self._touch(each)

    def _waits(self, event: Event, place: str) -> None:
        because = message_of(event.get("because"))
        retry = Retry(int_field(event, "attempt"), float_field(event, "delay") or 0.0, because)
        if (stage := self._stage_at(place)) is not None:
            stage.retry = retry
        if (row := self.row_of(place)) is not None:
            row.retry = retry

    def _asked(self, kind: str, place: str) -> None:
        row = self.row_of(place)
        if row is None:
            return
        if kind == "manual_approval_required":
            self._asked_in.setdefault(row.id, row.status)
            row.status = "waiting"
        elif row.status == "waiting":
            row.status = self._asked_in.pop(row.id, "completed")

    def _close(self, kind: str, event: Event) -> None:
        """What still ran when the run ended did not finish."""
        left: Status = "cancelled" if kind == "cancelled" else "failed"
        at = moment(event)
        for stage in self._stages.values():
            if stage.status == "running":
                stage.status, stage.ended_at = left, at
                if stage.row is not None:
                    self._touch(stage.row)
        for row in self.rows.values():
            if row.status in ("running", "waiting"):
                row.status = "cancelled" if row.kind == "iteration" and kind == "completed" else left
                row.ended_at = at
                self._touch(row)
        for path, node in list(self.nodes.items()):
            if node.status == "running":
                self._node(path, left, node.note)

    # -- keeping -----------------------------------------------------------------------------------

    def _row(self, kind: str, id: str, name: str, event: Event) -> Row:
        row = Row(id, kind, name, moment(event), self.seq, self.seq, int_field(event, "depth") or 0)  # type: ignore[arg-type]
        row.more = _source(event)
        self.rows[id] = row
        self._touch(row)
        return row

    def _touch(self, row: Row) -> None:
        row.last = self.seq
        self._touched.pop(row.id, None)
        self._touched[row.id] = row

    def _stage_at(self, place: str) -> Stage | None:
        return self._stages.get(place) or self._stages.get(place.partition(":")[0])

    def _cut(self, said: str) -> str:
        return said if self.keep is None else said[: self.keep]

    def _text(self, event: Event, name: str) -> str | None:
        value = event.get(name)
        return self._cut(value) if isinstance(value, str) else None

    # -- graph -------------------------------------------------------------------------------------

    def _light(self, home: str, row: Row) -> None:
        """The loop of a new iteration is lit, what it calls is dark again."""
        path = self._path(home)
        below = f"{path}/" if path else ""
        for known in [known for known in self.nodes if known.startswith(below)]:
            del self.nodes[known]
        self._node(path, "running", f"{row.number}/{row.max}" if row.max else str(row.number))

    def _path(self, place: str) -> str:
        """The names along a place, as the graph knows them: iterations are left out, and in an enhance loop the loop
        itself, which is no part of the graph of the file."""
        names, at = [], ""
        for segment in place.split("/"):
            at = f"{at}/{segment}" if at else segment
            row = self.rows.get(at)
            if row is None or row.kind != "iteration":
                names.append(unquote(segment.partition(":")[0]))
        return "/".join(names[1 if self.format == "enhance" else 0 :])

    def _node(self, path: str, status: Status, note: str | None = None) -> None:
        self._nodes_last = self.seq
        if path:
            self.nodes[path] = Node(status, note)


def folded(events: Iterable[Event], keep: int | None = SHOWN, format: str = "") -> RunView:
    """The view after these facts of one run, in order."""
    view = RunView(keep, format)
    for event in events:
        view.take(event)
    return view


def _upwards(row: Row | None) -> Iterator[Row]:
    while row is not None:
        yield row
        row = row.parent


def _flag(event: Event, name: str) -> bool | None:
    value = event.get(name)
    return value if isinstance(value, bool) else None


def _length(event: Event) -> int:
    """How long an output is, also where the fact holds only its beginning."""
    lengths = event.get("lengths")
    known = int_field(lengths, "output") if isinstance(lengths, dict) else None
    return len(text_field(event, "output")) if known is None else known


def _source(event: Event) -> dict[str, Json]:
    """Where it is written: the file, and the workflow in it."""
    return {name: event[name] for name in ("file", "workflow") if event.get(name)}


def _more(event: Event) -> dict[str, Json]:
    """`_source`, and what a stage of a role loop has besides."""
    told = {name: event[name] for name in ("index", "task", "session", "model") if event.get(name) is not None}
    return _source(event) | told


def _warning(kind: str, event: Event) -> str:
    match kind:
        case "unchanged_output_warning":
            repeated = int_field(event, "repeated") or 2
            return "The output is empty." if event.get("empty") else f"The last {repeated} outputs are the same."
        case "loop_fixation_warning":
            return f"{ENDINGS['fixation'].short.capitalize()}."
        case _:
            return text_field(event, "message")
