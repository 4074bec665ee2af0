"""`loop-ls run`: start a run in the engine and watch it. The run lives there, not here."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from loop_ls.cli.arguments import add_model, from_one, print_json
from loop_ls.cli.engine.connect import REFUSED, add_place, engine_for, refuse, settled
from loop_ls.cli.runs.run_request import Wrong, wanted
from loop_ls.client import EngineClient
from loop_ls.client.refusal import refusal
from loop_ls.contract.run_view.parts import part
from loop_ls.report.terminal_text import shown, width
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.contract.answers import Agreed, NewRun, Refusal, Started

Begun = TypeVar("Begun", "Started", "Agreed")

HELP = "run a workflow or a loop and watch it"


def configure(parser: argparse.ArgumentParser) -> None:
    add_start(parser)
    parser.add_argument("--loop", metavar="NAME", help="Only this loop and what it depends on")
    parser.add_argument("--start-from", metavar="NAME", help="Only this step or loop and what runs after it")
    parser.add_argument("--end-at", metavar="NAME", help="Only this step or loop and what runs before it")
    parser.add_argument(
        "--outputs-of",
        metavar="RUN",
        help="Run whose outputs are used for steps that are not run (default: the newest run of the file)",
    )
    parser.add_argument(
        "--pin", action="append", metavar="NAME=TEXT", help="Output to use for a step that is not run; may be repeated"
    )
    parser.add_argument("--goal", metavar="TEXT", help="Goal of a role loop (- or @file as with --input)")
    parser.add_argument("--item", type=from_one, metavar="N", help="Only this item of an iterate loop, from 1")
    parser.add_argument(
        "--compare",
        type=models_named,
        metavar="MODEL,MODEL",
        help="Run once with each of these, PROVIDER/MODEL or MODEL, and compare the runs",
    )
    parser.add_argument("--check", action="store_true", help="Apply the checks next to the file to the run")
    parser.add_argument("--plain", action="store_true", help="Run once, even if `enhance` is on for the workflow")
    parser.add_argument(
        "--agree-only",
        action="store_true",
        help="Show what it may do and allow it without starting it, so that another program can start it later",
    )


def add_start(parser: argparse.ArgumentParser) -> None:
    """What can be said of every start of a workflow, whatever is made of it."""
    parser.add_argument("what", nargs="?", metavar="FILE|NAME", help="A workflow file, or the name of a workflow")
    parser.add_argument("--workflow", metavar="NAME", help="Same as NAME")
    parser.add_argument("--input", "--input-data", metavar="TEXT|-|@FILE", help="Input of the workflow")
    parser.add_argument("--param", action="append", metavar="NAME=VALUE", help="Parameter; may be repeated")
    add_model(parser)
    parser.add_argument(
        "--max-iterations",
        type=from_one,
        metavar="N",
        help="Lower limit than in the file; of an enhance loop, of its rounds",
    )
    parser.add_argument("--budget-usd", type=float, metavar="N", help="Maximum cost of this run in dollars")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="Maximum tokens of this run")
    parser.add_argument("--max-time", metavar="TIME", help="Maximum working time, such as 10m")
    parser.add_argument(
        "--mock", action="store_true", help="Use scripted answers instead of models: no API key, no cost"
    )
    parser.add_argument("--detach", action="store_true", help="Start the run in the background and print its id")
    parser.add_argument(
        "--idempotency-key",
        metavar="KEY",
        help="Starting again with the same key within a day returns the same run instead of a second one",
    )
    parser.add_argument("--json", action="store_true", help="Print one JSON object instead of text")
    parser.add_argument("--verbose", action="store_true", help="Print each evaluation of a condition")
    parser.add_argument(
        "--yes", action="store_true", help="Allow the programs and endpoints the run uses, without asking"
    )
    add_place(parser)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is started and shown. `agreed`: to the endpoints and programs it uses."""

    as_json: bool = False
    verbose: bool = False
    detach: bool = False
    agreed: bool = False

    @property
    def may_ask(self) -> bool:
        return not self.as_json and sys.stdin.isatty() and sys.stderr.isatty()


