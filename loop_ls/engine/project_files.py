"""Files that texts of a workflow name: read and written inside of the workspace, nowhere else.

A name may come from a model. So nothing hidden is touched (`.git/hooks` would run it), links that lead out
are not followed, and sizes are bounded.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from loop_ls.engine.ports import Failure

FILE = "file://"
#: What other tools call the folder that programs leave their files in.
OUTPUTS = "/outputs/"
#: A file larger than this is a mistake: it would be copied into the journal.
LARGEST_FILE = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """`outputs` is the folder that `/outputs/` means."""

    root: Path
    outputs: Path

    @staticmethod
    def of(root: str, settings: Mapping[str, Any]) -> ProjectFiles:
        return ProjectFiles(Path(root), _outputs(Path(root), settings.get("outputsDir")))

    def read(self, written: str, folder: str, what: str) -> str:
        """The text of a file, looked for in the folder of the workflow file, then in the root. `what` is
        what it is for. Raises `Failure`."""
        path = written.removeprefix(FILE)
        allowed, candidates = self._places(path, folder)
        for candidate in candidates:
            try:
                whole = candidate.resolve()
                if whole.is_relative_to(allowed.resolve()) and whole.is_file() and not _secret(whole):
                    return _text(whole, path, what)
            except (OSError, ValueError) as error:
                raise Failure("not_found", f"{what} {path} cannot be read: {error}") from None
        raise Failure(
            "not_found", f"there is no {what} {path} in the workspace", "give it relative to the workflow file"
        )

    def write(self, written: str, folder: str, text: str, what: str) -> str:
        """Write a file and its folders; its path relative to the root. Raises `Failure`."""
        path = written.removeprefix(FILE)
        allowed, candidates = self._places(path, folder)
        try:
            whole, root = candidates[0].resolve(), allowed.resolve()
            if not whole.is_relative_to(root):
                raise Failure("forbidden", f"{what} {path} lies outside of the workspace", "write inside of it")
            shown = whole.relative_to(root)
            if any(part.startswith(".") for part in shown.parts):
                raise Failure("forbidden", f"{what} {path} is hidden; nothing hidden is written", "name another file")
            whole.parent.mkdir(parents=True, exist_ok=True)
            whole.write_text(text, "utf-8")
        except (OSError, ValueError) as error:
            raise Failure("bad_argument", f"{what} {path} cannot be written: {error}") from None
        return shown.as_posix()

    def _places(self, path: str, folder: str) -> tuple[Path, list[Path]]:
        """Where a file may lie, and where it is looked for."""
        if path.startswith(OUTPUTS):
            return self.outputs, [self.outputs / path.removeprefix(OUTPUTS)]
        return self.root, [self.root / folder / path, self.root / path]


def _secret(path: Path) -> bool:
    """Files that hold keys, or the innards of version control: no text is made of them."""
    return path.name.startswith(".env") or ".git" in path.parts


def _text(path: Path, shown: str, what: str) -> str:
    if path.stat().st_size > LARGEST_FILE:
        raise Failure("limit_reached", f"{what} {shown} is larger than {LARGEST_FILE // 2**20} MiB")
    return path.read_bytes().decode("utf-8-sig", errors="replace")


def _outputs(root: Path, written: Any) -> Path:
    """The configured folder where it lies in the workspace or among temporary files, else the usual one: a
    project must not make us read from anywhere."""
    temporary = Path(tempfile.gettempdir())
    usual = temporary / "mcp-outputs"
    if not isinstance(written, str) or not written.strip():
        return usual
    found = root / PurePosixPath(written.strip())
    try:
        whole = found.resolve()
        inside = any(whole.is_relative_to(each.resolve()) for each in (root, temporary, Path("/tmp")))
    except OSError:
        return usual
    return found if inside else usual
