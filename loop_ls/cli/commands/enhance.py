"""`loop-ls enhance`: run a workflow in rounds and let a planner mend its file between them, without an editor.

The file is written by the engine, whole or not at all, and only while nobody else has changed it.
"""

from __future__ import annotations

import argparse
import json
import sys

from loop_ls.cli.commands import run as plain
from loop_ls.cli.engine.connect import Answer, engine_for, refuse, settled
from loop_ls.cli.runs.run_request import Wrong, wanted
from loop_ls.client import EngineClient
from loop_ls.report.terminal_text import shown

HELP = "run a workflow in rounds and mend its file between them"


def configure(parser: argparse.ArgumentParser) -> None:
    plain.configure(parser)
    parser.add_argument("--timeline", metavar="RUN", help="show the rounds of an enhance loop instead")


def run(args: argparse.Namespace) -> int:
    if args.timeline is not None:
        return _timeline(args)
    try:
        asked = wanted(args)
    except Wrong as wrong:
        return refuse({"ok": False, "code": "bad_argument", "message": f"{wrong}."}, args.json)
    request = {**asked.request, "enhance": {"start": True, "headless": True}}
    manner = plain.Manner(args.json, args.verbose, args.detach, args.yes)

    async def work() -> int:
        async with await engine_for(args, asked.root) as engine:
            begun: list[str] = []
            status = await plain.start_and_watch(engine, request, manner, begun.append)
            if begun and not manner.as_json and not manner.detach:
                await show_rounds(engine, begun[0])
            return status

    return settled(work, args.json)


def _timeline(args: argparse.Namespace) -> int:
    from loop_ls.cli.engine.connect import root_of

    async def work() -> int:
        async with await engine_for(args, root_of(args.root)) as engine:
            told = await engine.enhance(args.timeline, "timeline")
            if not told["ok"]:
                return refuse(told, args.json)
            print(json.dumps(told, ensure_ascii=False) if args.json else _safe(str(told["markdown"])))
            return 0

    return settled(work, args.json)


async def show_rounds(engine: EngineClient, run_id: str) -> None:
    """What the loop did to the file, in a few lines; all of it is one command away."""
    told: Answer = await engine.enhance(run_id, "timeline")
    if not told["ok"]:
        return
    for entry in told["rounds"]:
        changes = ", ".join(f"{one.get('op')} {one.get('target')}" for one in entry["applied"]) or "no change"
        failed = ", ".join(str(one.get("step")) for one in entry["failed"]) or "nothing"
        print(shown(f"  round {entry['round']}: failed {failed}; {changes}"), file=sys.stderr)
    print(f"All of it: loop-ls enhance --timeline {run_id[:6]}", file=sys.stderr)


def _safe(text: str) -> str:
    return "\n".join(map(shown, text.split("\n")))
