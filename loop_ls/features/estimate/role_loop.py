"""What a run of a role loop may cost: a call for each stage at least, all steps of all stages at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loop_ls.contract.amounts import count
from loop_ls.features.docs.role_loop import most_iterations
from loop_ls.formats.common.json_types import whole
from loop_ls.formats.common.target import Target
from loop_ls.formats.role_loop.model import GoalBound
from loop_ls.formats.role_loop.parts import RoleLoopParts
from loop_ls.formats.role_loop.roles import Role, steps_of
from loop_ls.index.calls import Calls
from loop_ls.index.document import Document
from loop_ls.index.object_file import roles_of
from loop_ls.index.workspace import Workspace

if TYPE_CHECKING:
    from loop_ls.formats.settings.model import Settings


def calls_of(workspace: Workspace, document: Document) -> tuple[Calls, tuple[str, ...], frozenset[Target], bool]:
    """Calls, why, whom it asks, and whether some role is asked of nobody known."""
    loop = document.whole.role_loop
    roles = roles_of(workspace.settings)
    steps = [_steps(loop, number, roles) for number in range(len(loop.stages))]
    judged = loop.termination is not None and isinstance(loop.termination.value, GoalBound)
    least, most = len(steps) + judged, most_iterations(loop, workspace.settings)
    calls = Calls(least, None if most is None else most * (sum(steps) + judged))
    names = [loop.role_of(stage) or "?" for stage in loop.in_run_order]
    told = f"At most {count(most, 'iteration')}" if most is not None else "No limit on iterations"
    each = ", ".join(f"{name} {number}" for name, number in zip(names, steps, strict=True))
    why = (f"{told} of {count(len(steps), 'stage')}; maximum calls per stage, including tools: {each}.",)
    targets = [target_of(name, workspace.settings) for name in names]
    return calls, why, frozenset(one for one in targets if one is not None), None in targets


def _steps(loop: RoleLoopParts, number: int, roles: dict[str, Role]) -> int:
    stage = loop.in_run_order[number]
    part = stage.get("max_iterations")
    own = None if part is None else whole(part.node)
    role = roles.get(loop.role_of(stage) or "")
    if role is not None and role.access == "minimal":
        return 1  # without tools there is one answer
    return steps_of(own, role)


def target_of(role: str, settings: Settings) -> Target | None:
    """Of the role itself, else the one of the interactive assistant."""
    own = (settings.raw.get("roles") or {}).get(role)
    model = own.get("model") if isinstance(own, dict) else None
    for value in (own, settings.raw.get("assist")):
        if isinstance(value, dict) and value.get("provider"):
            provider = str(value["provider"])
            known = settings.providers.get(provider)
            usual = known.default_model if known is not None else None
            return Target(provider, str(model or value.get("model") or usual or ""))
    return None
