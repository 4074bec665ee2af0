"""Skill folders of a project, `skills/<name>/SKILL.md`: texts that say how something is done there.

Those of other tools are read, too, after its own.
"""

from __future__ import annotations

from pathlib import Path

SKILL_FOLDERS, _FILE = ("skills", ".claude/skills", ".agents/skills"), "SKILL.md"


def skill_path(name: str) -> str:
    """Where a skill of the project's own lies, relative to the root."""
    return f"{SKILL_FOLDERS[0]}/{name}/{_FILE}"


def skill_paths(name: str) -> tuple[str, ...]:
    """Where a skill may lie, relative to the root; the first that is there counts."""
    return tuple(f"{folder}/{name}/{_FILE}" for folder in SKILL_FOLDERS)


def is_skill(path: str) -> bool:
    """Whether the file at this path relative to the root is a skill; case does not matter, as on some file systems."""
    folder, _, name = path.lower().rpartition("/")
    return name == _FILE.lower() and folder.rpartition("/")[0] in SKILL_FOLDERS


def skill_files(root: Path) -> dict[str, Path]:
    """The skills of a project by name, sorted. Links that lead out of it are not followed, and pipes are no files."""
    inside, found = root.resolve(), dict[str, Path]()
    for folder in SKILL_FOLDERS:
        for path in (root / folder).glob(f"*/{_FILE}"):
            if _is_one(path, inside):
                found.setdefault(path.parent.name, path)
    return dict(sorted(found.items()))


def skill_place(root: Path, name: str) -> str:
    """Where a skill lies, relative to the root; where the project's own would, if there is none."""
    inside = root.resolve()
    return next((path for path in skill_paths(name) if _is_one(root / path, inside)), skill_path(name))


def lacks_skill(root: Path, name: str) -> bool:
    """Whether a project has no skill of this name. One that is there without a folder of skills of its own lacks none:
    it keeps them elsewhere, as other tools do."""
    if root.exists() and not (root / SKILL_FOLDERS[0]).is_dir():
        return False
    inside = root.resolve()
    return not any(_is_one(root / path, inside) for path in skill_paths(name))


def _is_one(path: Path, inside: Path) -> bool:
    try:
        return path.resolve().is_relative_to(inside) and path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False
