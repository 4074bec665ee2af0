"""An engine in a process of its own whose one run pays a call and then asks a person.

`python asking.py FOLDER` prints the run's id once the question is in the journal, and waits to be
killed. `Asks` is also the program of the engine that comes after it.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from loop_ls.contract.facts.kinds import ManualApprovalRequired, RunStarted
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.loop_driver import Outcome
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Models, Recorder
from loop_ls.engine.core.preparer import Prepared
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.service import Engine
from loop_ls.testing.models import ScriptedModels


class Asks:
    """One call, then one question to a person for each of `loops` at the same time."""

    def __init__(self, folder: Path, loops: tuple[str, ...] = ("develop",)) -> None:
        self.folder, self.loops = folder, loops
        self.recorders: list[Recorder] = []

    async def prepare(self, request: StartRequest, models: Any) -> Prepared:
        return Prepared(RunStarted(format="workflow", name="w", target={"kind": "workflow"}, path=request.path))

    async def run(self, plan: Plan, recorder: Recorder, models: Models) -> Outcome:
        self.recorders.append(recorder)
        answers = await asyncio.gather(*(self.one(recorder, Place().element(name)) for name in self.loops))
        return Outcome("approved" if all(each.approved for each in answers) else "rejected", str(answers[0].feedback))

    async def one(self, recorder: Recorder, place: Place) -> Any:
        turn = place.turn(place.key, 1)
        draft = str(await recorder.call(turn.part("call"), self.pay))
        asked = ManualApprovalRequired(iteration=1, output=draft, loop_id=place.key, revise=True)
        return await recorder.approval(turn, asked)

    async def pay(self) -> str:
        with (self.folder / "paid.log").open("a") as log:
            log.write("paid\n")
        return "draft"

    def engine(self) -> Engine:
        return Engine(self.folder / "data", {"workflow": self}, lambda plan: ScriptedModels(), self)


async def main() -> None:
    engine = Asks(Path(sys.argv[1])).engine()
    await engine.open()
    run_id = (await engine.start({"root": "/tmp", "path": "w.yaml"}))["runId"]
    async for _, event in engine.subscribe(0):
        if event["kind"] == "manual_approval_required":
            print(run_id, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
