"""What a start of another system than workflows is refused for before anything is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from loop_ls.app.engine import build
from loop_ls.engine.providers import Providers

ROLES = """{"name": "talk", "description": "One.", "roles": [{"name": "a", "role": "plan", "prompt": "p"}],
 "termination_condition": {"type": "iteration_bound", "value": 1}}"""


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"enhance": {"start": True}}, "Enhance loops work only for workflows, and loops/talk.json is not one."),
    ],
)
async def test_what_only_workflows_have_is_refused(tmp_path: Path, more: dict[str, object], told: str) -> None:
    (tmp_path / "root" / "loops").mkdir(parents=True)
    (tmp_path / "root" / "loops" / "talk.json").write_text(ROLES)
    engine = build(tmp_path / "data", Providers({}), tmp_path / "root")
    await engine.open()
    try:
        request = {"root": str(tmp_path / "root"), "path": str(tmp_path / "root" / "loops" / "talk.json"), "goal": "x"}
        assert (plain := await engine.start({**request, "mock": True}))["ok"] is True, plain
        answer = await engine.start({**request, "mock": True, **more})
        assert answer["ok"] is False
        assert (answer["code"], answer["message"]) == ("bad_argument", told)
    finally:
        await engine.close()
