"""The one border of a workspace: a path that a model names lies inside of it, or is refused.

Links are followed before it is decided, so a link inside cannot lead out.
"""

from __future__ import annotations

from pathlib import Path

from loop_ls.engine.context.workspace_files import is_engine_data
from loop_ls.engine.roles.tools.tool import Refusal


class Workspace:
    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def inside(self, given: str) -> Path:
        """The real path. Raises `Refusal`."""
        if "\x00" in given:
            raise Refusal("A path cannot contain NUL.")
        try:
            path = (self.root / given).resolve()
            path.lstat()
        except FileNotFoundError:
            pass  # it may be written
        except (OSError, RuntimeError, UnicodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is a circular link or not a text"
            named = given[:200].encode("utf-8", "replace").decode()
            raise Refusal(f"`{named}` cannot be a path here: {why}.") from None
        if not path.is_relative_to(self.root):
            raise Refusal(f"`{given}` is outside the workspace.")
        if is_engine_data(path):
            raise Refusal(f"`{given}` is in the data folder of the engine.")
        return path

    def named(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix() or "."
