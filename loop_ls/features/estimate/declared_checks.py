"""What the declared checks of a loop file cost besides: rubrics are calls of a judge, where a start asks for checks."""

from __future__ import annotations

from loop_ls.contract.amounts import count
from loop_ls.formats.checks.model import Target
from loop_ls.formats.checks.parts import WrittenCheck, checks_in
from loop_ls.formats.checks.target import Places, target_of
from loop_ls.formats.common.json_types import whole
from loop_ls.formats.registry import DECLARED_CHECKS
from loop_ls.index.checked_file import about, places_in
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace


def told_of_checks(workspace: Workspace, document: Document) -> str:
    """A sentence; empty where no rubric is there."""
    places, each, once = places_in(document), 0, 0
    for file in about(workspace, document, DECLARED_CHECKS):
        for one in checks_in(file.whole.parts):
            if one.bare_type == "llm-rubric":
                votes = whole(one.node("votes")) or 1
                in_loop = places is not None and _in_each_iteration(one, places)
                each, once = each + votes * in_loop, once + votes * (not in_loop)
    parts = [f"{count(each, 'call')} for each iteration"] if each else []
    parts += [f"{count(once, 'call')} in a run"] if once else []
    return f"With `--check` a judge is also called: {' and '.join(parts)}." if parts else ""


def _in_each_iteration(check: WrittenCheck, places: Places) -> bool:
    """A file without steps is one loop, whose iterations give its result."""
    target = target_of(check.text("on")) or Target()
    return target.kind in ("loop", "stage") or (target.kind == "result" and "step" not in places.names)