def run(args: argparse.Namespace) -> int:
    try:
        asked = wanted(args)
        if args.compare and (args.provider or args.model or args.detach or args.agree_only):
            raise Wrong("`--compare` sets the models and waits for the runs")
        if args.compare and args.idempotency_key:
            raise Wrong("`--idempotency-key` is for one run, and `--compare` starts several")
    except Wrong as wrong:
        return refuse(refusal("bad_argument", f"{wrong}."), args.json)
    manner = RunOptions(args.json, args.verbose, args.detach, args.yes)

    async def work() -> int:
        async with await engine_for(args, asked.root) as engine:
            if args.agree_only:
                return await _agree(engine, asked.request, manner)
            if args.compare:
                return await _compare(engine, asked.request, manner, args.compare)
            return await start_and_watch(engine, asked.request, manner)

    return settled(work, args.json)


async def start_and_watch(engine: EngineClient, request: JsonObject, manner: RunOptions) -> int:
    """One run from its start to its end; its exit status."""
    from loop_ls.cli.watch.typed import typed_line
    from loop_ls.cli.watch.watch import watch

    position = 0
    if not manner.detach:
        status = await engine.engine_status()
        if not status["ok"]:
            return refuse(status, manner.as_json)
        position = status["engine"]["position"]
    answer = await start(engine, request, manner)
    if not answer["ok"]:
        return refuse(answer, manner.as_json)
    if manner.detach:
        return detached(answer, manner.as_json)
    if answer.get("repeated"):
        position = 0  # it began before this call, and may have ended since
    ask = typed_line if manner.may_ask else None
    return await watch(engine, answer["runId"], position, as_json=manner.as_json, verbose=manner.verbose, ask=ask)


def models_named(text: str) -> tuple[dict[str, str], ...]:
    """`PROVIDER/MODEL` or `MODEL` each, as a start names them; a model may have slashes of its own behind the first."""
    found = [one.strip() for one in text.split(",") if one.strip()]
    if len(found) < 2:
        raise argparse.ArgumentTypeError(
            f"`{text}` is not a list of two or more models; use PROVIDER/MODEL,PROVIDER/MODEL"
        )
    pairs = (one.partition("/") for one in found)
    return tuple({"provider": head, "model": tail} if slash else {"model": head} for head, slash, tail in pairs)


async def _compare(
    engine: EngineClient, request: JsonObject, manner: RunOptions, models: Sequence[Mapping[str, str]]
) -> int:
    """One run after the other, then all of them side by side. Exit status 0: each ended well, else that of the first
    one that did not. Nothing is paid for one where another cannot be run."""
    from loop_ls.cli.runs.runs_compare import compare
    from loop_ls.cli.watch.interrupt import INTERRUPTED
    from loop_ls.cli.watch.unseen import NOBODY_ANSWERS, to_the_end

    for each in models:
        told: Agreed | Refusal
        told, request = await completed(engine, {**request, **each}, manner, engine.agree_only)
        if not told["ok"]:
            return refuse({**told, "message": f"{'/'.join(each.values())}: {told['message']}"}, manner.as_json)
        request = {name: value for name, value in request.items() if name not in ("consent", "provider", "model")}
    ids, statuses = list[str](), list[int]()
    for each in models:
        status = await engine.engine_status()
        if not status["ok"]:
            return refuse(status, manner.as_json)
        answer = await start(engine, {**request, **each}, manner)
        if not answer["ok"]:
            return refuse(answer, manner.as_json)
        run_id = answer["runId"]
        if not manner.as_json:
            print(shown(f"{'/'.join(each.values())}: {run_id[:6]}"), file=sys.stderr)
        followed = await to_the_end(engine, run_id, status["engine"]["position"], manner.may_ask)
        if followed.interrupted:
            refuse(refusal("interrupted", f"{run_id[:6]} was stopped; nothing is compared."), manner.as_json)
            return INTERRUPTED
        if followed.unanswered:
            print(f"loop-ls: {run_id[:6]} {NOBODY_ANSWERS}.", file=sys.stderr)
        ended = await engine.status(run_id)
        ids.append(run_id)
        statuses.append(int(ended["state"].get("exitCode") or 0) if ended["ok"] else REFUSED)
    return await compare(engine, ids, manner.as_json) or next((one for one in statuses if one), 0)


