"""Watching one run to its end: events in, picture or lines out, Ctrl-C stops the run and says what is kept.

Progress goes to standard error, the result to standard output, so that a pipe gets only the result.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from loop_ls.cli.arguments import print_json
from loop_ls.cli.watch.interrupt import INTERRUPTED, Stop
from loop_ls.cli.watch.model import Watched, mark
from loop_ls.cli.watch.plain import told
from loop_ls.cli.watch.questions import Questions
from loop_ls.cli.watch.round_lines import show_rounds
from loop_ls.cli.watch.words import ending, worktree_line
from loop_ls.contract.amounts import count
from loop_ls.contract.run_view.parts import part
from loop_ls.engine.projections.verbose_log import verbose_lines
from loop_ls.report.terminal_text import shown
from loop_ls.text.json_value import JsonObject, plain_object, text_field

if TYPE_CHECKING:
    from loop_ls.cli.watch.live import LivePicture
    from loop_ls.cli.watch.typed import AskLine
    from loop_ls.client import EngineClient
    from loop_ls.contract.run_state import RunStateView

#: Words of `execution.logging`.
LOUD = frozenset({"debug", "verbose", "noisy"})
GONE = "lost the connection to the engine; reconnecting…"


async def watch(
    engine: EngineClient,
    run_id: str,
    position: int,
    *,
    as_json: bool = False,
    verbose: bool = False,
    ask: AskLine | None = None,
) -> int:
    """Follow `run_id` from `position`; its exit status (0, 3, 4, 5). `ask` asks the person what a run wants to
    know; None: nobody can answer."""
    watched = Watched()
    stop, lost = Stop(engine, run_id), _Lost(watched)
    with _screen(watched, lost, as_json) as picture, stop.on_interrupt():
        lost.aloud = picture is None and not as_json
        questions = Questions(engine, run_id, ask, nullcontext if picture is None else picture.put_aside)
        ended = await _follow(engine, run_id, position, watched, picture, lost, stop, questions, verbose, as_json)
    answer = await engine.status(run_id)
    if not answer["ok"]:
        print(f"loop-ls: {shown(answer['message'])}", file=sys.stderr)
        return 2
    if not ended and answer["state"].get("exitCode") is None:
        print(f"The run continues. Watch it: loop-ls runs events {run_id[:6]} --follow", file=sys.stderr)
        return INTERRUPTED
    state = answer["state"]
    _report(state, watched, as_json)
    if state["format"] == "enhance" and not as_json:
        await show_rounds(engine, run_id)
    return state.get("exitCode", 0)


async def _follow(
    engine: EngineClient,
    run_id: str,
    position: int,
    watched: Watched,
    picture: LivePicture | None,
    lost: _Lost,
    stop: Stop,
    questions: Questions,
    verbose: bool,
    as_json: bool,
) -> bool:
    """Whether the run ended; not, when a second Ctrl-C asked to leave it alone."""
    events = engine.follow(position, run_id, lost.tell)
    try:
        while True:
            event = await stop.unless_given_up(anext(events, None))
            if event is None:
                return False
            watched.apply(event)
            verbose = verbose or _is_loud(event)
            for line in _lines(event, watched, verbose, picture is None and not as_json):
                picture.say(line) if picture else print(line, file=sys.stderr, flush=True)
            questions.hear(event, watched.name)
            if watched.end is not None:
                return True
    finally:
        await questions.close()
        await events.aclose()  # type: ignore[attr-defined]


def _is_loud(event: JsonObject) -> bool:
    """Whether the file of the run, which its first fact tells of, asks for as much as `--verbose`."""
    return event["kind"] == "run_started" and part(event, "plan").get("logging") in LOUD


def _lines(event: JsonObject, watched: Watched, verbose: bool, plain: bool) -> Iterator[str]:
    if verbose:
        yield from map(shown, verbose_lines([(str(event["kind"]), event)]))
    if plain and not (verbose and event["kind"] == "warning"):  # it was told in the words of the log
        yield from told(event, watched)


def _report(state: RunStateView, watched: Watched, as_json: bool) -> None:
    output = text_field(watched.end or {}, "finalOutput") or state.get("lastOutput") or ""
    if as_json:
        print_json(_summary(state, output))
        return
    run_id = state["runId"][:6]
    failed = state.get("error")
    if failed:
        print(f"loop-ls: {shown(failed['message'])}", file=sys.stderr)
        if failed.get("hint"):
            print(f"  {shown(failed['hint'])}", file=sys.stderr)
    print(f"   {ending(state, failed['message'] if failed else '')}", file=sys.stderr)
    if state["status"] == "cancelled":
        print(f"   {_kept(watched)}", file=sys.stderr)
    print(f"   Show: loop-ls runs show {run_id}", file=sys.stderr)
    if changed := worktree_line(state):
        print(f"   {shown(changed)}", file=sys.stderr)
    if output and state["status"] == "completed":
        if sys.stderr.isatty():
            print(file=sys.stderr, flush=True)
        print("\n".join(map(shown, output.splitlines())) if sys.stdout.isatty() else output)


def _kept(watched: Watched) -> str:
    """What a stopped run leaves behind: nothing that was finished is lost."""
    rows = [one for part in watched.parts.values() for one in part.rounds]
    judged = [one for one in rows if mark(one) in ("YES", "NO", "?")]
    unjudged = [one for one in rows if one.output and not mark(one)]
    steps = [part for part in watched.parts.values() if not part.is_loop and part.state == "done"]
    kept = [f"{count(len(judged), 'iteration')} with output and verdict"] if judged else []
    kept += [f"{count(len(unjudged), 'iteration')} with output"] if unjudged else []
    kept += [count(len(steps), "step")] if steps else []
    return f"Kept: {' and '.join(kept)}." if kept else "No iteration has finished yet."


def _summary(state: RunStateView, output: str) -> JsonObject:
    names = ("runId", "name", "status", "reason", "iteration", "maxIterations", "costUsd", "tokens", "elapsedMs")
    found = {name: value for name, value in plain_object(state).items() if name in names}
    failed: JsonObject = {"error": plain_object(state["error"])} if "error" in state else {}
    return {"ok": state.get("exitCode") == 0, **found, **failed, "output": output, "exitCode": state.get("exitCode")}


def _screen(watched: Watched, lost: _Lost, as_json: bool) -> AbstractContextManager[LivePicture | None]:
    """The live picture on a terminal, nothing elsewhere."""
    if as_json or not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    from loop_ls.cli.watch.live import LivePicture

    console = Console(stderr=True, highlight=False)
    return nullcontext() if console.is_dumb_terminal else LivePicture(console, watched, lost.hint)


class _Lost:
    """Whether the engine is there, as the picture says it."""

    def __init__(self, watched: Watched) -> None:
        self._watched, self._there = watched, True
        self.aloud = False  # there is no picture that shows it

    def tell(self, up: bool) -> None:
        if self.aloud and up != self._there:
            print("reconnected to the engine" if up else GONE, file=sys.stderr, flush=True)
        self._there = up

    def hint(self) -> str:
        if self._watched.end is not None:
            return ""
        return "Ctrl-C stops the run" if self._there else GONE
