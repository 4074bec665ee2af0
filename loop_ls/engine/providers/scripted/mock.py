"""The built-in script of a mock run: any workflow runs, without a key, the same every time.

Steps say who they are and quote their prompt; judges say NO in the first iteration and YES from the
second on, so that a loop is seen looping. A file `<name>.answers.yaml` next to the workflow replaces it.
"""

from __future__ import annotations

import json

from loop_ls.engine.core.ports import ModelRequest
from loop_ls.engine.providers.scripted.script import Line, Script, iteration, step

QUOTED = 60


class MockScript(Script):
    """Makes its lines up from the question."""

    __slots__ = ()

    def line(self, request: ModelRequest) -> Line:
        turn = iteration(request.place)
        if request.purpose == "judge":
            return Line(_verdict(request.prompt, turn >= 2))
        if request.purpose == "review":
            return Line("APPROVED" if turn >= 2 else "NEEDS CHANGES: mock reviewers always want a second round")
        words = " ".join(request.prompt.split())
        quoted = words if len(words) <= QUOTED else words[: QUOTED - 1] + "…"
        return Line(f"mock answer of {step(request.place) or 'the step'}, iteration {turn}, to: {quoted}")


def _verdict(prompt: str, met: bool) -> str:
    """In the words that the question asks for."""
    if "NOT_ACHIEVED" in prompt:
        return "ACHIEVED" if met else "NOT_ACHIEVED\nMock goals always take a second round."
    if '"requirements_met"' in prompt:
        return json.dumps({"requirements_met": met, "quality_pass": met, "findings": [], "rationale": "mock"})
    return "YES" if met else "NO"


MOCK = MockScript((), source="the built-in mock")
