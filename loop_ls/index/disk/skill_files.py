"""Skill folders of a project: `skills/<name>/SKILL.md`, texts that say how something is done there."""

from __future__ import annotations

from pathlib import Path

SKILL_FOLDER, _FILE = "skills", "SKILL.md"


def skill_path(name: str) -> str:
    """Where a skill lies, relative to the root."""
    return f"{SKILL_FOLDER}/{name}/{_FILE}"


def is_skill(path: str) -> bool:
    """Whether the file at this path relative to the root is a skill; case does not matter, as on some file systems."""
    parts = path.lower().split("/")
    return len(parts) == 3 and (parts[0], parts[2]) == (SKILL_FOLDER, _FILE.lower())


def skill_files(root: Path) -> dict[str, Path]:
    """The skills of a project by name, sorted. Links that lead out of it are not followed, and pipes are no files."""
    inside = root.resolve()
    found = sorted((root / SKILL_FOLDER).glob(f"*/{_FILE}"))
    return {path.parent.name: path for path in found if _is_one(path, inside)}


def lacks_skill(root: Path, name: str) -> bool:
    """Whether a project has no skill of this name. One that is there without a folder of skills lacks none: it keeps
    them elsewhere, as other tools do."""
    if root.exists() and not (root / SKILL_FOLDER).is_dir():
        return False
    try:
        return not _is_one(root / skill_path(name), root.resolve())
    except (OSError, ValueError):  # a name that no file can have
        return True


def _is_one(path: Path, inside: Path) -> bool:
    return path.resolve().is_relative_to(inside) and path.is_file()
