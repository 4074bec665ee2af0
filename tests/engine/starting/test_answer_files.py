"""Files of answers that cannot be followed are told at the start: nobody else speaks silently in their place."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.app.engine import build
from loop_ls.engine.providers import Providers
from loop_ls.testing.workflows import whole

STEP = 'execution: {provider: %s, model: m}\nsteps:\n  - {name: write, run: "Write"}\n'


class EngineProject:
    def __init__(self, folder: Path) -> None:
        self.root, self.data = folder / "project", folder / "data"
        self.root.mkdir()
        self.data.mkdir()
        (self.root / "main.yaml").write_text(whole("main", STEP % "ollama"))
        self.assistant = {"name": "A", "persona": "p", "provider": "openai", "loopEnabled": True, "maxIterations": 1}
        (self.root / "a.assistant.json").write_text(json.dumps(self.assistant))

    async def start(self, path: str = "main.yaml", **more: Any) -> dict[str, Any]:
        kind = {"target": {"kind": "assistant"}, "message": "go"} if path.startswith("a.") else {}
        request = {"root": str(self.root), "path": str(self.root / path), "mock": True, **kind, **more}
        return await self.engine.start(request)


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[EngineProject]:
    made = EngineProject(tmp_path)
    providers = Providers({})
    made.engine = build(made.data, providers, made.root)  # type: ignore[attr-defined]
    await made.engine.open()  # type: ignore[attr-defined]
    yield made
    await made.engine.close()  # type: ignore[attr-defined]
    await providers.aclose()


@pytest.mark.parametrize("path", ["main.yaml", "a.assistant.json"])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"answers:\n  - {say: x, fail: server}\n", "answer 1: `fail` belongs inside `say`"),
        (b"answers: [{say: " + b"x" * 10_000_000 + b"}]\n", "8 M"),
        (b"answers: [{say: \xff\xfe\xfa}]\n", "UTF-8"),
        (b"answers: [{say: x\n", "line "),
        (None, "not a file"),
    ],
    ids=["key", "large", "no text", "broken", "folder"],
)
async def test_a_mock_run_whose_answers_cannot_be_read_is_refused(
    project: EngineProject, path: str, content: bytes | None, told: str
) -> None:
    file = project.root / path.replace(".yaml", ".answers.yaml").replace(".json", ".answers.yaml")
    if content is None:
        file.mkdir()
        told = told if path == "main.yaml" else "directory"
    else:
        file.write_bytes(content)
    answer = await project.start(path)
    assert (answer["ok"], answer["code"]) == (False, "file_has_errors"), answer
    assert file.name in answer["message"] and told in answer["message"], answer["message"]
    file.rmdir() if content is None else file.unlink()
    assert (await project.start(path))["ok"]


async def test_answers_that_nobody_needs_keep_no_run_from_its_start(project: EngineProject) -> None:
    """The file is faulty, and its run asks another provider, which has answers of its own."""
    (project.root / "main.answers.yaml").write_bytes(b"\xff\xfe\xfa")
    own = {"kind": "scripted", "script": [{"say": "fine"}]}
    (project.root / ".loop-ls.yaml").write_text(json.dumps({"providers": {"mine": own}}))
    (project.root / "main.yaml").write_text(whole("main", STEP % "mine"))
    answer = await project.start(mock=False)
    assert answer["ok"], answer
    (project.root / "main.yaml").write_text(whole("main", STEP % "scripted"))
    answer = await project.start(mock=False)
    assert (answer["ok"], answer["code"]) == (False, "provider_unavailable"), answer
    assert "main.answers.yaml cannot be read" in answer["message"]
