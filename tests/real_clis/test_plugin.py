"""The plugin folder in the real Claude Code: the model mends a loop file by what it was told of it."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.providers.support.recording_provider import Answer, Asks, RecordingProvider, Request
from tests.real_clis.agents import RealAgent, agents
from tests.real_clis.conftest import installed

PLUGIN = Path(__file__).resolve().parents[2] / "plugins" / "claude-code"
BROKEN = """\
$schema: "workflow/v2.0"
name: draft
version: 1.0.0
descripton: One text.
execution: {provider: scripted, model: m}
steps:
  - {name: write, run: "Write about {{input}}."}
"""


#: How often the model looks for a tool whose server is not up yet.
SEARCHES = 500


@pytest.fixture
def claude(provider: RecordingProvider) -> RealAgent:
    return installed(agents(provider.url)["claude-code"])


@pytest.fixture
def project() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="loop-ls-real-", dir=Path.home(), ignore_cleanup_errors=True) as folder:
        (Path(folder) / "home").mkdir()
        (Path(folder) / "project").mkdir()
        (Path(folder) / "project" / "draft.yaml").write_text(BROKEN)
        yield Path(folder)


async def asked(claude: RealAgent, project: Path) -> str:
    """What Claude Code prints for one question, with the plugin and every tool allowed."""
    scripts = str(Path(sys.executable).parent)
    env = claude.environment(project / "home")
    env |= {"PATH": f"{scripts}:{env['PATH']}", "LOOP_LS_DATA_DIR": str(project / "data"), "IS_SANDBOX": "1"}
    words = [
        "-p",
        "Mend draft.yaml.",
        "--plugin-dir",
        str(PLUGIN),
        "--dangerously-skip-permissions",
        "--model",
        "sonnet",
    ]
    child = await asyncio.create_subprocess_exec(
        *claude.cli(),
        *words,
        cwd=project / "project",
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(child.communicate(), 100)
    assert child.returncode == 0, said.decode()
    return said.decode()


def edit(path: Path, told: str) -> Asks:
    """The change that a finding shows, as the model would make it."""
    old = re.search(r"^\s*-(.*)$", told, re.MULTILINE)
    new = re.search(r"^\s*\+(.*)$", told, re.MULTILINE)
    assert old, told
    assert new, told
    return Asks("Edit", {"file_path": str(path), "old_string": old[1], "new_string": new[1]})


async def test_claude_code_mends_a_file_by_what_loop_check_told_it(
    claude: RealAgent, provider: RecordingProvider, project: Path
) -> None:
    path = project / "project" / "draft.yaml"

    searches = 0

    def answer(request: Request) -> Answer:
        nonlocal searches
        results = request.results
        tool = next((one for one in request.tools if one.endswith("__loop_check")), None)
        if tool is None and "ToolSearch" in request.tools and len(results) < SEARCHES:
            searches += 1  # tools of plugins come when their server is up, and are looked for
            return Asks("ToolSearch", {"query": "loop_check", "max_results": 5})
        match len(results) - searches:
            case 0 if tool is None:
                return "There is nothing to check with."
            case 0 | 3:
                return Asks(str(tool), {"path": "draft.yaml"})
            case 1:
                return Asks("Read", {"file_path": str(path)})
            case 2:
                return edit(path, _text(results[searches]))
            case _:
                return "It is mended."

    provider.answer = answer
    assert "It is mended." in await asked(claude, project)
    assert path.read_text() == BROKEN.replace("descripton", "description")
    results = max((request.results for request in provider.requests), key=len)
    assert "WF" in _text(results[searches])
    assert "draft.yaml: no findings." in _text(results[searches + 3])


def _text(result: str) -> str:
    """The text of a result, which may be a list of blocks."""
    try:
        blocks = json.loads(result)
    except ValueError:
        return result
    return "\n".join(str(block.get("text", "")) for block in blocks) if isinstance(blocks, list) else result
