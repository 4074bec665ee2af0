"""The embedded model as a planner, for real: what it proposes may be useless, and its question fits.

`python -m tests.bench.embedded_planner` takes about a minute of one core: too much for the suite, which holds the
question to its characters.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from loop_ls.engine.capabilities.guard import permitting
from loop_ls.engine.capabilities.values import Capabilities, EmbeddedModel
from loop_ls.engine.core.ports import ModelReply, ModelRequest, Waiting
from loop_ls.engine.enhance.plan import propose
from loop_ls.engine.providers import Providers, RunModels
from loop_ls.testing.models import ScriptedModels
from tests.engine.enhance.loops import THREE, Loop, failing

MODEL = "smollm2-135m-instruct"
#: Tokens that the model has for a question and its answer.
CONTEXT = 4_096

STEPS = "".join(
    f"  - name: step_{number}\n    needs: [review]\n    run: Write part {number} of {{{{review}}}}, at length\n"
    for number in range(9)
)
FORTY_LINES = THREE.replace("  - name: publish\n", STEPS + "  - name: publish\n")
LONG = "A long answer that says little. " * 300


class PlannedByTheModel(ScriptedModels):
    """Steps are scripted, the planner is the real model. `replies` are its answers."""

    def __init__(self, models: RunModels, script: dict[str, object]) -> None:
        super().__init__(script)
        self.real, self.replies = models, list[ModelReply]()

    async def ask(
        self,
        request: ModelRequest,
        on_text: Callable[[str], None] | None = None,
        on_wait: Callable[[Waiting], None] | None = None,
    ) -> ModelReply:
        if request.purpose != "planner":
            return await super().ask(request, on_text, on_wait)
        reply = await self.real.ask(replace(request, provider="local", model=MODEL), on_text, on_wait)
        self.replies.append(reply)
        return reply


async def asked_once(folder: Path) -> tuple[ModelReply, list[str]]:
    """The planner's answer, and the codes of what was wrong with it."""
    house = Providers({}, log_folder=folder)
    loop = Loop(
        FORTY_LINES,
        knobs={"maxRounds": 2, "plannerAttempts": 1, "plannerTimeoutSeconds": 900},
        settings={"providers": {"acme": {"kind": "local"}}},
    )
    models = PlannedByTheModel(house.models(), {"draft": LONG, "review": failing("bad_answer", LONG)})
    loop.models = models
    try:
        with permitting(lambda: Capabilities.of([EmbeddedModel()])):
            await loop.run()
    finally:
        await house.aclose()
    [reply] = models.replies
    return reply, [str(one["code"]) for one in loop.of("planner_failed")]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        reply, problems = asyncio.run(asked_once(Path(folder)))
    fits = reply.input_tokens <= CONTEXT - propose._SHORT_ANSWER
    print(f"{reply.input_tokens} tokens asked, {reply.output_tokens} answered, {CONTEXT} there; {problems or 'a plan'}")
    return int(not fits or problems not in ([], ["no_plan"]))


if __name__ == "__main__":
    raise SystemExit(main())
