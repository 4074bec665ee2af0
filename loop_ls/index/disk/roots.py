"""Where the workflows of a workspace are, and what a file is called there.

A root is a folder with the files that count as lying in it. Pure: what exists on the disk is found
by `index.disk.discovery` and handed in.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import cached_property

from loop_ls.index.resolve import folder_in, key_of
from loop_ls.text.record import equal_record


@equal_record
class Root:
    """`pattern` is what comes behind the folder in a glob (`*.yaml`, `**/*.yaml`); None: every
    workflow file, however deep."""

    folder: str
    pattern: str | None = None

    def holds(self, path: str) -> bool:
        folder = folder_in(self.folder, path)
        if folder is None:
            return False
        if self.pattern is None:
            return True
        name = path.rpartition("/")[2]
        if self.pattern.startswith("**/"):
            return _matches(name, self.pattern.rpartition("/")[2])
        return _matches(f"{folder}/{name}" if folder else name, self.pattern)


@equal_record
class Roots:
    """The roots of one workspace folder, in the order in which they are asked."""

    workspace: str
    roots: tuple[Root, ...] = ()

    @cached_property
    def all(self) -> tuple[Root, ...]:
        """The workspace folder is the last resort: files outside of every root count from there."""
        return (*self.roots, Root(self.workspace))

    def folder_of(self, path: str) -> str:
        """The folder of a file, counted from its root; empty for the root itself and for files from
        elsewhere."""
        for root in self.all:
            if root.holds(path):
                return folder_in(root.folder, path) or ""
        return ""

    def key(self, path: str, name: str) -> str:
        """The key of the workflow called `name` in the file at `path`."""
        return key_of(self.folder_of(path), name)


def root_of_glob(workspace: str, glob: str) -> Root | None:
    """The root that `includes.workflows` of a `config.yaml` in `workspace` means: the literal part
    in front of the first `*`. None where it leads out of the workspace."""
    parts = [part for part in glob.replace("\\", "/").split("/") if part not in ("", ".")]
    literal: list[str] = []
    for part in parts[:-1]:
        if "*" in part or "?" in part or "[" in part:
            break
        literal.append(part)
    if ".." in literal or glob.startswith("/"):
        return None
    rest = "/".join(parts[len(literal) :])
    return Root("/".join((workspace, *literal)), rest or None)


def _matches(name: str, pattern: str) -> bool:
    """Glob matching in which `*` stops at a slash, and `.yml` files count where `.yaml` ones do."""
    regex = translate(pattern.replace("**/", "\0")).replace("\\\x00", "(?:.*/)?").replace("\x00", "(?:.*/)?")
    regex = regex.replace(".*", "[^/]*").replace("(?:[^/]*/)?", "(?:.*/)?")
    return re.match(regex, name) is not None or (name.endswith(".yml") and _matches(name[:-4] + ".yaml", pattern))
