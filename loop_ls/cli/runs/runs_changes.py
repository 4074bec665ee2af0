"""Verbs of `loop-ls runs` for the changes of a run in a worktree of its own: changes, apply, keep, discard, restore."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from loop_ls.cli.arguments import from_one, print_json
from loop_ls.cli.engine.connect import refuse
from loop_ls.cli.runs.runs_again import RUN, Common, Work
from loop_ls.cli.watch.words import changes_to_decide
from loop_ls.client import EngineClient
from loop_ls.contract.amounts import count
from loop_ls.report.terminal_text import shown

if TYPE_CHECKING:
    from loop_ls.contract.answers import ChangesDone

_SIGNS = {"added": "A", "changed": "M", "deleted": "D"}
_LINES = {
    "changes": "Show what a run changed in a worktree of its own",
    "apply": "Apply the changes of a run to your files: all of them, or none",
    "keep": "Keep the branch with the changes of a run, and remove its worktree",
    "discard": "Delete the branch and the worktree with the changes of a run",
}


def configure(verbs: argparse._SubParsersAction[argparse.ArgumentParser], common: Common) -> None:
    for name, line in _LINES.items():
        verb = verbs.add_parser(name, help=line)
        verb.add_argument("id", metavar="ID", help=RUN)
        common(verb, True)
    restore = verbs.add_parser("restore", help="Restore the branch of a run to its state after an iteration")
    restore.add_argument("id", metavar="ID", help=RUN)
    restore.add_argument("--iteration", type=from_one, metavar="N", required=True, help="Iteration to go back to")
    restore.add_argument("--loop", metavar="NAME", help="Loop that N refers to, if there are several")
    common(restore, True)


async def _changes(engine: EngineClient, args: argparse.Namespace) -> int:
    answer = await engine.changes(args.id)
    if not answer["ok"]:
        return refuse(answer, args.json)
    if args.json:
        return print_json(answer)
    run_id, files = answer["runId"][:6], answer["files"]
    print(f"{run_id}  {count(len(files), 'changed file')} on branch {shown(answer['branch'])}")
    for one in files:
        print(f"  {_SIGNS[one['status']]} {shown(one['path'])}")
    if answer["diff"]:
        print()
    for line in answer["diff"].splitlines():
        print(shown(line))
    if answer["cut"]:
        print(f"The diff is longer; see git diff {answer['base'][:12]} {answer['commit'][:12]}")
    print()
    print(answer["decision"] if "decision" in answer else changes_to_decide(run_id))
    return 0


async def _decide(engine: EngineClient, args: argparse.Namespace) -> int:
    answer = await engine.decide_changes(args.id, args.verb)
    if not answer["ok"]:
        return refuse(answer, args.json)
    return print_json(answer) if args.json else _said(answer)


async def _restore(engine: EngineClient, args: argparse.Namespace) -> int:
    answer = await engine.restore(args.id, args.iteration, args.loop)
    if not answer["ok"]:
        return refuse(answer, args.json)
    return print_json(answer) if args.json else _said(answer, args.iteration)


def _said(answer: ChangesDone, iteration: int | None = None) -> int:
    branch = shown(answer["branch"])
    match answer["decision"]:
        case "applied":
            told = f"{count(answer.get('changed', 0), 'file')} changed in your folder; nothing is committed"
        case "kept":
            told = f"the changes are on branch {branch}"
        case "discarded":
            told = "the changes are discarded"
        case "restored":
            told = f"branch {branch} is as it was after iteration {iteration}, by a new commit"
    print(f"{answer['runId'][:6]}  {told}")
    if left := answer.get("told"):
        print(shown(left))
    return 0


VERBS: dict[str, Work] = {
    "changes": _changes,
    "apply": _decide,
    "keep": _decide,
    "discard": _decide,
    "restore": _restore,
}
