"""`loop-ls enhance`: run a workflow in rounds and let a planner mend its file between them, without an editor.

The file is written by the engine, whole or not at all, and only while nobody else has changed it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loop_ls.cli.commands import run as plain
from loop_ls.cli.engine.connect import engine_for, refuse, settled
from loop_ls.cli.runs.run_request import Wrong, read_input, wanted
from loop_ls.client import EngineClient
from loop_ls.client.exported_texts import FirstText, first_texts, paths
from loop_ls.client.refusal import refusal
from loop_ls.contract.whole_files import replace_all
from loop_ls.report.terminal_text import shown_lines

if TYPE_CHECKING:
    from loop_ls.contract.answers import Done, EnhanceStatus, Refusal

    class Shown(Done):
        """An answer with what people read of it."""

        markdown: str

    class ShownStatus(EnhanceStatus):
        markdown: str

    Told = Done | Refusal

HELP = "run a workflow repeatedly and improve its file between runs"


def configure(parser: argparse.ArgumentParser) -> None:
    plain.add_start(parser)
    parser.set_defaults(loop=None, goal=None, item=None, plain=False, check=False)  # of a single run
    about = parser.add_mutually_exclusive_group()
    about.add_argument("--timeline", metavar="RUN", help="Show the rounds of an enhance loop instead")
    about.add_argument("--status", metavar="RUN", help="Show the state of an enhance loop")
    about.add_argument("--continue", dest="go_on", metavar="RUN", help="Continue to the next round with the change")
    about.add_argument("--skip", metavar="RUN", help="Continue to the next round without the change")
    about.add_argument("--stop", metavar="RUN", help="Stop an enhance loop")
    about.add_argument("--revert", metavar="RUN", help="Restore the file as it was in round 1")
    about.add_argument("--feedback", metavar="RUN", help="Give feedback on the round, with --text")
    parser.add_argument("--text", metavar="TEXT|-|@FILE", help="The feedback")
    parser.add_argument("--step", metavar="NAME", help="Step that the feedback is about")
    parser.add_argument("--reject", action="store_true", help="Reject the step, or a change that waits for an answer")


def run(args: argparse.Namespace) -> int:
    for name, told in _ABOUT.items():
        if getattr(args, name) is not None:
            return _about(args, str(getattr(args, name)), told)
    try:
        asked = wanted(args)
    except Wrong as wrong:
        return refuse(refusal("bad_argument", f"{wrong}."), args.json)
    request = {**asked.request, "enhance": {"start": True, "headless": True}}
    manner = plain.RunOptions(args.json, args.verbose, args.detach, args.yes)

    async def work() -> int:
        async with await engine_for(args, asked.root) as engine:
            return await plain.start_and_watch(engine, request, manner)

    return settled(work, args.json)


def _about(args: argparse.Namespace, run_id: str, tell: Tell) -> int:
    """A word to an enhance loop that is there, or a question about it."""
    from loop_ls.cli.engine.connect import root_of

    async def work() -> int:
        async with await engine_for(args, root_of(args.root)) as engine:
            answer = await tell(engine, run_id, args)
            if not answer["ok"]:
                return refuse(answer, args.json)
            told = answer.get("markdown") or "done"
            print(json.dumps(answer, ensure_ascii=False) if args.json else shown_lines(str(told)))
            return 0

    return settled(work, args.json)


async def _timeline(engine: EngineClient, run_id: str, args: argparse.Namespace) -> Told:
    return await engine.enhance(run_id, "timeline")


async def _status(engine: EngineClient, run_id: str, args: argparse.Namespace) -> Told:
    answer = await engine.enhance(run_id, "status")
    if not answer["ok"]:
        return answer
    state = answer["state"]
    said = (state["state"].replace("_", " "), state.get("shown"), state.get("because"))
    shown_status: ShownStatus = {**answer, "markdown": " · ".join(one for one in said if one)}
    return shown_status


async def _continue(engine: EngineClient, run_id: str, args: argparse.Namespace) -> Told:
    return await engine.enhance(run_id, "choose", {"choice": "continue"})


async def _skip(engine: EngineClient, run_id: str, args: argparse.Namespace) -> Told:
    return await engine.enhance(run_id, "choose", {"choice": "skip"})


async def _stop(engine: EngineClient, run_id: str, args: argparse.Namespace) -> Told:
    return await engine.stop(run_id)


async def _feedback(engine: EngineClient, run_id: str, args: argparse.Namespace) -> Told:
    if args.text is None:
        return refusal("bad_argument", "`--feedback` needs `--text`.")
    try:
        text = await asyncio.to_thread(read_input, args.text)
    except Wrong as wrong:
        return refusal("bad_argument", f"{wrong}.")
    given = {"text": text, "negative": bool(args.reject)}
    answer = await engine.enhance(run_id, "feedback", {**given, **({"step": args.step} if args.step else {})})
    if not answer["ok"] or not args.reject:
        return answer
    now = await engine.enhance(run_id, "status")  # a change that waits for an answer is kept out by that
    waits = now["ok"] and now["state"]["state"] in ("awaiting_user", "conflict")
    done: Shown = {"ok": True, "markdown": (now["state"].get("because") if now["ok"] and waits else None) or "done"}
    return done


async def _revert(engine: EngineClient, run_id: str, args: argparse.Namespace) -> Told:
    """The files as round 1 ran them, unless the loop still runs or somebody changed one of them since."""
    answer = await engine.export(run_id)
    if not answer["ok"]:
        return answer
    found = first_texts(answer["run"])
    if found is None:
        return refusal("not_found", "The texts of the first round are not in the record.")
    now = {one: await asyncio.to_thread(_read, one.path) for one in found.files}
    if refused := found.refusal(now):
        return refusal("wrong_status", refused)
    try:
        await asyncio.to_thread(_put_back, [one for one, text in now.items() if text != one.text])
    except OSError as error:
        return refusal("wrong_status", f"Nothing was restored: {error}.")
    done: Shown = {"ok": True, "markdown": f"{paths(found.files)} restored to round 1"}
    return done


def _put_back(files: Sequence[FirstText]) -> None:
    """Those that were deleted meanwhile included. Raises `OSError`; then no file was changed."""
    for one in files:
        if not one.path.exists():
            one.path.touch()
    replace_all({one.path: one.text for one in files})


Tell = Callable[[EngineClient, str, argparse.Namespace], Awaitable["Told"]]
_ABOUT: dict[str, Tell] = {
    "timeline": _timeline,
    "status": _status,
    "go_on": _continue,
    "skip": _skip,
    "stop": _stop,
    "feedback": _feedback,
    "revert": _revert,
}


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None
