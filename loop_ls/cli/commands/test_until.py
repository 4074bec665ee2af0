"""`loop-ls test-until`: ask the judge of a loop about an output, or about all outputs of a run, and show
how often it agrees with itself.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from loop_ls.cli.arguments import print_json
from loop_ls.cli.commands.run import RunOptions, agreed
from loop_ls.cli.engine.connect import add_place, engine_for, refuse, settled
from loop_ls.cli.runs.run_request import Wrong, found_file, read_input
from loop_ls.client import EngineClient
from loop_ls.client.refusal import refusal
from loop_ls.contract.amounts import money
from loop_ls.contract.endings import VERDICTS
from loop_ls.report.terminal_text import first_line, shown
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.contract.answers import Verdicts

HELP = "test a loop's `until` condition against an output"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="FILE|NAME", help="A workflow file, or the name of a workflow")
    parser.add_argument("--loop", required=True, metavar="NAME", help="Loop whose `until` to test")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--output", metavar="TEXT|-|@FILE", help="Text to judge")
    what.add_argument("--run", dest="run_id", metavar="ID", help="Judge all recorded outputs of this run")
    parser.add_argument("--times", type=int, default=1, metavar="K", help="Judge each output this many times")
    parser.add_argument(
        "--mock", action="store_true", help="Use scripted answers instead of models: no API key, no cost"
    )
    parser.add_argument("--yes", action="store_true", help="Allow the endpoint that the judge uses, without asking")
    parser.add_argument("--json", action="store_true", help="Print one JSON object instead of text")
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    try:
        root, path = found_file(args.what, args.root)
        request: JsonObject = {"root": str(root), "path": str(path), "loop": args.loop, "times": args.times}
        if args.output is not None:
            request["output"] = read_input(args.output)
    except Wrong as wrong:
        return refuse(refusal("bad_argument", f"{wrong}."), args.json)
    if args.run_id is not None:
        request["runId"] = args.run_id
    request["mock"] = bool(args.mock)

    async def work() -> int:
        async with await engine_for(args, root) as engine:
            return await _tried(engine, request, args)

    return settled(work, args.json)


async def _tried(engine: EngineClient, request: JsonObject, args: argparse.Namespace) -> int:
    answer = await engine.test_until({"origin": "cli", **request})
    if (
        not answer["ok"]
        and answer["code"] == "consent_required"
        and agreed(answer, RunOptions(args.json, agreed=args.yes))
    ):
        answer = await engine.test_until({"origin": "cli", **request, "consent": engine.agree(answer)})
    if not answer["ok"]:
        return refuse(answer, args.json)
    if args.json:
        print_json(answer)
    else:
        _show(answer)
    return 0


def _show(answer: Verdicts) -> None:
    judge = answer["judge"]
    who = "decided locally" if judge.get("local") else f"judged by {judge.get('provider')}/{judge.get('model')}"
    print(f'"{shown(answer["condition"])}", {who}')
    for row in answer["verdicts"]:
        place = f"iteration {row['iteration']}  " if "iteration" in row else ""
        said = row.get("because") or first_line(row["answer"])
        print(f"  {place}{VERDICTS[row['verdict']]}  {shown(said)}".rstrip())
    for each in answer["agreement"]:
        if each["times"] > 1:
            place = f"iteration {each['iteration']}: " if "iteration" in each else ""
            print(
                f"  {place}{VERDICTS[each['verdict']]} {round(each['agrees'] * each['times'])} of {each['times']} times"
            )
    if any(row["agrees"] < 1 for row in answer["agreement"]):
        print("  The judge is inconsistent: make the condition more specific.")
    if cost := money(answer["costUsd"]):
        print(f"  {cost}")
