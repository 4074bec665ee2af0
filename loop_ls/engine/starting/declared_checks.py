"""The declared checks of a start: the files beside the one that is started, read once, and refused where they mean
nothing or name a step or loop that is not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from loop_ls.engine.checks.case_input import case_input
from loop_ls.engine.checks.declared import Declaration, merged
from loop_ls.engine.context.workspace_files import ProjectFiles
from loop_ls.engine.core.errors import Code, Refused
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.starting.folder import Snapshot
from loop_ls.formats.checks.file_format import cases_paths, checks_paths
from loop_ls.formats.checks.model import Check, Target
from loop_ls.formats.checks.read import read_cases
from loop_ls.formats.checks.target import Places
from loop_ls.formats.file_format import Format, StartText
from loop_ls.formats.workflow.model import Loop, Workflow
from loop_ls.text.json_value import Json, from_fields


@dataclass(frozen=True, slots=True)
class DeclaredAtStart:
    """`texts` of the files, and what the plan says of them."""

    texts: dict[str, str] = field(default_factory=dict)
    plan: dict[str, Json] = field(default_factory=dict)


def declaration(
    snapshot: Snapshot, path: str, asked: Mapping[str, Json] | None, format_: Format, places: Places
) -> DeclaredAtStart:
    """`asked` is the `check` of the start: None where nothing is to be judged. With `verifiers` a file that only says
    who gives verdicts will do. Raises `Refused`."""
    if asked is None:
        return DeclaredAtStart()
    checks, cases = snapshot.first(checks_paths(path)), snapshot.first(cases_paths(path))
    case = asked.get("case")
    if case is not None and not isinstance(case, str):
        raise Refused("bad_argument", "`check.case` must be the name of a test case.")
    if not checks and not case:
        beside = next(iter(checks_paths(path)), "")
        raise Refused(
            "not_found", f"{path} has no checks: {beside} not found.", "Create one, or run without `--check`."
        )
    texts = {each: text for each in (checks, cases) if each and (text := snapshot.text(each)) is not None}
    found = Declaration(checks, cases, case or "")
    try:
        declared = merged(found, texts, format_)
        require_places(declared, places, checks or cases)
    except Failure as failure:
        code: Code = "not_found" if failure.code == "not_found" else "file_has_errors"
        raise Refused(code, f"{failure.message}.", failure.hint) from failure
    if not declared and not case and not asked.get("verifiers"):
        hint = "Add one under `assert`, or run without `--check`; `loop-ls check` shows unknown keys."
        raise Refused("file_has_errors", f"{checks} has no checks: everything would pass.", hint)
    return DeclaredAtStart(texts, {"check": found.wire()})


def with_case(snapshot: Snapshot, request: StartRequest, told_as: StartText = "input") -> StartRequest:
    """Where a start names a test case and gives no text, that of the case is meant; `told_as` is where this kind of
    start has it. Raises `Refused`."""
    name = (request.check or {}).get("case")
    path = snapshot.first(cases_paths(request.path))
    if not name or not path or getattr(request, told_as) is not None or request.parameters:
        return request
    cases = read_cases(snapshot.text(path) or "")
    case = None if isinstance(cases, list) else next((one for one in cases if one.name == name), None)
    if case is None:
        return request  # what is wrong with the file, or with the name, is told where its checks are read
    files, folder = ProjectFiles.of(snapshot.root, snapshot.settings.raw), request.path.rpartition("/")[0]
    try:
        given = case_input(case, lambda written: files.read(written, folder, "file of a test case"))
    except Failure as failure:
        raise Refused("file_has_errors", f"Test case `{name}`: {failure.message}.", failure.hint) from None
    return from_fields(partial(replace, request), {told_as: given.input, "parameters": given.parameters})


def places_of_workflow(workflow: Workflow) -> Places:
    loops = [one.name for one in workflow.elements if isinstance(one, Loop) or isinstance(one.mode, Loop)]
    return Places(workflow.name, {"step": [one.name for one in workflow.elements], "loop": loops})


def require_places(checks: Iterable[Check], places: Places, path: str) -> None:
    """Raises `Failure` for a step, stage or loop that the file does not have."""
    for check in checks:
        if (missing := places.missing(check.on)) is not None:
            told = f"the check `{check.name}` looks at `{check.on.written}`, but {missing.told}"
            raise Failure("file_has_errors", f"{path}: {told}")


def require_verifiers(names: Iterable[str], places: Places, where: str) -> None:
    """Raises `Failure` for one that the file does not have: nobody would hear its verdict."""
    for name in names:
        if (missing := places.missing(Target(places.part, name))) is not None:
            raise Failure("file_has_errors", f"{where}: {missing.told}")
