"""The workflows that a run can call, read from the texts that were recorded when it started.

A run never looks at the disk: an edit made while it goes on changes nothing for it. References are
resolved from the folder of the workflow that makes them.
"""

from __future__ import annotations

from collections.abc import Mapping

from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Failure
from loop_ls.formats.workflow.model import Element, Workflow
from loop_ls.formats.workflow.one_model import OneModel, one_model
from loop_ls.formats.workflow.read import read_workflow
from loop_ls.index.graph.graph import run_order
from loop_ls.index.resolve import listing, resolve_key, suggestions


class Library:
    """Workflows by key. `texts`: path -> text; `keys`: workflow key -> path; `instead`: whom to ask in place of those
    that the files name."""

    def __init__(self, texts: Mapping[str, str], keys: Mapping[str, str], instead: OneModel | None = None) -> None:
        self._texts, self._keys, self._instead = texts, keys, instead
        self._read: dict[str, Workflow] = {}
        self._order: dict[str, tuple[Element, ...]] = {}

    @classmethod
    def of(cls, plan: Plan) -> Library:
        """The workflows of a run, as it was started."""
        return cls(plan.texts, plan.keys, one_model(plan.details.get("instead")))

    def workflow(self, key: str) -> Workflow:
        """The workflow with this key, as values. Raises `Failure` when its file cannot be run."""
        if key not in self._read:
            found = read_workflow(self._texts[self._keys[key]])
            if not isinstance(found, Workflow):
                first = found[0]
                line = first.span.start.line + 1
                message = f"the workflow `{key}` cannot be run: {first.message} ({first.code}, line {line})"
                raise Failure("file_has_errors", message, f"see `loop-ls check {self._keys[key]}`")
            self._read[key] = found if self._instead is None else self._instead.workflow(found)
        return self._read[key]

    def order(self, key: str) -> tuple[Element, ...]:
        """The elements of a workflow in the order of a sequential run. Worked out once."""
        if key not in self._order:
            self._order[key] = run_order(self.workflow(key))
        return self._order[key]

    def path(self, key: str) -> str:
        """The file of a workflow, relative to the root."""
        return self._keys[key]

    def key_of(self, path: str) -> str:
        """The key of the workflow in this file. Raises `Failure` where it holds none."""
        key = next((key for key, file in self._keys.items() if file == path), None)
        if key is None:
            raise Failure("not_found", f"no workflow in {path}")
        return key

    def called(self, caller: str, reference: str) -> str:
        """The key that a workflow means by a reference. Raises `Failure` when there is none."""
        folder = caller.rpartition("/")[0]
        key = resolve_key(folder, reference, self._keys)
        if key is None:
            stems = ((path.rpartition("/")[2].rpartition(".")[0], key) for key, path in self._keys.items())
            near = suggestions(reference, listing(self._keys, stems), limit=1)
            hint = f"did you mean `{near[0]}`?" if near else "use the `name` of a workflow"
            raise Failure("not_found", f"unknown workflow `{reference}`", hint)
        return key
