"""Commands that only look: what a run would cost, what it would ask, which definitions there are.

They are answered from the snapshot of the editor's texts, without an engine.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from loop_ls.contract.run_view.parts import part
from loop_ls.features.estimate.estimate import estimate as estimated
from loop_ls.features.estimate.estimate import estimate_of_workflow
from loop_ls.features.preview import Preview, PreviewInputs, previews
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.registry import ROLE_LOOP, WORKFLOW, format_of_target, runnable_formats
from loop_ls.formats.workflow.one_model import NoModel, chosen_model
from loop_ls.rules.engine.finding import Severity
from loop_ls.server.command_answers import refused
from loop_ls.text.json_value import JsonObject, as_object, int_field, text_field

if TYPE_CHECKING:
    from loop_ls.contract.run_view.parts import Verdict
    from loop_ls.index.document import Document
    from loop_ls.index.element import Element
    from loop_ls.server.context import Context
    from loop_ls.server.documents.folders import Folder
    from loop_ls.server.documents.session import OpenDocument

#: Seconds that an answer about several files waits for the index.
_INDEX_LIMIT = 5.0
#: Texts that are sent to a model.
_SENT = frozenset({"run", "prompt", "query", "input", "until"})
#: Between the outputs in `loop.history` (D01).
_BETWEEN = "---"


async def estimate(context: Context, argument: JsonObject) -> JsonObject:
    """`loopLs.estimate`."""
    opened, element, problem = await _asked(context, argument, runnable_formats())
    if opened is None:
        return problem
    name = text_field(part(argument, "target"), "name") or None
    provider, model = (text_field(argument, one) or None for one in ("provider", "model"))
    if provider is None and model is None:
        return cast("JsonObject", estimated(opened.workspace, opened.document, element, assistant=name).answer())
    if not opened.document.is_workflow:
        return refused("bad_argument", "`provider` and `model` work only for workflows, and this file is not one.")
    try:
        instead = chosen_model(provider, model, as_object(opened.workspace.settings.raw.get("providers")))
    except NoModel as nobody:
        return refused("bad_argument", nobody.message, nobody.hint)
    found = estimate_of_workflow(opened.workspace, opened.document, element, instead=instead)
    return cast("JsonObject", found.answer())


async def preview(context: Context, argument: JsonObject) -> JsonObject:
    """`loopLs.previewPrompt`."""
    opened, element, problem = await _asked(context, argument)
    if opened is None:
        return problem
    iteration = int_field(argument, "iteration") or 1
    loop: dict[str, str] = {} if iteration == 1 else {"loop.iteration": str(iteration)}
    run_id = text_field(argument, "runId") or None
    if run_id is not None and element is not None:
        verdicts = _verdicts(context, opened, run_id, element)
        if verdicts is None:
            return refused("not_found", f"No run `{run_id}` of `{element.name}` found.")
        loop |= _after(verdicts, iteration)
    found = previews(opened.workspace, opened.document, element, PreviewInputs(loop=loop))
    sent = [one for one in found if one.what in _SENT]
    unresolved = list(dict.fromkeys(name for one in found for name in one.unresolved))
    return {"ok": True, "prompt": _text(sent), "unresolved": unresolved}


async def definitions(context: Context, argument: JsonObject) -> JsonObject:
    """`loopLs.definitions`: those with errors come with the first one."""
    await _all_files(context)
    found = [
        _definition(folder, document)
        for folder in context.session.all_folders()
        for document in folder.documents()
        if document.format == ROLE_LOOP
    ]
    names = {one["name"] for one in found}
    shipped = [one for one in _built_in() if one["name"] not in names]
    answer: JsonObject = {"ok": True}
    answer["definitions"] = [*sorted(found, key=lambda one: (one["name"], one["uri"])), *shipped]
    if argument.get("runnables"):
        from loop_ls.server.runs.runnables import runnables

        answer["runnables"] = runnables(context.session)
    return answer


async def _asked(
    context: Context, argument: JsonObject, formats: frozenset[str] = frozenset({WORKFLOW})
) -> tuple[OpenDocument | None, Element | None, JsonObject]:
    """The document and the element in it, or a refusal."""
    await _all_files(context)
    session, uri = context.session, text_field(argument, "uri")
    opened = session.find(uri) or session.indexed(uri) or session.loaded(uri)
    if opened is None:
        return None, None, refused("not_found", f"`{uri}` is not open and cannot be read.")
    if opened.document.format not in formats:
        name = opened.uri.rpartition("/")[2]
        hint = "A workflow needs `$schema: workflow/v2.0`."
        return None, None, refused("bad_argument", f"`{name}` is not a workflow.", hint)
    if (fault := opened.document.fault) is not None:
        name = opened.uri.rpartition("/")[2]
        return None, None, refused("file_has_errors", f"`{name}` cannot be read: {fault.message}")
    target = part(argument, "target") or {"kind": "workflow"}
    if format_of_target(text_field(target, "kind")) is not None:
        return opened, None, {}
    element = opened.document.element(text_field(target, "name"))
    if element is None:
        return None, None, _no_element(opened.document, target)
    return opened, element, {}


async def _all_files(context: Context) -> None:
    if any(not folder.indexed for folder in context.session.all_folders()):
        with suppress(TimeoutError):
            await asyncio.wait_for(context.indexing.ready(), _INDEX_LIMIT)


def _verdicts(context: Context, opened: OpenDocument, run_id: str, element: Element) -> tuple[Verdict, ...] | None:
    """What is known of each iteration of a loop in a run."""
    for run in context.runs.views(opened):
        if run.run_id == run_id:
            loop = run.loops.get(element.name)
            return () if loop is None else loop.verdicts
    return None


def _after(verdicts: tuple[Verdict, ...], iteration: int) -> dict[str, str]:
    """The variables of a loop at the start of an iteration, where all before it are known. Failed ones leave no
    trace in them."""
    known = [one for one in verdicts if one.iteration < iteration]
    before = [one.output for one in known if one.verdict != "failed"]
    if not before or known[-1].iteration != iteration - 1:
        return {}
    return {"loop.last.output": before[-1], "loop.output": before[-1], "loop.history": _BETWEEN.join(before)}


def _text(sent: list[Preview]) -> str:
    if len(sent) == 1:
        return sent[0].text
    return "\n\n".join(f"## {' → '.join(one.path)}, {one.what}\n\n{one.text}" for one in sent)


def _no_element(document: Document, target: JsonObject) -> JsonObject:
    names = [one.name for one in document.elements if one.name]
    near = nearest(text_field(target, "name"), names)
    hint = f"Did you mean `{near}`?" if near else f"It has {', '.join(f'`{name}`' for name in names[:10])}."
    return refused("not_found", f"No {target['kind']} `{target['name']}` in this workflow.", hint)


def _built_in() -> list[JsonObject]:
    """Those that come with the product: they are started by their name, without a file."""
    from loop_ls.formats.role_loop.built_in_loops import BUILT_IN, built_in_text
    from loop_ls.formats.role_loop.model import RoleLoop
    from loop_ls.formats.role_loop.read import read_role_loop

    found: list[JsonObject] = []
    for name in BUILT_IN:
        loop = read_role_loop(built_in_text(name))
        assert isinstance(loop, RoleLoop)
        roles, parameters = [stage.role for stage in loop.stages], [one.name for one in loop.parameters]
        row = {"name": name, "uri": None, "roles": roles, "parameters": parameters, "valid": True, "builtIn": True}
        found.append({**row, "description": loop.description})
    return found


def _definition(folder: Folder, document: Document) -> JsonObject:
    parts = document.whole.role_loop
    roles = [str(role) for stage in parts.in_run_order if (role := parts.role_of(stage))]
    found: JsonObject = {"name": parts.name or "", "uri": document.uri, "roles": roles}
    found["parameters"] = list(parts.declared)
    errors = [one for one in folder.findings(document) if one.severity is Severity.ERROR]
    found["valid"] = not errors
    if errors:
        first = errors[0]
        found["error"] = {"code": first.rule, "message": first.message, "line": first.span.start.line + 1}
    return found
