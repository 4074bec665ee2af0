"""What the engine lists as startable: workflows, role loops with stages and end, assistants; faults included."""

from __future__ import annotations

import json
from pathlib import Path

from jsonschema import Draft202012Validator

from loop_ls.app.catalogue import catalogue
from loop_ls.engine.api.schemas import components
from loop_ls.engine.roles.definitions import seed
from tests.cli.conftest import CALLEE, DEVELOP

ASSISTANT = "name: Writer\npersona: You write.\nloopEnabled: true\nloopCriteria: {type: regex, value: DONE}\n"
ROLE_LOOP = {
    "name": "twice",
    "description": "Two rounds.",
    "roles": [{"role": "coder", "prompt": "Work on it"}],
    "termination_condition": {"type": "iteration_bound", "value": 2},
}


async def test_every_format_is_there_with_the_documented_columns(tmp_path: Path) -> None:
    root, data = tmp_path / "root", tmp_path / "data"
    (root / "loops").mkdir(parents=True)
    (root / "draft.yaml").write_text(CALLEE, "utf-8")
    (root / "develop.yaml").write_text(DEVELOP, "utf-8")
    (root / "broken.yaml").write_text(DEVELOP.replace("workflow: draft", "workflow: nowhere"), "utf-8")
    (root / "writer.assistant.yaml").write_text(ASSISTANT, "utf-8")
    (root / "loops" / "twice.json").write_text(json.dumps(ROLE_LOOP), "utf-8")
    (root / "loops" / "bad.json").write_text('{"name": "bad"', "utf-8")
    data.mkdir()
    seed(data)
    rows = await catalogue(root, data)()
    schema = Draft202012Validator({**components()["Definition"], "components": {"schemas": components()}})
    for row in rows:
        schema.validate(json.loads(json.dumps(row)))
    found = {(row["format"], row["path"]): row for row in rows}
    twice = found["role_loop", "loops/twice.json"]
    assert twice["roles"] == [{"role": "coder", "prompt": "Work on it", "max_iterations": None}]
    assert twice["termination"] == ROLE_LOOP["termination_condition"]
    assert found["workflow", "draft.yaml"]["error"] is None
    assert "WF" in found["workflow", "broken.yaml"]["error"]
    assert found["assistant", "writer.assistant.yaml"]["name"] == "writer"
    assert found["role_loop", "loops/bad.json"]["error"]
    assert any(row.get("builtin") for row in rows)
    assert len(rows) == len(found)
