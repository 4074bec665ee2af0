"""Cases and checks of an enhance loop as they are at its start: read, recorded, and what they may cost said before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from loop_ls.contract.amounts import count, money
from loop_ls.engine.checks.case_input import case_input
from loop_ls.engine.checks.declared import unusable
from loop_ls.engine.checks.recorded_result import with_variables
from loop_ls.engine.checks.text_checks import looks_for_nothing
from loop_ls.engine.context.workspace_files import ProjectFiles
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.enhance.evidence.declared import NOT_IN_TRIALS
from loop_ls.engine.enhance.evidence.trials import RecordedCase, RecordedEvidence
from loop_ls.engine.starting.declared_checks import require_places, require_verifiers
from loop_ls.engine.starting.folder import Snapshot
from loop_ls.formats.checks.file_format import cases_paths, checks_paths
from loop_ls.formats.checks.model import Case, Check, Checks, checks_of, held_out
from loop_ls.formats.checks.read import read_cases, read_checks
from loop_ls.formats.settings.enhance import Knobs
from loop_ls.formats.workflow.refusals import Refusal
from loop_ls.index.checked_file import places_in
from loop_ls.text.json_value import Json

T = TypeVar("T")


def evidence_of(snapshot: Snapshot, path: str) -> RecordedEvidence | None:
    """What the start records of the cases beside a workflow; None: there are none. Raises `Refused`."""
    cases_path, checks_path = snapshot.first(cases_paths(path)), snapshot.first(checks_paths(path))
    if not cases_path:
        return None
    cases_text, checks_text = (snapshot.text(one) or "" if one else "" for one in (cases_path, checks_path))
    cases = tuple(one for one in _read(cases_path, read_cases(cases_text)) if not one.skip)
    if not cases:
        told = f"{cases_path}: every test case is skipped, so plans cannot be tested."
        raise Refused("file_has_errors", told, "Remove `skip` from one, or the file.")
    checks = _read(checks_path, read_checks(checks_text)) if checks_text else Checks()
    _there(snapshot, path, checks, cases, checks_path or cases_path)
    held = held_out(cases)
    if len(held) == len(cases):
        raise Refused(
            "file_has_errors",
            f"{cases_path}: all test cases are held out, so none is left for planning.",
            "Hold out fewer test cases.",
        )
    _judged_in_trials(checks, cases)
    files = ProjectFiles.of(snapshot.root, snapshot.settings.raw)
    recorded = [_wire(files, path, one, one.name in held) for one in cases]
    for case, given in zip(cases, recorded, strict=True):
        _with_something_to_look_for(checks_of(checks, case), given)
    return {
        "cases": recorded,
        "texts": {"checks": checks_text, "cases": cases_text},
        "files": {
            name: hashlib.sha256(Path(snapshot.root, name).read_bytes()).hexdigest()
            for name in (cases_path, checks_path)
            if name and Path(snapshot.root, name).is_file()
        },
    }


def told_before(evidence: RecordedEvidence, knobs: Knobs, is_mock: bool) -> list[str]:
    """What somebody should know before so many runs are made."""
    cases = evidence["cases"]
    held = sum(one["held"] for one in cases)
    seen = len(cases) - held
    kind, price = ("mock", "at no cost") if is_mock else ("real", f"for at most {money(knobs.budget_cap_usd)}")
    told = f"Up to {knobs.max_trials} {kind} runs on {count(seen, 'case')} and {held} held out, {price}."
    plans = max(0, knobs.max_trials - seen) // (min(knobs.minibatch, seen) + seen)
    if plans < knobs.max_rounds - 1:
        told += f" `maxTrials` allows about {count(plans, 'plan')}."
    return [told]


def _read(path: str, found: T | list[Refusal]) -> T:
    if isinstance(found, list):
        failure = unusable(path, found)
        raise Refused("file_has_errors", f"{failure.message}.", failure.hint)
    return found


def _there(snapshot: Snapshot, path: str, checks: Checks, cases: Iterable[Case], where: str) -> None:
    """Raises `Refused` for a check or verifier of a step or loop that the workflow does not have."""
    document = snapshot.document(path)
    places = None if document is None else places_in(document)
    if places is None:
        return
    try:
        require_verifiers(checks.verifiers or (), places, where)
        for case in cases:
            require_places(checks_of(checks, case), places, where)
    except Failure as failure:
        raise Refused("file_has_errors", f"{failure.message}.", failure.hint or "see `loop-ls check`") from failure


def declared_verifiers(snapshot: Snapshot, paths: Iterable[str]) -> dict[str, list[str]]:
    """Those that called workflows declare in the checks files beside them, by path. Raises `Refused`."""
    found = dict[str, list[str]]()
    for path in paths:
        beside = snapshot.first(checks_paths(path))
        checks = _read(beside, read_checks(snapshot.text(beside) or "")) if beside else Checks()
        if checks.verifiers is not None:
            _there(snapshot, path, Checks(checks.verifiers), (), beside)
            found[path] = [*checks.verifiers]
    return found


def require_known_verifiers(snapshot: Snapshot, path: str, knobs: Knobs, key: str) -> None:
    """Those that the settings name. Raises `Refused`."""
    _there(snapshot, path, Checks(knobs.verifiers), (), f"`enhance.workflows.{key}.verifiers`")


def _judged_in_trials(checks: Checks, cases: Iterable[Case]) -> None:
    """Raises `Refused`."""
    for case in cases:
        for check in checks_of(checks, case):
            if check.type in NOT_IN_TRIALS:
                told = (
                    f"The check `{check.name}` has type `{check.type}`, which trials of an enhance loop do not support."
                )
                raise Refused(
                    "bad_argument", told, "Exclude it from the test cases (`without`), or check it in a step."
                )


def _with_something_to_look_for(checks: Iterable[Check], case: RecordedCase) -> None:
    """Raises `Refused` for a check that no trial of the case could decide."""
    variables: dict[str, Json] = {**case["parameters"], "input": case["input"] or ""}
    for check in checks:
        if check.severity == "error" and looks_for_nothing(with_variables(check, variables)):
            told = f"The check `{check.name}` has nothing to look for in the test case `{case['name']}`."
            raise Refused("bad_argument", told, "Exclude it with `without` in the test case.")


def _wire(files: ProjectFiles, path: str, case: Case, held: bool) -> RecordedCase:
    """A case with its texts: files are read once, so each trial has the same."""
    folder = path.rpartition("/")[0]
    try:
        given = case_input(case, lambda written: files.read(written, folder, "case file"))
    except Failure as failure:
        raise Refused("file_has_errors", f"Test case `{case.name}`: {failure.message}.", failure.hint) from None
    return {"name": case.name, "input": given.input, "parameters": given.parameters, "held": held}
