"""The snippets that the VS Code client carries, written from the tables of the server's own completion.

`python -m tests.features.complete.client_snippets` writes them anew; a test compares. They have no prefix, so that the
editor does not offer them beside the server's completion: they are for its menu of snippets, and for the
completion of a window whose server does not run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from loop_ls.cli.commands.new import FILES as TEMPLATES
from loop_ls.features.complete.items.snippets import FILES, LOOPS, STEPS, Snippet
from loop_ls.features.complete.object_files.assistant_snippets import ASSISTANTS
from loop_ls.features.complete.object_files.role_loop import _FILE as ROLE_LOOP
from loop_ls.features.complete.render import item, mapping
from loop_ls.features.complete.style import Style

CLIENT = Path(__file__).resolve().parents[3] / "vscode-client"


def snippets() -> dict[str, dict[str, Any]]:
    """The files of snippets by name."""
    style = Style()
    of_yaml = [_whole(one, mapping(one.pairs, 0, style)) for one in FILES]
    of_yaml += [_whole(one, mapping(one.pairs, 0, style)) for one in ASSISTANTS]
    of_yaml += [_part(one, item(one.pairs, 0, style)) for one in (*STEPS, *LOOPS)]
    settings = (TEMPLATES / "settings.yaml").read_text("utf-8").rstrip().replace("$", "\\$")
    of_yaml.append(("settings of loops", {**_entry(settings, "the file .loop-ls.yaml"), "isFileTemplate": True}))
    role_loop = _entry(ROLE_LOOP, "a definition with two stages, in a folder loops")
    return {
        "yaml.code-snippets.json": dict(of_yaml),
        "json.code-snippets.json": {"role loop: make and judge": {**role_loop, "isFileTemplate": True}},
    }


def text(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _whole(snippet: Snippet, body: str) -> tuple[str, dict[str, Any]]:
    return snippet.label, {**_entry(body, snippet.detail), "isFileTemplate": True}


def _part(snippet: Snippet, body: str) -> tuple[str, dict[str, Any]]:
    return snippet.label, _entry(body, snippet.detail)


def _entry(body: str, detail: str) -> dict[str, Any]:
    return {"description": f"Loop: {detail}", "body": body.split("\n")}


if __name__ == "__main__":
    for name, content in snippets().items():
        (CLIENT / "snippets" / name).write_text(text(content), "utf-8")
