"""What each operation does to the copy, and the checks that only its effect allows.

Every function takes the copy as the operations before left it, and gives the next one or raises
`Rejected`. Errors of the document as a whole are found afterwards (see `enhance.plan.apply`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loop_ls.engine.enhance.ops.add import add_loop, add_step, add_verifier
from loop_ls.engine.enhance.ops.loops import (
    set_loop_accumulate,
    set_loop_input,
    set_loop_max_iterations,
    set_loop_timeouts,
    set_loop_until,
    set_min_success_rate,
)
from loop_ls.engine.enhance.ops.operations import Operation
from loop_ls.engine.enhance.ops.policies import set_on_failure, set_retries, set_timeout
from loop_ls.engine.enhance.ops.steps import (
    add_skill,
    append_instructions,
    set_condition,
    set_description,
    set_generation,
    set_instructions,
    set_needs,
    set_provider_fallback,
)
from loop_ls.engine.enhance.plan.plan_context import PlanContext
from loop_ls.engine.enhance.plan.working_copy import WorkingCopy

Effect = Callable[[WorkingCopy, Operation, PlanContext, tuple[Operation, ...]], WorkingCopy]

EFFECTS: Mapping[str, Effect] = {
    "add_step": add_step,
    "set_instructions": set_instructions,
    "append_instructions": append_instructions,
    "set_needs": set_needs,
    "set_condition": set_condition,
    "set_on_failure": set_on_failure,
    "set_retries": set_retries,
    "set_timeout": set_timeout,
    "set_loop_timeouts": set_loop_timeouts,
    "set_provider_fallback": set_provider_fallback,
    "set_generation": set_generation,
    "add_skill": add_skill,
    "set_loop_until": set_loop_until,
    "set_loop_max_iterations": set_loop_max_iterations,
    "set_loop_input": set_loop_input,
    "set_loop_accumulate": set_loop_accumulate,
    "set_min_success_rate": set_min_success_rate,
    "add_loop": add_loop,
    "add_verifier": add_verifier,
    "set_description": set_description,
}
