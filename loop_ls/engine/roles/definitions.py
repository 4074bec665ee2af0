"""Which role loops there are: those of the workspace, and the built-in ones in the data folder.

A definition of the workspace wins over a built-in one of its name. One that cannot be started is listed
with its first error instead of vanishing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from loop_ls.engine.journal.serialization import plain_text
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.registry import ROLE_LOOP, claimed
from loop_ls.formats.role_loop.built_in_loops import BUILT_IN, built_in_text
from loop_ls.formats.role_loop.model import RoleLoop
from loop_ls.formats.role_loop.read import read_role_loop
from loop_ls.formats.role_loop.roles import ROLES
from loop_ls.formats.workflow.refusals import Refusal
from loop_ls.index.disk.discovery import candidates, read_text
from loop_ls.index.disk.uris import uri_of

FOLDER = "loops"
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Definition:
    """One file. `path` is relative to the workspace; a built-in one has its name for a path. `loop` is
    read with the defaults of its parameters; None where `error` says why."""

    name: str
    path: str
    uri: str
    text: str
    built_in: bool
    loop: RoleLoop | None
    error: Refusal | None = None


def seed(data: Path) -> None:
    """Lay the built-in definitions into the data folder where they are missing. Edited copies stay. Where that
    is not possible the shipped ones count, so nothing else waits for it."""
    folder = data / FOLDER
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in BUILT_IN:
            path = folder / f"{name}.json"
            if not path.exists():
                _write_whole(path, built_in_text(name))
    except OSError as error:
        logger.warning(
            "the built-in definitions cannot be copied to %s, so the bundled ones are used: %s", folder, error
        )


def _write_whole(path: Path, text: str) -> None:
    """A part of it would pass for an edited copy for ever."""
    part = path.with_suffix(".part")
    try:
        part.write_text(text, "utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def definitions(
    root: str, data: Path, overlay: Mapping[str, str] | None = None, roles: Iterable[str] = ROLES
) -> tuple[Definition, ...]:
    """All of them, each name once: built-in ones first, in their order, then by name. Reads the disk.
    `overlay` are unsaved texts, by path relative to the root."""
    names = tuple(roles)
    found = {one.name: one for one in built_in_definitions(data, names)}
    # A name of the workspace takes the place of the built-in one; of two files the later one counts.
    for one in _of_workspace(root, overlay or {}, names):
        found[one.name] = one
    first = [found.pop(name) for name in BUILT_IN if name in found]
    return (*first, *sorted(found.values(), key=lambda one: one.name))


def path_of_definition(root: str, name: str, overlay: Mapping[str, str] | None = None) -> str | None:
    """The file of the workspace, relative to it, that a name means; None: it means a built-in one, or none. Reads the
    disk."""
    found = [one.path for one in _of_workspace(root, overlay or {}, tuple(ROLES)) if one.name == name]
    return found[-1] if found else None


def built_in_definitions(data: Path, roles: Iterable[str] = ROLES) -> tuple[Definition, ...]:
    """As they are in the data folder, else as they are shipped: a folder that no engine has opened yet
    holds none."""
    found = {one.name: one for one in _built_in(data, tuple(roles))}
    for name in BUILT_IN:
        if name not in found:
            uri = uri_of(data / FOLDER / f"{name}.json")
            found[name] = definition_of(built_in_text(name), f"{name}.json", uri, True, roles)
    first = [found.pop(name) for name in BUILT_IN]
    return (*first, *found.values())


def unknown_name(name: str, known: Iterable[str]) -> str:
    """The sentence for a name that no definition has, with what there is."""
    names = sorted(known)
    near = nearest(name, names)
    guess = f"; did you mean `{near}`?" if near else "."
    return f"Unknown loop definition `{name}`{guess} Expected {', '.join(names)}."


def definition_of(text: str, path: str, uri: str, built_in: bool, roles: Iterable[str] = ROLES) -> Definition:
    found = read_role_loop(text, roles=roles)
    stem = path.rpartition("/")[2].removesuffix(".json")
    if isinstance(found, RoleLoop):
        return Definition(found.name or stem, path, uri, text, built_in, found)
    return Definition(_name_in(text) or stem, path, uri, text, built_in, None, found[0])


def _built_in(data: Path, roles: tuple[str, ...]) -> Iterator[Definition]:
    for path in sorted((data / FOLDER).glob("*.json")):
        text = read_text(path.as_posix())
        if text is not None:
            yield definition_of(plain_text(str(text)), path.name, uri_of(path), True, roles)


def _of_workspace(root: str, overlay: Mapping[str, str], roles: tuple[str, ...]) -> Iterator[Definition]:
    paths = {path.removeprefix(f"{root.rstrip('/')}/") for path in candidates(root)[0] if claimed(path) == ROLE_LOOP}
    paths |= {path for path in overlay if claimed(f"/{path}") == ROLE_LOOP}
    for path in sorted(paths):
        text = overlay.get(path)
        if text is None:
            read = read_text(f"{root}/{path}")
            if read is None:
                continue
            text = str(read)
        yield definition_of(plain_text(text), path, uri_of(f"{root}/{path}"), False, roles)


def _name_in(text: str) -> str | None:
    """The name of a definition with errors, where its file still says one."""
    from loop_ls.formats.role_loop.read import role_loop_of
    from loop_ls.syntax.tree import read_json
    from loop_ls.text.lines import Text

    return role_loop_of(read_json(Text.of(text))).name
