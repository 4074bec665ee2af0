"""The declared checks that a run was started with, read from its plan: nothing of them is read from disk later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from loop_ls.engine.checks.recorded_result import with_variables
from loop_ls.engine.context.model_targets import execution_targets
from loop_ls.engine.context.workflow_library import Library
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.judges.choice import JudgeSettings
from loop_ls.formats.checks.model import AS_STARTED, Case, Check, Checks, checks_of
from loop_ls.formats.checks.model import Target as Place
from loop_ls.formats.checks.read import read_cases, read_checks
from loop_ls.formats.common.target import Target
from loop_ls.formats.file_format import Format
from loop_ls.formats.registry import part_of
from loop_ls.formats.workflow.refusals import Refusal
from loop_ls.text.json_value import Json


@dataclass(frozen=True, slots=True)
class Declaration:
    """Where the checks of a run stand, as its plan holds it: paths below the root, and the name of a case."""

    checks: str = ""
    cases: str = ""
    case: str = ""

    def wire(self) -> dict[str, Json]:
        return {"checks": self.checks, "cases": self.cases, "case": self.case}


def declaration_of(plan: Plan) -> Declaration | None:
    """None: the run is judged by no checks."""
    found = plan.details.get("check")
    if not isinstance(found, Mapping):
        return None
    return Declaration(*(str(found.get(name) or "") for name in ("checks", "cases", "case")))


def declared_checks(plan: Plan) -> tuple[Check, ...]:
    """The checks of the run, with what it was started with in their texts. Raises `Failure` where the files say
    nothing that can be used."""
    checks, verifiers = declared_apart(plan)
    return (*checks, *(says_pass(one, plan.format) for one in verifiers or ()))


def declared_apart(plan: Plan) -> tuple[tuple[Check, ...], tuple[str, ...] | None]:
    """The same without those of its verifiers, and these: the steps that are declared to give a verdict. None:
    nobody says which they are. Raises `Failure`."""
    declaration = declaration_of(plan)
    if declaration is None:
        return (), None
    variables = {**plan.parameters, "input": plan.input or plan.goal or plan.message or ""}
    found, verifiers = _read(declaration, plan.texts)
    return tuple(with_variables(one, variables) for one in found), verifiers


def merged(declaration: Declaration, texts: Mapping[str, str], format_: Format) -> tuple[Check, ...]:
    """The checks of the file and of the case, and that its verifiers say PASS. Raises `Failure`."""
    found, verifiers = _read(declaration, texts)
    return (*found, *(says_pass(one, format_) for one in verifiers or ()))


def _read(declaration: Declaration, texts: Mapping[str, str]) -> tuple[tuple[Check, ...], tuple[str, ...] | None]:
    file = read_checks(texts[declaration.checks]) if declaration.checks else Checks()
    if not isinstance(file, Checks):
        raise unusable(declaration.checks, file)
    return checks_of(file, _case(declaration, texts)), file.verifiers


def says_pass(step: str, format_: Format) -> Check:
    """A step or stage that gives a verdict has to give a good one, as in an enhance loop."""
    return Check(f"{step} says PASS", "verdict", on=Place(part_of(format_), step))


def _case(declaration: Declaration, texts: Mapping[str, str]) -> Case:
    if not declaration.case:
        return AS_STARTED
    cases = read_cases(texts[declaration.cases]) if declaration.cases else ()
    if isinstance(cases, list):
        raise unusable(declaration.cases, cases)
    found = next((one for one in cases if one.name == declaration.case), None)
    if found is None:
        raise Failure("not_found", f"unknown test case `{declaration.case}`")
    return found


def unusable(path: str, refusals: Iterable[Refusal]) -> Failure:
    """The first thing that is wrong with a file of checks or cases."""
    first = next(iter(refusals))
    place = f"{path}:{first.span.start.line + 1}:{first.span.start.column + 1}"
    return Failure("file_has_errors", f"{place}: {first.message} ({first.code})", "see `loop-ls check`")


def commands(checks: Iterable[Check]) -> Iterator[tuple[str, ...]]:
    """The programs that checks start, literally."""
    return (one.words for one in checks if one.type == "command")


def asked_by_checks(plan: Plan) -> list[tuple[str, tuple[Target, ...]]]:
    """Who judges the rubrics of a run, with the check that asks. Raises `Failure`."""
    rubrics = [one for one in declared_checks(plan) if one.type == "llm-rubric"]
    otherwise = judges_otherwise(plan) if rubrics else ()
    return [(f"The check `{one.name}`", judge_of(one, otherwise)) for one in rubrics]


def judges_otherwise(plan: Plan) -> tuple[Target, ...]:
    """Who judges a rubric that names nobody: in the order in which `until` is judged. Only a workflow has models of
    its own that judge."""
    settings = JudgeSettings.of(plan.settings)
    if settings.judge:
        return settings.judge
    return _own_models(plan) or settings.assist


def _own_models(plan: Plan) -> tuple[Target, ...]:
    if not plan.keys:
        return ()
    library = Library.of(plan)
    return execution_targets(library.workflow(library.key_of(plan.path)).execution)


def judge_of(check: Check, otherwise: tuple[Target, ...]) -> tuple[Target, ...]:
    return (Target(check.provider, check.model),) if check.provider and check.model else otherwise
