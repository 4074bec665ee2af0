"""What the first socket, the first client of MCP and the first run need is not loaded at the start of the engine."""

from __future__ import annotations

import subprocess
import sys

OF_OTHERS = ("socketio", "engineio", "wsproto", "aiohttp", "mcp", "dbos", "sqlalchemy", "psycopg", "httpx")
OURS = (
    *("contract.facts.enhance", "engine.transfer.import_schema", "engine.enhance.acknowledgements"),
    *("engine.api.mcp.agent_tools", "engine.api.openapi", "engine.capabilities.derive", "engine.judges.condition"),
    *("engine.roles.program", "engine.assistants.program", "engine.bodies.workflow", "engine.enhance.program"),
    "engine.runs.judge_trial",
)


def test_an_engine_that_starts_loads_nothing_that_it_does_not_answer_its_first_question_with() -> None:
    late = [*OF_OTHERS, *(f"loop_ls.{name}" for name in OURS)]
    code = (
        "import sys, loop_ls.app.engine, loop_ls.engine.process.engine_process\n"
        + f"print([m for m in {late!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
