"""`loop-ls runs artifacts`: what the stages of a role loop wrote down, and the text of one artifact."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from loop_ls.cli.arguments import print_json
from loop_ls.cli.engine.connect import refuse
from loop_ls.client import EngineClient
from loop_ls.contract.amounts import count
from loop_ls.report.terminal_text import shown

if TYPE_CHECKING:
    from loop_ls.contract.answers import RunArtifacts

#: Characters of ids that are printed.
SHORT = 8
NOTHING = "No artifacts: only stages of role loops create them."


def add_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("artifact", nargs="?", metavar="ARTIFACT", help="Print the text of this one: its id or its title")
    verb.add_argument("--project", action="store_true", help="List those of all loops of the project of the run")


async def artifacts(engine: EngineClient, args: argparse.Namespace) -> int:
    if args.artifact is not None:
        return await _text(engine, args)
    answer = await engine.artifacts(args.id, "project" if args.project else "run")
    if not answer["ok"]:
        return refuse(answer, args.json)
    if args.json:
        return print_json(answer)
    print("\n".join(map(shown, _lines(answer))) or NOTHING)
    return 0


async def _text(engine: EngineClient, args: argparse.Namespace) -> int:
    """On a terminal without what it would obey; elsewhere as it was written."""
    answer = await engine.artifact(args.id, args.artifact)
    if not answer["ok"]:
        return refuse(answer, args.json)
    if args.json:
        return print_json(answer)
    text = answer["content"]
    print("\n".join(map(shown, text.splitlines())) if sys.stdout.isatty() else text)
    return 0


def _lines(answer: RunArtifacts) -> list[str]:
    found = {
        "artifacts": [
            f"{one['id'][:SHORT]}  {one['type']}  {one['title']}  ({count(one['characters'], 'character')})"
            for one in answer["artifacts"]
        ],
        "todos": [f"[{one['status']}] {one['title']}" for one in answer["todos"]],
        "sprints": [f"[{one['status']}] {one['title']}" for one in answer["sprints"]],
        "memories": [f"- {line}" for one in answer["memories"] for line in one["text"].splitlines()[:1]],
    }
    return [line for name, lines in found.items() if lines for line in (name, *(f"  {each}" for each in lines))]
