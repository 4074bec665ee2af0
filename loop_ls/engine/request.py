"""A request to start a run, read from the JSON argument of `loopLs.run`: right or refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from loop_ls.engine.journal.border import plain_text
from loop_ls.engine.refusal import Refused
from loop_ls.index.uris import path_of, uri_of

TargetKind = Literal["workflow", "loop", "step"]
LATER = ("definition", "assistant")


@dataclass(frozen=True, slots=True)
class StartRequest:
    """`path` is relative to `root`, with `/`. `texts` are unsaved texts of the editor, by such paths.
    `settings` are those of the editor. `input` None: not given (an empty text is given)."""

    root: Path
    path: str
    target_kind: TargetKind = "workflow"
    target_name: str | None = None
    input: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    max_iterations: int | None = None
    mock: bool = False
    consent: str | None = None
    origin: str = "cli"
    detach: bool = False
    session_id: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        return uri_of(self.root / self.path)


def read_request(argument: Any) -> StartRequest:
    """Raises `Refused` with the name of what is wrong."""
    if not isinstance(argument, Mapping):
        raise Refused("bad_argument", "The argument of a start is one object.")
    path = _whole_path(argument)
    root = _root(argument, path)
    kind, name = _target(argument.get("target"))
    return StartRequest(
        root=root,
        path=_inside(root, path),
        target_kind=kind,
        target_name=name,
        input=_text(argument, "input"),
        parameters=_texts(argument, "parameters"),
        max_iterations=_count(argument.get("maxIterations")),
        mock=argument.get("mock") is True,
        consent=_text(argument, "consent"),
        origin=_text(argument, "origin") or "cli",
        detach=argument.get("detach") is True,
        session_id=_text(argument, "sessionId"),
        texts=dict(_unsaved(root, argument)),
        settings=settings if isinstance(settings := argument.get("settings"), Mapping) else {},
    )


def _whole_path(argument: Mapping[str, Any]) -> str:
    given = argument.get("path") or argument.get("uri")
    if not isinstance(given, str) or not given:
        raise Refused("bad_argument", "`uri` or `path` says which file to run; neither is given.")
    return path_of(given)


def _root(argument: Mapping[str, Any], path: str) -> Path:
    given = argument.get("root")
    if given is None:
        return Path(path).resolve().parent
    if not isinstance(given, str) or not Path(path_of(given)).is_dir():
        raise Refused("bad_argument", f"`root` is no folder: {given}.")
    return Path(path_of(given)).resolve()


def _unsaved(root: Path, argument: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Texts of the editor; those of files elsewhere are nothing to this run."""
    for path, text in _texts(argument, "texts").items():
        whole = (root / path_of(path)).resolve()
        if whole.is_relative_to(root):
            yield whole.relative_to(root).as_posix(), text


def _inside(root: Path, path: str) -> str:
    whole = (root / path).resolve()
    if not whole.is_relative_to(root):
        raise Refused(
            "bad_argument", f"{path} lies outside of {root}.", "Give the folder that holds the file as `root`."
        )
    return whole.relative_to(root).as_posix()


def _target(given: Any) -> tuple[TargetKind, str | None]:
    if given is None:
        return "workflow", None
    if isinstance(given, str):
        given = {"kind": given}
    kind, name = (given.get("kind", "workflow"), given.get("name")) if isinstance(given, Mapping) else (None, None)
    match kind:
        case "workflow":
            return "workflow", None
        case "loop" | "step":
            if not isinstance(name, str) or not name:
                raise Refused("bad_argument", f"`target.name` says which {kind} to run; it is not given.")
            return kind, name
        case _ if kind in LATER:
            raise Refused("bad_argument", f"`target.kind` `{kind}` is not built yet.", "Run a workflow.")
        case _:
            raise Refused("bad_argument", "`target.kind` is one of `workflow`, `loop` and `step`.")


def _text(argument: Mapping[str, Any], name: str) -> str | None:
    found = argument.get(name)
    if found is None or isinstance(found, str):
        return None if found is None else plain_text(found)
    raise Refused("bad_argument", f"`{name}` is a text.")


def _texts(argument: Mapping[str, Any], name: str) -> dict[str, str]:
    found = argument.get(name)
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise Refused("bad_argument", f"`{name}` is an object of texts.")
    return {str(key): plain_text(_written(value)) for key, value in found.items()}


def _written(value: Any) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case None:
            return ""
        case _:
            return str(value)


def _count(given: Any) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise Refused("bad_argument", "`maxIterations` is a whole number from 1.")
    return given
