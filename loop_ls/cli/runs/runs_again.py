"""Verbs of `loop-ls runs` that make something of runs: fork, replay, diff, compare, export, import, approve, note."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from loop_ls.cli.arguments import from_one, print_json
from loop_ls.cli.engine.connect import refuse
from loop_ls.client import EngineClient
from loop_ls.client.refusal import refusal
from loop_ls.contract.ids import SHORTEST
from loop_ls.contract.questions import DECIDED
from loop_ls.report.terminal_text import shown

if TYPE_CHECKING:
    from loop_ls.contract.answers import Iteration, NewRun, Refusal

Common = Callable[[argparse.ArgumentParser, bool], None]
Work = Callable[[EngineClient, argparse.Namespace], Awaitable[int]]

RUN = f"Run id, or its first {SHORTEST} characters or more"


def configure(verbs: argparse._SubParsersAction[argparse.ArgumentParser], common: Common) -> None:
    fork = verbs.add_parser("fork", help="Start a new run that reuses finished iterations")
    fork.add_argument("id", metavar="ID", help=RUN)
    fork.add_argument("--iteration", type=from_one, metavar="N", help="First iteration to redo (default: continue)")
    fork.add_argument("--loop", metavar="NAME", help="Loop that N refers to (default: the outermost)")
    fork.add_argument("--at", metavar="PLACE", help="Place of the first prompt to redo (runs prompts lists them)")
    fork.add_argument("--prompt", metavar="TEXT|-|@FILE", help="What to ask there instead, once")
    fork.add_argument("--yes", action="store_true", help="Allow what the run may do, without asking")
    replay = verbs.add_parser("replay", help="Apply the recorded answers to the current files, without any calls")
    replay.add_argument("id", metavar="ID", help=RUN)
    replay.set_defaults(yes=False)  # a replay makes no call, so nobody is asked
    for verb in (fork, replay):
        verb.add_argument("--detach", action="store_true", help="Run in the background and print the new run's id")
        verb.add_argument("--verbose", action="store_true", help="Print each evaluation of a condition")
        common(verb, True)
    diff = verbs.add_parser("diff", help="Show what changed between the outputs of two iterations")
    diff.add_argument("id", metavar="ID", help=RUN)
    diff.add_argument("first", type=from_one, metavar="I", help="Iteration whose output is shown with -")
    diff.add_argument("second", type=from_one, metavar="J", help="Iteration whose output is shown with +")
    diff.add_argument("--loop", metavar="NAME", help="Loop of the iterations (default: the outermost)")
    common(diff, True)
    compare = verbs.add_parser("compare", help="Compare runs: ending, model, cost, verdicts, checks, outputs")
    compare.add_argument("id", metavar="ID", nargs="+", help="Two or more runs; outputs are compared with the first")
    compare.add_argument("--full", action="store_true", help="Show the differences of each step and loop")
    common(compare, True)
    export = verbs.add_parser("export", help="Export a run as one JSON file, without secrets")
    export.add_argument("id", metavar="ID", help=RUN)
    export.add_argument("--into", metavar="FILE", help="Output file (default: standard output)")
    common(export, True)
    take = verbs.add_parser("import", help="Import an exported run")
    take.add_argument("file", metavar="FILE|-", help="Output of runs export (-: read from standard input)")
    common(take, True)
    for name, line in (("approve", "Approve a run that waits for you"), ("reject", "Reject a run that waits for you")):
        verb = verbs.add_parser(name, help=line)
        verb.add_argument("id", metavar="ID|all", help="Run id, or all runs that wait for approval")
        verb.add_argument("--loop", metavar="ID", help="Which pending approval, if there are several")
        verb.add_argument("--feedback", metavar="TEXT", help="Feedback for the next round")
        if name == "reject":
            how = verb.add_mutually_exclusive_group()
            how.add_argument(
                "--revise", action="store_true", help="Ask for another iteration instead of ending the loop"
            )
            how.add_argument(
                "--restore", action="store_true", help="Restore protected files that the agent touched, and continue"
            )
        common(verb, True)
    note = verbs.add_parser("note", help="Send a note to a running run: it is added to the next prompt, once")
    note.add_argument("id", metavar="ID", help=RUN)
    note.add_argument("text", metavar="TEXT|-", help="Text of the note (-: read from standard input)")
    common(note, True)


async def _fork(engine: EngineClient, args: argparse.Namespace) -> int:
    from loop_ls.cli.runs.run_request import read_input

    given: dict[str, str | bool] = {"origin": "cli"}
    given |= {name: value for name in ("loop", "at") if (value := getattr(args, name))}
    if args.prompt is not None:
        given["prompt"] = read_input(args.prompt)

    async def begin(consent: str | None) -> NewRun | Refusal:
        more = {"consent": consent} if consent else {}
        return await engine.fork(args.id, args.iteration, detach=args.detach, **given, **more)

    return await _begun(engine, args, begin)


async def _replay(engine: EngineClient, args: argparse.Namespace) -> int:
    async def begin(consent: str | None) -> NewRun | Refusal:
        return await engine.replay(args.id, {"origin": "cli", "detach": args.detach})

    return await _begun(engine, args, begin)


async def _begun(
    engine: EngineClient, args: argparse.Namespace, begin: Callable[[str | None], Awaitable[NewRun | Refusal]]
) -> int:
    """Start the new run and watch it to its end, like `loop-ls run`."""
    from loop_ls.cli.commands.run import RunOptions, agreed, detached
    from loop_ls.cli.watch.watch import watch

    status = await engine.engine_status()
    if not status["ok"]:
        return refuse(status, args.json)
    manner = RunOptions(args.json, args.verbose, args.detach, args.yes)
    answer = await begin(None)
    if not answer["ok"] and answer["code"] == "consent_required" and agreed(answer, manner):
        answer = await begin(engine.agree(answer))
    if not answer["ok"]:
        return refuse(answer, args.json)
    if args.detach:
        return detached(answer, args.json)
    position = status["engine"]["position"]
    return await watch(engine, answer["runId"], position, as_json=args.json, verbose=args.verbose)


async def _diff(engine: EngineClient, args: argparse.Namespace) -> int:
    answer = await engine.history(args.id)
    if not answer["ok"]:
        return refuse(answer, args.json)
    rows = {row["iteration_number"]: row for row in _of_one_loop(answer["history"], args.loop)}
    missing = [number for number in (args.first, args.second) if number not in rows]
    if missing:
        told = f"Run {args.id} has no output of iteration {missing[0]}."
        return refuse(refusal("not_found", told), args.json)
    one, other = (rows[number]["output"].splitlines() for number in (args.first, args.second))
    names = (f"iteration {args.first}", f"iteration {args.second}")
    lines = list(difflib.unified_diff(one, other, *names, lineterm=""))
    if args.json:
        return print_json({"ok": True, "first": args.first, "second": args.second, "diff": "\n".join(lines)})
    for line in lines or ["The outputs are identical."]:
        print(shown(line))
    return 0


def _of_one_loop(rows: list[Iteration], loop: str | None) -> list[Iteration]:
    """The tries that succeeded of the loop that is meant: the named one, else the outermost, else the last."""
    done = [row for row in rows if "output" in row and loop in (None, row["loop"])]
    if not done:
        return []
    least = min(row["depth"] for row in done)
    place = [row for row in done if row["depth"] == least][-1]["place"].rpartition("/")[0]
    return [row for row in done if row["place"].rpartition("/")[0] == place]


async def _compare(engine: EngineClient, args: argparse.Namespace) -> int:
    from loop_ls.cli.runs.runs_compare import compare

    return await compare(engine, args.id, args.json, args.full)


async def _export(engine: EngineClient, args: argparse.Namespace) -> int:
    answer = await engine.export(args.id)
    if not answer["ok"]:
        return refuse(answer, args.json)
    text = json.dumps(answer["run"], ensure_ascii=False, indent=1)
    if args.into is None:
        print(text)
        return 0
    if told := _written(args.into, text + "\n"):
        return refuse(refusal("bad_argument", told), args.json)
    if args.json:
        return print_json({"ok": True, "runId": answer["run"]["runId"], "file": args.into})
    print(f"wrote {args.into}")
    return 0


async def _import(engine: EngineClient, args: argparse.Namespace) -> int:
    try:
        document = json.loads(_read(args.file))
    except (OSError, ValueError, RecursionError) as error:
        why = (error.strerror or error) if isinstance(error, OSError) else "not valid JSON"
        told = f"{args.file} cannot be read: {why}."
        return refuse(refusal("bad_argument", told), args.json)
    answer = await engine.take_in(document)
    if not answer["ok"]:
        return refuse(answer, args.json)
    if args.json:
        return print_json(answer)
    print(f"{answer['runId']}  {'was already imported' if answer['known'] else 'imported'}")
    return 0


async def _decide(engine: EngineClient, args: argparse.Namespace) -> int:
    decision = "approve" if args.verb == "approve" else _refused(args)
    answer = await engine.approve(args.id, args.loop, decision == "approve", decision, args.feedback)
    if not answer["ok"]:
        return refuse(answer, args.json)
    if args.json:
        return print_json(answer)
    resolved = answer["resolved"]
    found = resolved if isinstance(resolved, list) else [] if isinstance(resolved, bool) else [resolved]
    for one in found:
        print(f"{one['runId'][:6]}  {DECIDED.get(one.get('decision') or '', 'answered')}")
    if not found:
        print("No run is waiting for approval.")
    return 0


def _refused(args: argparse.Namespace) -> str:
    return "restore" if args.restore else "revise" if args.revise else "reject"


async def _note(engine: EngineClient, args: argparse.Namespace) -> int:
    answer = await engine.note(args.id, _read(args.text) if args.text == "-" else args.text)
    if not answer["ok"]:
        return refuse(answer, args.json)
    if args.json:
        return print_json(answer)
    waiting = "" if answer["notes"] == 1 else f", after {answer['notes'] - 1} other notes"
    print(f"{answer['runId'][:6]}  gets the note with its next prompt{waiting}")
    return 0


def _written(file: str, text: str) -> str:
    """Why the file could not be written; empty: it is."""
    try:
        Path(file).write_text(text, "utf-8")
    except OSError as error:
        return f"{file} cannot be written: {error.strerror or error}."
    return ""


def _read(file: str) -> str:
    return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")


VERBS: dict[str, Work] = {
    "fork": _fork,
    "replay": _replay,
    "diff": _diff,
    "compare": _compare,
    "export": _export,
    "import": _import,
    "approve": _decide,
    "reject": _decide,
    "note": _note,
}
