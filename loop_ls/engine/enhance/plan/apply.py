"""From proposed operations to the text of the next round: one after the other, on a copy.

An operation that does not fit is dropped alone, with its reason. The copy as a whole must stay valid,
keep whom every step asks first, and be no text that an earlier round has run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from loop_ls.engine.enhance.invariants.baseline import Baseline
from loop_ls.engine.enhance.invariants.violations import new_violations
from loop_ls.engine.enhance.ops.catalogue import read_operation
from loop_ls.engine.enhance.ops.effects import EFFECTS
from loop_ls.engine.enhance.ops.operations import Operation, Rejected, Rejection
from loop_ls.engine.enhance.plan.plan_context import PlanContext, Primaries, primaries, primaries_kept
from loop_ls.engine.enhance.plan.working_copy import WorkingCopy, differences
from loop_ls.syntax.edit.edits import Edit
from loop_ls.text.hash import text_hash
from loop_ls.text.json_value import Json, as_object

#: The error codes, with sentences, that a document has in its workspace.
Errors = Callable[[WorkingCopy], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An operation that was not taken. `op` and `target` as the planner wrote them."""

    op: str
    target: str
    code: str
    message: str
    file: str = ""

    @property
    def place(self) -> str:
        """What it was about, for people."""
        return f"{self.target} in {self.file}" if self.file else self.target

    def wire(self) -> dict[str, str]:
        return {"op": self.op, "target": self.place, "reason_code": self.code, "message": self.message}


@dataclass(frozen=True)
class Planned:
    """What is left of a proposal. `edits` lead from the text it started from to that of `copy`."""

    copy: WorkingCopy
    accepted: tuple[Operation, ...]
    refused: tuple[Refusal, ...]
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class OtherFile:
    """What holds for operations on a called workflow that plans may edit."""

    known: PlanContext
    baseline: Baseline


