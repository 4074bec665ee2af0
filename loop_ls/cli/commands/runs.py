"""`loop-ls runs`: list, show and control runs. Ids may be shortened as long as they stay unique."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Awaitable, Callable

from loop_ls.cli.arguments import print_json
from loop_ls.cli.engine.connect import add_place, engine_for, refuse, settled
from loop_ls.cli.runs import runs_again, runs_artifacts, runs_changes, runs_inbox, runs_show, runs_table
from loop_ls.cli.watch.words import ending, how_to_answer
from loop_ls.client import EngineClient
from loop_ls.client.refusal import refusal
from loop_ls.contract import questions
from loop_ls.contract.endings import ENDED
from loop_ls.report.run_report import report
from loop_ls.report.terminal_text import shown
from loop_ls.text.json_value import JsonObject, int_field

HELP = "list, show and control runs"

CONTROL = ("pause", "resume", "stop")
USUAL = 20

#: Verbs that mean the newest run where none is named.
OF_THE_NEWEST = ("show", "report", "status", "events", "prompts", "artifacts", "stop")
NO_RUNS, TO_START = "No runs yet.", "Start one: loop-ls run FILE"


def configure(parser: argparse.ArgumentParser) -> None:
    _common(parser)
    _filters(parser)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    listing = verbs.add_parser("list", help="List the newest runs (default)")
    _filters(listing, again=True)
    _common(listing, again=True)
    for name, line in (
        ("show", "Show every iteration with verdict, question, answer and output"),
        ("report", "Show on one page what happened in a run"),
        ("status", "Show the state of a run"),
        ("events", "Print the events of a run, one per line"),
        ("prompts", "Show the prompts that models and agents got, and what they answered"),
        ("artifacts", "List artifacts, todos and notes of a role loop, or print one artifact"),
        ("delete", "Delete a finished run from the record, or all"),
    ):
        verb = verbs.add_parser(name, help=line)
        _add_id(verb, "ID", name in OF_THE_NEWEST)
        _common(verb, again=True)
        if name == "prompts":
            verb.add_argument("place", nargs="?", metavar="PLACE", help="Only this place, such as develop/3")
        if name == "artifacts":
            runs_artifacts.add_options(verb)
        if name == "events":
            verb.add_argument("--follow", action="store_true", help="Keep printing new events")
        if name == "show":
            verb.add_argument("--full", action="store_true", help="Show whole outputs and prompts")
    runs_again.configure(verbs, _common)
    runs_changes.configure(verbs, _common)
    runs_inbox.configure(verbs, _common)
    for name in CONTROL:
        verb = verbs.add_parser(name, help=f"{name.capitalize()} a run, or all")
        _add_id(verb, "ID|all", name in OF_THE_NEWEST)
        _common(verb, again=True)


def _add_id(verb: argparse.ArgumentParser, metavar: str, optional: bool) -> None:
    if optional:
        verb.add_argument("id", metavar=metavar, nargs="?", help="Run id (default: the newest run)")
    else:
        verb.add_argument("id", metavar=metavar, help=runs_again.RUN)


def run(args: argparse.Namespace) -> int:
    return settled(lambda: _run(args), args.json)


async def _run(args: argparse.Namespace) -> int:
    verb = args.verb or "list"
    work: Callable[[EngineClient, argparse.Namespace], Awaitable[int]] = {
        "list": _list,
        "show": _show,
        "report": _report,
        "status": _status,
        "events": _events,
        "prompts": _prompts,
        "artifacts": runs_artifacts.artifacts,
        "delete": _delete,
        **runs_again.VERBS,
        **runs_changes.VERBS,
        **runs_inbox.VERBS,
    }.get(verb, _control)
    async with await engine_for(args) as engine:
        if verb in OF_THE_NEWEST and args.id is None:
            answer = await engine.runs(limit=1)
            if not answer["ok"]:
                return refuse(answer, args.json)
            if not answer["runs"]:
                return refuse(refusal("not_found", NO_RUNS, TO_START), args.json)
            args.id = answer["runs"][0]["runId"]
        return await work(engine, args)


async def _list(engine: EngineClient, args: argparse.Namespace) -> int:
    answer = await engine.runs(status=args.status, limit=args.limit + 1)
    if not answer["ok"]:
        return refuse(answer, args.json)
    states = answer["runs"][: args.limit]
    if args.json:
        return print_json({"ok": True, "runs": states})
    if not states:
        print(f"{NO_RUNS} {TO_START}")
        return 0
    runs_table.table(states)
    for state in states:
        if state["status"] == "waiting_approval":
            short = state["runId"][: runs_table.SHORT]
            asked = state.get("pendingApproval") or {}
            said = f" {questions.first_line(asked)}" if questions.is_protected(asked) else ""
            print(shown(f"{short} waits for your decision:{said} {how_to_answer(short, asked)}"), file=sys.stderr)
    if len(answer["runs"]) > args.limit:
        print(f"More runs: loop-ls runs --limit {args.limit * 5}", file=sys.stderr)
    return 0


async def _show(engine: EngineClient, args: argparse.Namespace) -> int:
    answer = await engine.history(args.id)
    if not answer["ok"]:
        return refuse(answer, args.json)
    if args.json:
        return print_json(answer)
    runs_show.history(answer, full=args.full)
    return 0


async def _report(engine: EngineClient, args: argparse.Namespace) -> int:
    status = await engine.status(args.id)
    if not status["ok"]:
        return refuse(status, args.json)
    state, events, after = status["state"], list[JsonObject](), 0
    while True:
        answer = await engine.events(state["runId"], after)
        if not answer["ok"]:
            return refuse(answer, args.json)
        events += answer["events"]
        after = max([after, *(int_field(event, "seq") or 0 for event in answer["events"])])
        if answer["next"] is None:
            break
    lines = report(state, ending(state), events)
    if args.json:
        return print_json({"ok": True, "runId": state["runId"], "report": list(lines)})
    print("\n".join(lines))
    return 0


async def _status(engine: EngineClient, args: argparse.Namespace) -> int:
    answer = await engine.status(args.id)
    if not answer["ok"]:
        return refuse(answer, args.json)
    if args.json:
        return print_json(answer)
    runs_show.state(answer["state"])
    return 0


async def _events(engine: EngineClient, args: argparse.Namespace) -> int:
    after, ended = 0, False
    while True:
        answer = await engine.events(args.id, after)
        if not answer["ok"]:
            return refuse(answer, args.json)
        for event in answer["events"]:
            _event(event, args.json)
            after, ended = int_field(event, "seq") or after, event["kind"] in ENDED
        if answer["next"] is None:
            break
    return 0 if ended or not args.follow else await _on(engine, args, after)


async def _prompts(engine: EngineClient, args: argparse.Namespace) -> int:
    answer = await engine.prompts(args.id, args.place)
    if not answer["ok"]:
        return refuse(answer, args.json)
    if args.json:
        return print_json(answer)
    for row in answer["prompts"]:
        changed = "  prompt changed" if row.get("changed") else ""
        print(shown(f"{row['place']}  {row['provider']}/{row['model']}{changed}"))
        runs_show.indented(row["prompt"])
        if said := row.get("answer"):
            print("  answer:")
            runs_show.indented(said)
    return 0


async def _on(engine: EngineClient, args: argparse.Namespace, after: int) -> int:
    """What happens from now on, until the run ends."""
    status = await engine.status(args.id)
    if not status["ok"]:
        return refuse(status, args.json)
    async for event in engine.to_the_end(0, status["state"]["runId"]):
        if not 0 < (int_field(event, "seq") or 0) <= after:
            _event(event, args.json)
    return 0


async def _control(engine: EngineClient, args: argparse.Namespace) -> int:
    answer = await engine.control(args.verb, args.id)
    if not answer["ok"]:
        return refuse(answer, args.json)
    if args.json:
        return print_json(answer)
    for row in answer["runs"]:
        print(shown("  ".join([row["runId"][:6], row["status"], *([row["told"]] if "told" in row else [])])))
    if not answer["runs"]:
        print(f"Nothing to {args.verb}.")
    return 0


async def _delete(engine: EngineClient, args: argparse.Namespace) -> int:
    answer = await engine.delete(args.id)
    if not answer["ok"]:
        return refuse(answer, args.json)
    gone = answer["deleted"] if isinstance(answer["deleted"], list) else [str(args.id)]
    return print_json(answer) if args.json else _said(f"deleted {', '.join(gone) or 'nothing'}")


def _event(event: JsonObject, as_json: bool) -> None:
    if as_json:
        print(json.dumps(event, ensure_ascii=False), flush=True)
    else:
        print(shown(runs_show.event_line(event)), flush=True)


def _said(line: str) -> int:
    print(line)
    return 0


def _filters(parser: argparse.ArgumentParser, again: bool = False) -> None:
    unset = argparse.SUPPRESS if again else None
    parser.add_argument("--status", metavar="STATUS", default=unset, help="Only runs with this status, or `active`")
    parser.add_argument(
        "--limit",
        type=_count,
        metavar="N",
        default=argparse.SUPPRESS if again else USUAL,
        help="Maximum number of runs",
    )


def _common(parser: argparse.ArgumentParser, again: bool = False) -> None:
    """Options that may stand before or behind the verb; behind it they have no default of their own."""
    place = argparse.ArgumentParser(add_help=False)
    add_place(place)
    place.add_argument("--json", action="store_true", help="Print one JSON object instead of text")
    for action in place._actions:
        if again:
            action.default = argparse.SUPPRESS
        parser._add_action(action)


def _count(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= 999:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 1 to 999")
    return number