async def _agree(engine: EngineClient, request: JsonObject, manner: RunOptions) -> int:
    """Nothing that a run is told changes what it may do, so nobody has to say it."""
    told = dict.fromkeys(("input", "goal", "message"), "-")
    answer: Agreed | Refusal = await _consented(engine, {**told, **request}, manner, engine.agree_only)
    if not answer["ok"]:
        return refuse(answer, manner.as_json)
    if manner.as_json:
        return print_json(answer)
    listed = answer["capabilities"]
    for one in listed:
        print(f"it {shown(one)}")
    print("This is now allowed; nothing was started." if listed else "It does nothing that needs your permission.")
    return 0


async def start(engine: EngineClient, request: JsonObject, manner: RunOptions) -> Started | Refusal:
    """Start; ask the person for what is missing, once."""
    answer: Started | Refusal = await _consented(engine, request, manner, engine.start)
    if answer["ok"]:
        for told in answer.get("warnings", ()):
            print(shown(f"! {told}"), file=sys.stderr)
    return answer


async def _consented(
    engine: EngineClient,
    request: JsonObject,
    manner: RunOptions,
    begin: Callable[[JsonObject], Awaitable[Begun | Refusal]],
) -> Begun | Refusal:
    """What `begin` answers when the person has agreed and said what is missing, or would not."""
    return (await completed(engine, request, manner, begin))[0]


async def completed(
    engine: EngineClient,
    request: JsonObject,
    manner: RunOptions,
    begin: Callable[[JsonObject], Awaitable[Begun | Refusal]],
) -> tuple[Begun | Refusal, JsonObject]:
    """The same, and the request with all that the person has said."""
    asked = False
    while True:
        answer = await begin(request)
        if answer["ok"]:
            return answer, request
        names = answer.get("names")
        match answer["code"]:
            case "consent_required" if "consent" not in request and agreed(answer, manner):
                request = {**request, "consent": engine.agree(answer)}
            case "input_required" if manner.may_ask and names and not asked:
                asked = True
                request = _with_inputs(request, _ask_inputs(names))
            case _:
                return answer, request


def agreed(answer: Refusal, manner: RunOptions) -> bool:
    if manner.agreed:
        return True
    if not manner.may_ask:
        answer["hint"] = "Review what it uses, then allow it with `--yes`. " + answer["hint"]
        return False
    told = [shown(answer["message"]), *(f"  it {shown(str(one))}" for one in answer.get("capabilities", ()))]
    for line in (*told, *_out_of_sight(told)):
        print(line, file=sys.stderr)
    return _line("Allow? [y/N] ").strip().lower() in ("y", "yes")


def _out_of_sight(told: list[str]) -> list[str]:
    """What is said where the beginning of a question has left the screen: a project may write as much as it wants."""
    columns, rows = shutil.get_terminal_size()
    taken = sum(max(1, -(-width(line) // columns)) for line in told)
    if taken < rows:
        return []
    things = f"{len(told) - 1} entries on {taken} lines, more than fit on the screen"
    return [f"These are {things}: scroll up; programs that would be started are listed first."]


def _ask_inputs(names: list[str]) -> dict[str, str]:
    return {name: _line(f"{name}: ") for name in names}


def _line(question: str) -> str:
    from loop_ls.cli.watch.typed import terminal_line

    line = terminal_line(question)
    if line is None:
        raise KeyboardInterrupt
    return line


def _with_inputs(request: JsonObject, given: dict[str, str]) -> JsonObject:
    more = dict(request)
    for name in ("input", "goal", "message"):
        if name in given:
            more[name] = given.pop(name)
    if given:
        more["parameters"] = {**part(request, "parameters"), **given}
    return more


def detached(answer: NewRun, as_json: bool) -> int:
    if as_json:
        print_json(answer)
    else:
        print(answer["runId"])
        print(f"Watch it: loop-ls runs events {answer['runId'][:6]} --follow", file=sys.stderr)
    return 0