@dataclass(frozen=True)
class Planning:
    """`earlier` are the hashes of the texts of all rounds so far, by round. `errors` sees a copy as the
    language server does, `baseline` is what no plan may get away from; `files` has the same of the other files that a
    plan may edit, by path."""

    known: PlanContext
    baseline: Baseline
    errors: Errors
    earlier: Mapping[int, str]
    most_ops: int = 8
    most_steps: int = 5
    files: Mapping[str, OtherFile] = field(default_factory=dict)

    def plan(self, start: WorkingCopy, proposed: Sequence[Json]) -> Planned:
        """Never raises on what a planner may say."""
        accepted: list[tuple[Operation, WorkingCopy]] = []
        refused: list[Refusal] = []
        read = [_read(value, start) for value in proposed]
        well_formed = tuple(one for one in read if isinstance(one, Operation))
        before = {file: primaries(start.at(file).document) for file in ("", *self.files)}
        copy, edited = start, set[tuple[str, str]]()
        baselines = {"": self.baseline, **{file: one.baseline for file, one in self.files.items()}}
        for value, op in zip(proposed, read, strict=True):
            if isinstance(op, Refusal):
                refused.append(op)
                continue
            try:
                self._within_limits(op, len(accepted), edited)
                changed = self._tried(copy, op, well_formed, before, baselines)
                for file in dict.fromkeys((op.file, "")):  # a called file changes what its callers do
                    _invariants_kept(baselines[file], start, changed, file)
            except Rejected as found:
                refused.append(_refusal(value, found.rejection))
                continue
            copy = changed
            baselines[op.file] = baselines[op.file].with_op(op, changed.at(op.file).document)
            edited.add((op.file, op.target))
            accepted.append((op, copy))
        refused += self._dropped_for_errors(start, accepted)
        copy = accepted[-1][1] if accepted else start
        if accepted and all(op.op == "set_description" for op, _ in accepted):
            told = "a description does not change what the workflow does"
            refused += [_refusal(op.wire(), Rejection("no_change", told)) for op, _ in accepted]
            accepted, copy = [], start
        repeated = self._repeated(copy) if accepted else None
        if repeated is not None:
            told = f"the text would be the same as in round {repeated}"
            refused += [_refusal(op.wire(), Rejection(f"repeats_round_{repeated}", told)) for op, _ in accepted]
            accepted, copy = [], start
        kept = tuple(op for op, _ in accepted)
        return Planned(copy, kept, tuple(refused), differences(start.document.text, copy.document.text))

    def _within_limits(self, op: Operation, taken: int, edited: set[tuple[str, str]]) -> None:
        if taken >= self.most_ops:
            raise Rejected("too_many", f"at most {self.most_ops} operations are allowed per round")
        if (op.file, op.target) not in edited and len(edited) >= self.most_steps:
            raise Rejected("too_many", f"at most {self.most_steps} steps may be changed per round")

    def _tried(
        self,
        copy: WorkingCopy,
        op: Operation,
        plan: tuple[Operation, ...],
        before: Mapping[str, Primaries],
        baselines: Mapping[str, Baseline],
    ) -> WorkingCopy:
        file = copy.at(op.file)
        known = self.files[op.file].known if op.file else self.known
        known = replace(known, checked=baselines[op.file].verifiers.added_for())
        changed = EFFECTS[op.op](file, op, known, tuple(one for one in plan if one.file == op.file))
        if changed.text == file.text:
            raise Rejected("no_change", f"`{op.op}` does not change `{op.target}`")
        _identity_kept(file, changed)
        moved = primaries_kept(before[op.file], primaries(changed.document))
        if moved is not None:
            raise Rejected("would_change_primary", f"`{moved}` would use another provider or model first")
        return copy.after(changed)

    def _dropped_for_errors(self, start: WorkingCopy, accepted: list[tuple[Operation, WorkingCopy]]) -> list[Refusal]:
        """The last operations, as long as the copy has errors that were not there before."""
        dropped: list[Refusal] = []
        if not accepted:
            return dropped
        had = set(self.errors(start))
        while accepted:
            fresh = [error for error in self.errors(accepted[-1][1]) if error not in had]
            if not fresh:
                break
            op, _ = accepted.pop()
            dropped.append(_refusal(op.wire(), Rejection("breaks_document", fresh[0])))
        return dropped

    def _repeated(self, copy: WorkingCopy) -> int | None:
        found = text_hash(copy.text)
        return next((number for number, known in self.earlier.items() if known == found), None)


def _read(value: Json, start: WorkingCopy) -> Operation | Refusal:
    try:
        op = read_operation(value)
        start.at(op.file)
        return replace(op, file="") if op.file == start.bundle.primary else op
    except Rejected as found:
        return _refusal(value, found.rejection)


def _refusal(value: Json, rejection: Rejection) -> Refusal:
    given = as_object(value)
    target = given.get("target") or given.get("name") or ""
    op, file = given.get("op"), given.get("file")
    told = (op if isinstance(op, str) else "", str(target), rejection.code, rejection.message)
    return Refusal(*told, file if isinstance(file, str) else "")


def _invariants_kept(baseline: Baseline, start: WorkingCopy, changed: WorkingCopy, file: str) -> None:
    """Raises `Rejected` for the first invariant that the plan, with this operation, breaks."""
    was, now = start.at(file).document, changed.at(file).document
    found = new_violations(baseline, changed.workspace, was, now, start.workspace)
    if found:
        raise Rejected(found[0].code, found[0].message)


def _identity_kept(before: WorkingCopy, after: WorkingCopy) -> None:
    """`$schema`, `name` and the names of all steps and loops stay."""
    old, new = before.document, after.document
    same_head = all(old.head.text(key) == new.head.text(key) for key in ("$schema", "name", "version"))
    names = {element.name for element in new.elements}
    if not same_head or any(element.name not in names for element in old.elements):
        raise Rejected("breaks_document", "the names of the workflow and its steps must not change")
