"""A laboratory for whole enhance loops: a workflow, scripted models, a scripted planner, a scripted editor.

The real program over a record in memory: no disk, no network, no clock but the loop's own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loop_ls.app.engine import validate
from loop_ls.engine.bodies.workflow import WorkflowProgram
from loop_ls.engine.core.loop_driver import Outcome
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import ModelFailure, ModelReply, ModelRequest
from loop_ls.engine.enhance.program import EnhanceProgram
from loop_ls.engine.events import Event, RunState, fold
from loop_ls.engine.money.accounts import Accounts
from loop_ls.engine.money.gate import GatedModels
from loop_ls.engine.money.ledger import Ledger
from loop_ls.engine.money.loop_account import loop_ledger
from loop_ls.testing.models import ScriptedModels
from loop_ls.testing.recorder import MemoryRecorder
from loop_ls.text.encoding import from_units

HEAD = "$schema: workflow/v2.0\nname: report\nversion: 1.0.0\nexecution: {provider: acme, model: large}\n"
#: A draft, a review of it, and something that is made of both.
THREE = (
    HEAD
    + """\
steps:
  # the first words
  - name: draft
    run: Write about {{input}}
  - name: review
    needs: [draft]
    run: Review {{draft}}
  - name: publish
    run: Publish {{review}}
"""
)

#: A check behind the last step.
VERIFY = """\
  - name: verify
    needs: [publish]
    run: Begin your answer with PASS if it meets the criterion, else with FAIL.
"""


def plan_of(*ops: dict[str, Any], rationale: str = "clearer", **more: Any) -> str:
    """An answer of the planner."""
    return json.dumps({"rationale": rationale, "ops": list(ops), **more})


def instructions(target: str, run: str, **more: Any) -> dict[str, Any]:
    return {"op": "set_instructions", "target": target, "run": run, **more}


def failing(code: str = "server", message: str = "the provider is out of order") -> ModelFailure:
    return ModelFailure(code, message, provider="acme", model="large")


def priced(text: str, usd: float | None) -> ModelReply:
    return ModelReply(text, "acme", "large", 10, 10, usd)


@dataclass
class Loop:
    """`script` are the answers of steps, by name; `planner` those of the planner, in order; `editor` what
    the editor answers to each edit, "applied" for the text that was sent; `price` that of a million tokens;
    `checks` the text of the checks file that the cases are judged by; `files` the hashes of files below `root` that
    must not change; `editable` the other files that plans may edit."""

    text: str = THREE
    script: dict[str, Any] = field(default_factory=dict)
    planner: Sequence[Any] = ()
    knobs: dict[str, Any] = field(default_factory=dict)
    more: dict[str, str] = field(default_factory=dict)
    headless: Path | None = None
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    settings: dict[str, Any] = field(default_factory=dict)
    editor: Any = None
    cases: Sequence[dict[str, Any]] = ()
    checks: str = ""
    files: dict[str, str] = field(default_factory=dict)
    editable: Sequence[str] = ()
    root: Path | None = None
    price: dict[str, float] | None = None
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        answers = {"planner": list(self.planner)} if self.planner else {}
        self.models = ScriptedModels({**self.script, **answers})
        self._editor = self.editor or (lambda sent: {"outcome": "applied", "text": applied(self.seen_text(), sent)})
        self._texts = [self.text]

    def seen_text(self) -> str:
        return self._texts[-1]

    async def run(self) -> Outcome:
        root = str(self.headless.parent if self.headless else self.root or "/project")
        name = self.headless.name if self.headless else "report.yaml"
        plan = Plan(
            run_id="run-1",
            format="enhance",
            root=root,
            name="report",
            path=name,
            input="tea",
            texts={name: self.text, **self.more},
            keys={"report": name, **{path.removesuffix(".yaml"): path for path in self.more}},
            settings=self.settings,
            details={
                "knobs": self.knobs,
                "planner": {"provider": "acme", "model": "wise"},
                "headless": self.headless is not None,
                **({"files": list(self.editable)} if self.editable else {}),
                **({"evidence": self._evidence()} if self.cases else {}),
            },
        )
        program = EnhanceProgram(WorkflowProgram(environment={}.get), validate, self.facts)
        self._answer_edits()
        accounts = self.recorder.accounts = Accounts(Ledger(), loop=loop_ledger(plan, self.recorder.facts))
        acme = {"kind": "openai", "baseUrl": "https://acme.example/v1", **({"price": self.price} if self.price else {})}
        return await program.run(plan, self.recorder, GatedModels(self.models, accounts, {"acme": acme}, environ={}))

    def _evidence(self) -> dict[str, Any]:
        cases = [{"name": one["name"], "vars": {"input": one.get("input", "")}} for one in self.cases]
        texts = {"texts": {"checks": self.checks, "cases": json.dumps({"tests": cases})}} if self.checks else {}
        return {"cases": list(self.cases), **texts, "files": self.files}

    def _answer_edits(self) -> None:
        """The editor answers when an edit is sent; other questions wait for `tell`."""
        recorder, asked = self.recorder, self.recorder.outside

        async def outside(key: str, facts: Any, seconds: float | None, late: Any) -> Any:
            for kind, body in facts:
                if kind == "edit_sent" and (told := self._editor(body)) is not None:
                    recorder.tell(told)
                    if told.get("text"):
                        self._texts.append(told["text"])
            return await asked(key, facts, seconds, late)

        recorder.outside = outside  # type: ignore[method-assign]

    async def facts(self, run_id: str) -> list[Event]:
        return [Event(run_id, seq, float(seq), kind, body) for seq, (kind, body) in enumerate(self.recorder.facts, 1)]

    async def again(self) -> Loop:
        """The same loop after a crash: the same record, the same answers from now on."""
        other = Loop(self.text, self.script, self.planner, self.knobs, self.more, self.headless, self.recorder.again())
        other.models, other._editor, other._texts = self.models, self._editor, self._texts
        return other

    # -- what was seen -------------------------------------------------------------------------------

    def of(self, kind: str) -> list[dict[str, Any]]:
        return self.recorder.of(kind)

    @property
    def reports(self) -> list[dict[str, Any]]:
        return [fact["report"] for fact in self.of("report_ready")]

    def kinds(self, number: int = 1) -> dict[str, str]:
        """Step -> kind of what failed in a round."""
        return {one["step"]: one["kind"] for one in self.reports[number - 1]["failures"]}

    @property
    def planner_calls(self) -> list[ModelRequest]:
        return [request for request in self.models.requests if request.purpose == "planner"]

    def prompts(self, step: str) -> list[str]:
        return [
            one.prompt for one in self.models.requests if one.purpose != "planner" and one.place.endswith(f"/{step}")
        ]

    async def state(self) -> RunState:
        started = Event("run-1", 0, 0.0, "run_started", {"format": "enhance", "name": "report", "path": "report.yaml"})
        return fold([started, *await self.facts("run-1")])


def applied(base: str, sent: dict[str, Any]) -> str:
    """What an editor makes of the edits that were sent to it, as `editor_contract` says."""
    lines = base.splitlines(keepends=True) or [""]

    def offset(at: dict[str, int]) -> int:
        line = lines[at["line"]].rstrip("\r\n") if at["line"] < len(lines) else ""
        return sum(map(len, lines[: at["line"]])) + from_units(line, at["character"], "utf-16")

    found = [(offset(edit["range"]["start"]), offset(edit["range"]["end"]), edit["newText"]) for edit in sent["edits"]]
    for start, end, text in reversed(found):
        base = base[:start] + text + base[end:]
    return base
