"""`loop-ls test`: run a loop file on each of its test cases and judge the runs by its checks.

Every trial is a run of its own, so what it cost and why it failed is in the record of runs like all else. Exit status:
0 when all passed, 1 when one did not, 2 when a trial was refused, 5 when Ctrl-C stopped one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from loop_ls.cli.arguments import add_model, from_one, print_json
from loop_ls.cli.commands.run import RunOptions, completed, start
from loop_ls.cli.engine.connect import REFUSED, add_place, engine_for, refuse, settled
from loop_ls.cli.runs.run_request import Wrong, asked_instead, found_file, found_loop, loop_beside, target_of
from loop_ls.cli.watch.interrupt import INTERRUPTED
from loop_ls.cli.watch.unseen import NOBODY_ANSWERS, Unseen, to_the_end
from loop_ls.cli.watch.words import error_text
from loop_ls.client import EngineClient
from loop_ls.client.refusal import refusal
from loop_ls.contract.endings import ending
from loop_ls.engine.checks.case_input import case_input
from loop_ls.engine.checks.declared import unusable
from loop_ls.engine.checks.outcome import recorded_score
from loop_ls.engine.context.workspace_files import ProjectFiles
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.enhance.report.failures import is_of_provider
from loop_ls.formats.checks.file_format import cases_paths
from loop_ls.formats.checks.model import Case
from loop_ls.formats.checks.read import read_cases
from loop_ls.formats.registry import claimed, told_as
from loop_ls.index.disk.discovery import read_text
from loop_ls.report.trials import Trial, summary_line, trial_id, trial_lines, trials_as_junit
from loop_ls.text.json_value import JsonObject, plain_object

if TYPE_CHECKING:
    from loop_ls.contract.answers import Agreed, Refusal
    from loop_ls.contract.run_state import RunStateView

HELP = "run a loop file on its test cases and judge it by its checks"


#: So many names are told where none fits.
_NAMES = 8


class Refused(Exception):
    """A trial could not be started; the answer says why."""

    def __init__(self, answer: Refusal) -> None:
        super().__init__(answer["message"])
        self.answer = answer


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", metavar="FILE|NAME", help="A loop file, or the name of a workflow, role loop or assistant"
    )
    parser.add_argument("-k", dest="named", metavar="NAME", help="Only test cases whose name contains this")
    parser.add_argument("--repeat", type=from_one, default=1, metavar="N", help="Run each test case this many times")
    parser.add_argument("--junit", metavar="FILE", help="Write a report for build servers (JUnit XML)")
    add_model(parser)
    parser.add_argument("--budget-usd", type=float, metavar="N", help="Maximum cost of one run in dollars")
    parser.add_argument(
        "--mock", action="store_true", help="Use scripted answers instead of models: no API key, no cost"
    )
    parser.add_argument(
        "--yes", action="store_true", help="Allow the programs and endpoints the runs use, without asking"
    )
    parser.add_argument("--json", action="store_true", help="Print one JSON object instead of text")
    add_place(parser)


@dataclass(frozen=True, slots=True)
class Suite:
    """The cases of one loop file, of which `name` is to run where it holds several loops. `path` is that of the file
    of cases, relative to `root`."""

    root: Path
    file: Path
    name: str
    path: str
    cases: tuple[Case, ...]

    def chosen(self, named: str | None) -> tuple[Case, ...]:
        """Raises `Wrong` where that is none."""
        found = tuple(one for one in self.cases if named is None or named.casefold() in one.name.casefold())
        if not found:
            listed = ", ".join(f"`{one.name}`" for one in self.cases[:_NAMES])
            more = f" and {len(self.cases) - _NAMES} more" if len(self.cases) > _NAMES else ""
            raise Wrong(f"No test case in {self.path} matches `{named}`; there are {listed}{more}")
        return found


def run(args: argparse.Namespace) -> int:
    try:
        suite = _suite(*_loop_file(args))
        cases = suite.chosen(args.named)
        _require_writable(args.junit)
        requests = [(case, _request(suite, case, args)) for case in cases]
    except (Wrong, Failure) as wrong:
        hint = wrong.hint if isinstance(wrong, Failure) else ""
        return refuse(refusal("bad_argument", f"{str(wrong).rstrip('.')}.", hint), args.json)
    manner = RunOptions(args.json, agreed=args.yes)

    async def work() -> int:
        trials: list[Trial] = []
        async with await engine_for(args, suite.root) as engine:
            try:
                startable = await _startable(engine, requests, manner)
                for trial_name, case, request in _in_turn(suite, startable, args.repeat):
                    trial, goes_on = await _trial(engine, trial_name, case, request, manner)
                    trials.append(trial)
                    if not args.json:
                        print("\n".join(trial_lines(trial)), flush=True)
                    if not goes_on:
                        return max(_told(suite, trials, args), INTERRUPTED)
            except Refused as refused:
                if trials:
                    _write_report(suite, trials, args)
                return refuse(refused.answer, args.json)
        return _told(suite, trials, args)

    return settled(work, args.json)


def _in_turn(
    suite: Suite, requests: Iterable[tuple[Case, JsonObject]], repeat: int
) -> Iterator[tuple[str, Case, JsonObject]]:
    """Each case once before the second time of the first: one that always fails is seen early. One that is left out
    is told once."""
    listed = list(requests)
    for number in range(1, repeat + 1):
        for case, request in listed:
            if not case.skip:
                yield trial_id(suite.path, case.name, number, repeat), case, request
            elif number == 1:
                yield trial_id(suite.path, case.name, 1, 1), case, request


def _loop_file(args: argparse.Namespace) -> tuple[Path, Path, str]:
    """The workspace, the file, and the loop of it that was named; of test cases and checks, their loop file. Raises
    `Wrong`."""
    what = str(loop_beside(args.what) or args.what)
    return found_loop(what, args.root, args.data_dir) or (*found_file(what, args.root), "")


def _suite(root: Path, file: Path, name: str) -> Suite:
    """Raises `Wrong` and `Failure`."""
    place = file.relative_to(root).as_posix()
    for path in cases_paths(place):
        text = read_text(str(root / path))
        if text is None:
            continue
        found = read_cases(text)
        if isinstance(found, list):
            raise unusable(path, found)
        return Suite(root, file, name, path, found)
    beside = next(iter(cases_paths(place)), place)
    raise Wrong(f"{place} has no test cases ({beside} not found); use `loop-ls run --check` to check a single run")


def _request(suite: Suite, case: Case, args: argparse.Namespace) -> JsonObject:
    """Raises `Failure` for a file that is not there."""
    files = ProjectFiles.of(str(suite.root), {})
    folder = suite.file.relative_to(suite.root).parent.as_posix()
    given = case_input(case, lambda written: files.read(written, folder, "file of a test case"))
    request: JsonObject = {
        "root": str(suite.root),
        "path": str(suite.file),
        "target": target_of(suite.file, suite.name),
        "origin": "cli",
        "mock": bool(args.mock),
        "enhance": {"start": False},
        "check": {"case": case.name},
        "parameters": given.parameters,
        **asked_instead(args),
    }
    if given.input is not None:
        request[told_as(claimed(suite.file.as_posix()))] = given.input
    if args.budget_usd is not None:
        request["limits"] = {"budgetUsd": args.budget_usd}
    return request


async def _trial(
    engine: EngineClient, name: str, case: Case, request: JsonObject, manner: RunOptions
) -> tuple[Trial, bool]:
    """Also whether to go on: not after Ctrl-C. Raises `Refused`."""
    if case.skip:
        return Trial(name, "skipped", (case.skip,)), True
    status = await engine.engine_status()
    if not status["ok"]:
        raise Refused(status)
    answer = await start(engine, request, manner)
    if not answer["ok"]:
        raise Refused(answer)
    run_id = answer["runId"]
    followed = await to_the_end(engine, run_id, status["engine"]["position"], manner.may_ask)
    ended = await engine.status(run_id)
    if not ended["ok"]:
        raise Refused(ended)
    return _judged(name, followed, ended["state"]), not followed.interrupted


def _judged(name: str, followed: Unseen, state: RunStateView) -> Trial:
    """What came of the run of a trial."""
    checked = [event for event in followed.events if event["kind"] == "checked"]
    wrong = [event for event in checked if event.get("verdict") != "pass"]
    problems = [_problem(event) for event in wrong]
    undecided = any(event.get("verdict") == "error" and not _warns(event) for event in wrong)
    trial = Trial(
        name, "passed", (), state["runId"], state["elapsedMs"] / 1000, state.get("costUsd"), recorded_score(checked)
    )
    if state.get("exitCode") == 0:
        return replace(trial, problems=tuple(problems))
    if followed.unanswered:
        problems.append(f"the run {NOBODY_ANSWERS}")
    elif followed.interrupted:
        goes_on = state.get("exitCode") is None
        problems.append("the run continues" if goes_on else "the run was stopped")
    elif state.get("reason") != "verification":
        problems.append(_how_it_ended(state))
    unable = is_of_provider(plain_object(state.get("error") or {}))
    no_verdict = undecided or unable or followed.unanswered or followed.interrupted
    return replace(trial, ending="error" if no_verdict else "failed", problems=tuple(problems))


def _how_it_ended(state: RunStateView) -> str:
    told = ending(state)
    short = told["short"] if told else state["status"]
    why = error_text(state) or state.get("because") or ""
    return f"the run ended: {short}" + (f": {why}" if why and why != short else "")


def _warns(event: JsonObject) -> bool:
    return event.get("severity") == "warn"


def _problem(event: JsonObject) -> str:
    iteration = f", iteration {event['iteration']}" if event.get("iteration") else ""
    kind = "warning: " if _warns(event) else "no verdict: " if event.get("verdict") == "error" else ""
    return f"{kind}{event['check']} ({event.get('on', 'result')}{iteration}): {event.get('reason', '')}"


def _told(suite: Suite, trials: list[Trial], args: argparse.Namespace) -> int:
    passed = all(one.passes for one in trials)
    written = _write_report(suite, trials, args)
    if args.json:
        print_json({"ok": passed, "trials": [asdict(one) for one in trials]})
    else:
        print(summary_line(trials))
    if not written:
        return REFUSED
    return 0 if passed else 1


def _write_report(suite: Suite, trials: list[Trial], args: argparse.Namespace) -> bool:
    if not args.junit:
        return True
    try:
        Path(args.junit).write_text(trials_as_junit(suite.path, trials), "utf-8")
    except OSError as error:
        print(f"loop-ls: {_unwritable(args.junit, error)}.", file=sys.stderr)
        return False
    return True


def _require_writable(report: str | None) -> None:
    """Before anything is paid for. Raises `Wrong`."""
    if not report:
        return
    path = Path(report)
    if path.exists() and not path.is_file() and not path.is_dir():
        return  # a pipe or a device: who opens it and goes ends it
    is_new = not path.exists()
    try:
        with path.open("ab"):
            pass
        if is_new:
            path.unlink()
    except OSError as error:
        raise Wrong(_unwritable(report, error)) from None


def _unwritable(report: str, error: OSError) -> str:
    return f"The report {report} cannot be written: {error.strerror or error}"


async def _startable(
    engine: EngineClient, requests: Iterable[tuple[Case, JsonObject]], manner: RunOptions
) -> list[tuple[Case, JsonObject]]:
    """Every test case, with all that a person has said of it: nothing is paid for the first one where a later one is
    refused. Raises `Refused`."""
    found = list[tuple[Case, JsonObject]]()
    for case, request in requests:
        answer: Agreed | Refusal = {"ok": True, "capabilities": []}
        if not case.skip:
            answer, request = await completed(engine, request, manner, engine.agree_only)
        if not answer["ok"]:
            raise Refused({**answer, "message": f"`{case.name}`: {answer['message']}"})
        found.append((case, request))
    return found
