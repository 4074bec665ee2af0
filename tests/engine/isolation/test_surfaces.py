"""The changes of a run in a worktree over HTTP, by role, and by the tool of agents."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from loop_ls.engine.api.mcp.agent_tools import Loops, use
from tests.engine.assistants.support.served import OWNER_TOKEN, ServedProject, serving
from tests.engine.isolation.project import prepare

LOOPS = "/api/v1/loops"


async def ask(
    served: ServedProject, method: str, path: str, token: str = OWNER_TOKEN, **body: Any
) -> tuple[int, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {token}"}
    found = await served.http.request(method, f"{LOOPS}/{path}", json=body or None, headers=headers)
    return found.status_code, dict(found.json())


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[ServedProject]:
    async with serving(tmp_path) as project:
        prepare(project)
        yield project


async def test_over_http_who_only_looks_decides_nothing_and_the_second_hears_of_the_first(
    served: ServedProject,
) -> None:
    run_id = (await served.run()).end["runId"]
    viewer = served.token("vic", "viewer")
    status, shown = await ask(served, "GET", f"{run_id}/changes", viewer)
    assert (status, [one["path"] for one in shown["files"]]) == (200, ["a.py", "done", "one"])
    assert (await ask(served, "POST", f"{run_id}/changes", viewer, decision="apply"))[0] == 403
    assert (await ask(served, "POST", f"{run_id}/restore", viewer, iteration=1))[0] == 403
    assert not (served.root / "done").exists()
    assert (await ask(served, "POST", f"{run_id}/changes", decision="merge"))[0] == 400
    status, back = await ask(served, "POST", f"{run_id}/restore", iteration=1)
    assert (status, back["decision"], back["changed"]) == (200, "restored", 2)
    status, done = await ask(served, "POST", f"{run_id}/changes", decision="discard")
    assert (status, done["decision"]) == (200, "discarded")
    status, late = await ask(served, "POST", f"{run_id}/changes", decision="apply")
    assert (status, late["error"]) == (409, f"The changes of run {run_id} have been discarded.")


async def test_an_agent_is_shown_the_changes_and_applies_what_its_user_wants(served: ServedProject) -> None:
    run_id = (await served.run()).end["runId"]
    loops = cast("Loops", served.engine)
    told, failed = await use(loops, "loop_changes", {"id": run_id})
    assert not failed
    assert "changed: a.py\nadded: done\nadded: one" in told
    assert "-old\n+new" in told
    assert await use(loops, "loop_changes", {"id": run_id, "decision": "apply"}) == (
        f"The changes of loop {run_id} are applied.",
        False,
    )
    told, failed = await use(loops, "loop_changes", {"id": run_id, "decision": "apply"})
    assert (failed, "applied already" in told) == (True, True)
