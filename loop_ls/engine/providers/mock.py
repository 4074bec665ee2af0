"""The built-in script of a mock run: any workflow runs, without a key, the same every time.

Steps say who they are and quote their prompt; judges say NO in the first iteration and YES from the
second on, so that a loop is seen looping. A file `<name>.answers.yaml` next to the workflow replaces it.
"""

from __future__ import annotations

from loop_ls.engine.ports import ModelRequest
from loop_ls.engine.providers.script import Line, Script, iteration, step

QUOTED = 60


class MockScript(Script):
    """Makes its lines up from the question."""

    __slots__ = ()

    def line(self, request: ModelRequest) -> Line:
        turn = iteration(request.place)
        if request.purpose == "judge":
            return Line("YES" if turn >= 2 else "NO")
        words = " ".join(request.prompt.split())
        quoted = words if len(words) <= QUOTED else words[: QUOTED - 1] + "…"
        return Line(f"mock answer of {step(request.place) or 'the step'}, iteration {turn}, to: {quoted}")


MOCK = MockScript((), source="the built-in mock")
