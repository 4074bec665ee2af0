"""Calling a workflow from another one, for templates and loops.

The callee sees its arguments, its `input` and the `loop.*` of its caller's `with`, and nothing else.
"""

from __future__ import annotations

from loop_ls.engine.bodies.context import Finished, Frame
from loop_ls.engine.bodies.steps import Try
from loop_ls.engine.context.call_arguments import ArgumentFault, Arguments, build_arguments
from loop_ls.engine.context.scope import LoopValues, NoLoop, Scope
from loop_ls.engine.core.location import Place
from loop_ls.engine.core.ports import Failure
from loop_ls.formats.workflow.model import Argument, Template

#: Calls inside calls, counted from the started workflow.
MAX_DEPTH = 16


async def call_workflow(
    frame: Frame, reference: str, arguments: Arguments, loop: LoopValues, place: Place
) -> str | None:
    """Run the workflow that `reference` means, once and isolated: its result, None when it has none."""
    if frame.place.depth >= MAX_DEPTH:
        raise Failure(
            "too_deep",
            f"`{reference}` was not called: workflow calls are already nested {MAX_DEPTH} levels deep",
            "look for a workflow that calls itself, or flatten the calls",
        )
    library = frame.context.library
    key = library.called(frame.key, reference)
    inner = Frame(frame.context, key, library.workflow(key), place.called(key, library.path(key)))
    result = await frame.context.run(inner, Scope(arguments.input, arguments=arguments.values, loop=loop))
    return result.output


def arguments_of(written: dict[str, Argument] | None, scope: Scope, without: str = "") -> Arguments:
    """The arguments of a call. Raises `Failure` where `with` cannot be passed on."""
    try:
        return build_arguments(written, scope, without)
    except ArgumentFault as fault:
        raise Failure("bad_argument", str(fault)) from fault


async def run_template(attempt: Try, template: Template) -> Finished:
    """A `template` step: one call. No result at all is empty text."""
    arguments = arguments_of(template.arguments, attempt.scope)
    warnings = attempt.unknown(arguments.unknown, f"`with` of `{attempt.step.name}`") if attempt.attempt == 1 else []
    recorder, inner = attempt.frame.recorder, attempt.inner
    await recorder.record(inner.part("started"), [attempt.started(), *warnings])
    output = await call_workflow(attempt.frame, template.name, arguments, NoLoop(), inner) or ""
    await recorder.record(inner.part("completed"), [attempt.completed(output)])
    return Finished(attempt.step.name, output)
