"""What `check` and `fix` have in common: which files, which rules, and the findings of them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.index.disk.closure import discover_around
from loop_ls.index.disk.discovery import discover, load
from loop_ls.index.disk.projects import project_folder
from loop_ls.index.disk.uris import path_of
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.report.checked import Checked, CheckedFile
from loop_ls.rules.engine.checker import Checker, checkable
from loop_ls.rules.engine.finding import Finding
from loop_ls.rules.engine.registry import all_rules
from loop_ls.rules.engine.rule_selection import PROFILES


class BadUsage(Exception):
    """A call that cannot be answered; the text says why, in one sentence."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """`root` and `paths` are absolute, with `/`; a path is a file or a folder. `place` is the folder that is read: the
    project around `root`, which the files belong to, or `root` itself."""

    root: str
    paths: tuple[str, ...]
    enable: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    place: str = ""

    def holds(self, path: str) -> bool:
        return any(path == one or path.startswith(f"{one.rstrip('/')}/") for one in self.paths)

    def whole(self, shown: str) -> str:
        """The absolute path of one that is printed so."""
        return shown if Path(shown).is_absolute() else f"{self.root.rstrip('/')}/{shown}"

    @property
    def below_here(self) -> str:
        """The way from the current folder down to the root; empty where it does not lead down."""
        here = absolute(".").rstrip("/")
        return self.root.removeprefix(f"{here}/") if self.root.startswith(f"{here}/") else ""

    def shown(self, path: str) -> str:
        """How a path is printed: counted from the root, or absolute outside of it."""
        inside = f"{self.root.rstrip('/')}/"
        return path.removeprefix(inside) if path.startswith(inside) else path


def choose(paths: Iterable[str], root: str | None, enable: Iterable[str], disable: Iterable[str]) -> Chosen:
    """The files, root and rules of a call. Raises BadUsage with the reason."""
    given = tuple(_existing(path) for word in (paths or ["."]) for path in _meant(word))
    if root is not None and not Path(root).is_dir():
        raise BadUsage(f"--root {root} is not a folder")
    if root is not None:
        base = absolute(root)
    else:
        base = given[0] if len(given) == 1 and Path(given[0]).is_dir() else absolute(".")
    on, off = tuple(enable), tuple(disable)
    for word in on:
        _known(word, (*PROFILES, *all_rules()), "--enable")
    for word in off:
        _known(word, tuple(all_rules()), "--disable")
    return Chosen(base, given, on, off, base if root is not None else project_folder(base) or base)


def _meant(word: str) -> list[str]:
    """A pattern that no shell has filled in, as on Windows, means what fits it."""
    if not any(sign in word for sign in "*?[") or Path(word).exists():
        return [word]
    from glob import glob

    return sorted(glob(word, recursive=True)) or [word]  # noqa: PTH207 - a word of the command line, not of a folder


def _existing(path: str) -> str:
    found = Path(path)
    try:
        if found.is_dir():
            os.scandir(found).close()
        elif found.exists() and not found.is_file():
            raise BadUsage(f"{path} is a pipe or a device; write its content to a file and use that")
        else:
            with found.open("rb"):
                pass
    except OSError as error:
        raise BadUsage(f"{path} cannot be read: {error.strerror or error}") from None
    return absolute(path)


def absolute(path: str) -> str:
    # Not resolve(): links stay what they are called, and `..` must not be followed through them.
    return os.path.abspath(path).replace(os.sep, "/")  # noqa: PTH100


def _known(word: str, words: tuple[str, ...], option: str) -> None:
    if word not in words:
        better = nearest(word, words) or nearest(word.upper(), words, 1)
        hint = f"; did you mean {better}?" if better else "; loop-ls explain --list shows all rules"
        raise BadUsage(f"{option} {word}: unknown rule{hint}")


@dataclass(frozen=True, slots=True)
class Opened:
    """The whole workspace, and the documents among them that the call is about. `untold` are rules that cannot
    speak, since there are more files than are looked at."""

    workspace: Workspace
    documents: tuple[Document, ...]
    untold: frozenset[str] = frozenset()


def open_files(chosen: Chosen, edits: bool = False) -> Opened:
    """Reads the whole workspace, since callers and callees matter, or where only files are named what these depend
    on; not for `edits`, after which they may depend on others. A file that is named is taken wherever it lies."""
    if not edits and all(Path(path).is_file() for path in chosen.paths):
        found = discover_around(chosen.place, chosen.paths)
    else:
        found = discover(chosen.place, named=chosen.paths)
    workspace = found.workspace
    known = {document.path for document in workspace.documents.values()}
    for path in chosen.paths:
        if path not in known and Path(path).is_file():
            document = load(path)
            if document is not None and document.format is not None:
                workspace = workspace.with_document(document)
    documents = tuple(
        sorted((one for one in workspace.documents.values() if chosen.holds(one.path)), key=lambda one: one.path)
    )
    workspace, untold = checkable(found, workspace, documents)
    return Opened(workspace, documents, untold)


def check(chosen: Chosen) -> Checked:
    begun = time.monotonic()
    opened = open_files(chosen)
    wanted = {document.uri for document in opened.documents}
    checker = Checker(chosen.enable, chosen.disable)
    files = []
    for document, found in checker.check_all(opened.workspace, wanted):
        told = tuple(one for one in found if one.rule not in opened.untold) if opened.untold else found
        if told:
            files.append(checked_file(chosen, document, told))
    return Checked(
        tuple(files),
        len(opened.documents),
        time.monotonic() - begun,
        lambda uri: chosen.shown(path_of(uri)),
        bool(opened.untold),
        lambda code: code not in opened.untold and checker.speaks(opened.workspace, code),
    )


def checked_file(chosen: Chosen, document: Document, found: tuple[Finding, ...]) -> CheckedFile:
    lines = document.text.lines if document.fault is None else ()  # those of a faulty file are not its own
    return CheckedFile(chosen.shown(document.path), lines, found, lambda fix: fix.edits(document))
