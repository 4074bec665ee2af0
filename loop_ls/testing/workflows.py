"""A small laboratory for workflows: texts and scripted models in, how the run went out.

The real parts of the engine over a record in memory: no disk, no network, no process.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Any

from loop_ls.engine.bodies.workflow import WorkflowProgram
from loop_ls.engine.capabilities.derive import capabilities_of
from loop_ls.engine.capabilities.guard import permitting
from loop_ls.engine.core.loop_driver import Outcome
from loop_ls.engine.core.plan import Plan
from loop_ls.formats.registry import WORKFLOW
from loop_ls.testing.models import ScriptedModels
from loop_ls.testing.recorder import MemoryRecorder
from loop_ls.text.json_value import JsonObject

MODEL = "execution: {provider: acme, model: large}\n"


@dataclass
class Ran:
    """A run that is over."""

    outcome: Outcome
    models: ScriptedModels
    recorder: MemoryRecorder

    @property
    def output(self) -> str:
        return self.outcome.output

    @property
    def reason(self) -> str:
        return self.outcome.reason

    @property
    def order(self) -> list[str]:
        return self.models.order

    def prompts(self, name: str) -> list[str]:
        return self.models.prompts(name)

    def prompt(self, name: str) -> str:
        """The one prompt that was sent for a step."""
        (only,) = self.models.prompts(name)
        return only

    def of(self, kind: str) -> list[dict[str, Any]]:
        return self.recorder.of(kind)

    @property
    def warnings(self) -> list[str]:
        return [str(body["message"]) for body in self.recorder.of("warning")]

    def completed(self, step: str) -> JsonObject:
        """The one `step_completed` fact of an element."""
        (only,) = [body for body in self.recorder.of("step_completed") if body["step"] == step]
        return only


@dataclass
class Lab:
    """Files by workflow key, `main` first, and the means to run them."""

    texts: dict[str, str]
    models: ScriptedModels
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    environment: dict[str, str] = field(default_factory=dict)
    plan: dict[str, Any] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)  # texts of `checks` and `cases`

    async def run(self) -> Ran:
        files = {f"{key}.yaml": whole(key, text) for key, text in self.texts.items()}
        declared = {f"main.{kind}.yaml": textwrap.dedent(text) for kind, text in self.declared.items()}
        start = next(iter(self.texts))
        plan = Plan(
            run_id="run-1",
            format=WORKFLOW,
            name=start,
            path=f"{start}.yaml",
            texts=files | declared,
            details={"check": {kind: f"main.{kind}.yaml" for kind in self.declared}} if declared else {},
            keys={path.removesuffix(".yaml"): path for path in files},
            **{"root": "/project", **self.plan},
        )
        program = WorkflowProgram(environment=self.environment.get)
        with permitting(lambda: capabilities_of(plan, {})):
            outcome = await program.run(plan, self.recorder, self.models)
        return Ran(outcome, self.models, self.recorder)

    async def restarted(self) -> Ran:
        """The same run after a crash of the engine: same journal, same models."""
        return await Lab(
            self.texts, self.models, self.recorder.again(), self.environment, self.plan, self.declared
        ).run()


def whole(key: str, text: str) -> str:
    """A workflow file from the part that matters; `execution` is added where none is written."""
    body = textwrap.dedent(text).strip("\n")
    head = f"$schema: workflow/v2.0\nname: {key.rpartition('/')[2]}\nversion: 1.0.0\n"
    return head + ("" if "execution:" in body else MODEL) + body + "\n"


def lab(
    texts: str | dict[str, str],
    script: dict[str, Any] | None = None,
    environment: dict[str, str] | None = None,
    **plan: object,
) -> Lab:
    files = {"main": texts} if isinstance(texts, str) else texts
    return Lab(files, ScriptedModels(script), environment=environment or {}, plan=plan)


async def run(
    texts: str | dict[str, str],
    script: dict[str, Any] | None = None,
    environment: dict[str, str] | None = None,
    **plan: Any,
) -> Ran:
    """Run the first workflow of `texts` to its end."""
    return await lab(texts, script, environment, **plan).run()
