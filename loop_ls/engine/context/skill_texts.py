"""Skills as texts: what `SKILL.md` files say, told along with a prompt.

The texts go along instead of being offered as a tool: so models and agent programs that take no tools have them too,
and nothing is left to a model that does not look.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from loop_ls.engine.context.workspace_files import ProjectFiles
from loop_ls.engine.core.ports import Failure
from loop_ls.index.disk.skill_files import skill_path, skill_paths


def read_skill(files: ProjectFiles, name: str) -> str | None:
    """What a skill of the workspace says; None: there is none of that name."""
    for path in skill_paths(name):
        with suppress(Failure):
            return files.read(path, "", "skill")
    return None


def told_skills(found: Mapping[str, str | None]) -> str | None:
    """Skills by name as one text; None: there is nothing to tell."""
    told = [f'<skill name="{name}">\n{text.strip()}\n</skill>' for name, text in found.items() if text]
    if not told:
        return None
    return "\n\n".join(["Skills for this task, which say how things are done here:", *told])


def missing_skills(who: str, names: Iterable[str]) -> str:
    """The warning about skills that are not there."""
    return f"`{who}` uses unknown skills ({', '.join(map(skill_path, names))}) and runs without them"
