"""A request to start a run, read from the JSON argument of `loopLs.run`: right or refused."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.plan import BESIDE, FILTERS
from loop_ls.engine.journal.serialization import plain_text
from loop_ls.formats.common.duration import parse_duration
from loop_ls.index.disk.uris import path_of, uri_of
from loop_ls.text.json_value import Json, JsonObject, as_object, int_field

TargetKind = Literal["workflow", "loop", "step", "definition", "assistant"]

#: What the `limits` of a start may name.
LIMITS = ("budgetUsd", "maxTokens", "wallClock", "unchanged")
#: A whole number has no largest one; what is counted with does.
MOST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class EarlierOutputs:
    """By the names of steps and loops of the started workflow. `skipped` gave none because of their `if`. `iterations`:
    the outputs of those of each loop, in order."""

    run_id: str
    outputs: dict[str, str] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    iterations: dict[str, list[str]] = field(default_factory=dict)

    def take(self, kind: str, body: JsonObject) -> None:
        place = str(body.get("place", ""))
        name, _, below = place.partition("/")
        match kind:
            case "run_started":
                self._pinned(as_object(as_object(body.get("plan")).get("part")).get("pinned"))
            case "step_completed" if not below:
                self.outputs[str(body.get("step"))] = str(body.get("output", ""))
            case "step_skipped" if not below:
                self.skipped.add(str(body.get("step")))
            case "iteration" if below.isdigit() and int_field(body, "iteration"):
                self.iterations.setdefault(name, []).append(str(body.get("output", "")))

    def _pinned(self, given: Json) -> None:
        """What a run of a part used of steps before it. One that somebody typed has no iterations."""
        for one in map(as_object, given if isinstance(given, list) else ()):
            name = str(one.get("name"))
            self.outputs[name] = str(one.get("output", ""))
            if "iterations" not in one:
                self.iterations[name] = []

    def over(self, before: EarlierOutputs) -> EarlierOutputs:
        """With what only the run `before` has, from which this one took outputs."""
        own = self.outputs.keys() | self.skipped
        return EarlierOutputs(
            self.run_id,
            {**{name: text for name, text in before.outputs.items() if name not in own}, **self.outputs},
            (before.skipped - own) | self.skipped,
            {**before.iterations, **self.iterations},
        )


@dataclass(frozen=True, slots=True)
class StartRequest:
    """`path` is relative to `root`, with `/`. `texts` are unsaved texts of the editor, by such paths. `settings` are
    those of the editor. `input` None: not given (an empty text is given); so with `goal` and `message`. `provider`
    and `model`: whom to ask in place of those that the files name. `enhance` says whether and how the file may be
    changed between rounds: `{start?, editor?, headless?, uri?}`. `check`: the declared checks decide how the run
    ends, with those of the case that it names; None: they do not. `agree_only`: what the run may do is agreed to, and
    nothing starts. `start_from` and `end_at` choose a part of the workflow, whose other outputs are `pinned`, or those
    of the run `outputs_of` (`earlier`, once it is read). `path` is empty where a definition is started by its name
    alone. `beside` are runs that go on in the folder and may write there, `{runId, name}`; `filters` are commands that
    Git would start for files of the repository."""

    root: Path
    path: str
    target_kind: TargetKind = "workflow"
    target_name: str | None = None
    input: str | None = None
    goal: str | None = None
    message: str | None = None
    project_id: str | None = None
    project_slug: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    max_iterations: int | None = None
    limits: Mapping[str, Json] = field(default_factory=dict)
    item: int | None = None
    start_from: str | None = None
    end_at: str | None = None
    pinned: Mapping[str, str] = field(default_factory=dict)
    outputs_of: str | None = None
    earlier: EarlierOutputs | None = None
    check: Mapping[str, Json] | None = None
    provider: str | None = None
    model: str | None = None
    mock: bool = False
    consent: str | None = None
    agree_only: bool = False
    origin: str = "cli"
    detach: bool = False
    session_id: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Json] = field(default_factory=dict)
    enhance: Mapping[str, Json] = field(default_factory=dict)
    beside: tuple[Mapping[str, Json], ...] = ()
    filters: tuple[str, ...] = ()

    @property
    def noted(self) -> JsonObject:
        """What the plan of every run keeps of its start."""
        return around(self.beside, self.filters)

    @property
    def uri(self) -> str:
        return uri_of(self.root / self.path)


def around(beside: Iterable[Mapping[str, Json]], filters: Iterable[str]) -> JsonObject:
    """What a plan keeps of where its run begins; nothing where there is nothing."""
    found: JsonObject = {BESIDE: [dict(one) for one in beside], FILTERS: [*filters]}
    return {name: value for name, value in found.items() if value}


def read_request(argument: object, home: Path | None = None) -> StartRequest:
    """`home` is the root where the argument names none. Raises `Refused` with the name of what is wrong."""
    if not isinstance(argument, Mapping):
        raise Refused("bad_argument", "The argument must be an object.")
    kind, name = _target(argument)
    path = _whole_path(argument, kind == "definition" and name is not None)
    root = _root(argument, path, home)
    return StartRequest(
        root=root,
        path=_inside(root, path) if path else "",
        target_kind=kind,
        target_name=name,
        input=_text(argument, "input"),
        goal=_text(argument, "goal"),
        message=_text(argument, "message"),
        project_id=_text(argument, "project_id"),
        project_slug=_text(argument, "project_slug"),
        parameters=_parameters(argument, kind),
        max_iterations=_count(_either(argument, "maxIterations", "max_iterations")),
        limits=_limits(argument.get("limits")),
        item=_item(argument.get("item"), kind),
        start_from=_text(argument, "startFrom") or None,
        end_at=_text(argument, "endAt") or None,
        pinned=_texts(argument, "pinned"),
        outputs_of=_text(argument, "outputsOf") or None,
        check=check if isinstance(check := argument.get("check"), Mapping) else None,
        provider=_text(argument, "provider") or None,
        model=_text(argument, "model") or None,
        mock=argument.get("mock") is True,
        consent=_text(argument, "consent"),
        agree_only=argument.get("agreeOnly") is True,
        origin=_text(argument, "origin") or "cli",
        detach=argument.get("detach") is True,
        session_id=_text(argument, "sessionId") or _text(argument, "session_id"),
        texts=dict(_unsaved(root, argument)),
        settings=settings if isinstance(settings := argument.get("settings"), Mapping) else {},
        enhance=enhance if isinstance(enhance := argument.get("enhance"), Mapping) else {},
    )


def _either(argument: Mapping[str, Json], *names: str) -> object:
    """The first that is given: the tables of the HTTP interface spell keys in their own way."""
    return next((argument[name] for name in names if argument.get(name) is not None), None)


def _whole_path(argument: Mapping[str, Json], named: bool) -> str:
    given = argument.get("path") or argument.get("uri")
    if given is None and named:
        return ""
    if not isinstance(given, str) or not given:
        raise Refused("bad_argument", "Missing target: set `path`, `uri` or `definition`.")
    return path_of(given)


def _root(argument: Mapping[str, Json], path: str, home: Path | None) -> Path:
    given = argument.get("root")
    if given is None and not Path(path).is_absolute():  # no path, or one in the engine's own folder
        if home is None:
            raise Refused("bad_argument", "Missing `root`: the folder to run in.")
        return home.resolve()
    if given is None:
        return _resolved(Path(path)).parent
    if not isinstance(given, str) or not (root := _resolved(Path(path_of(given)))).is_dir():
        raise Refused("bad_argument", f"`root` is not a folder: {given}.")
    return root


def _resolved(path: Path) -> Path:
    """Raises `Refused` for a name that no file can have: too long, or with characters that are none."""
    try:
        os.fsencode(path)
        whole = path.resolve()
        whole.is_file()
    except (OSError, ValueError):
        told = ascii(str(path))[1:-1]
        shown = told if len(told) <= 100 else f"{told[:100]}..."
        raise Refused("bad_argument", f"Invalid file name: {shown}.") from None
    return whole


def _unsaved(root: Path, argument: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Texts of the editor; those of files elsewhere are nothing to this run."""
    for path, text in _texts(argument, "texts").items():
        whole = _resolved(root / path_of(path))
        if whole.is_relative_to(root):
            yield whole.relative_to(root).as_posix(), text


def _inside(root: Path, path: str) -> str:
    whole = _resolved(root / path)
    if not whole.is_relative_to(root):
        raise Refused("bad_argument", f"{path} is outside {root}.", "Set `root` to the folder that contains the file.")
    return whole.relative_to(root).as_posix()


def _target(argument: Mapping[str, Json]) -> tuple[TargetKind, str | None]:
    given = argument.get("target")
    if given is None and (name := argument.get("definition")) is not None:
        given = {"kind": "definition", "name": name}
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
                raise Refused("bad_argument", f"Missing `target.name`: the {kind} to run.")
            return kind, name
        case "definition" | "assistant":
            if name is not None and not isinstance(name, str):
                raise Refused("bad_argument", f"`target.name` must be a string: the name of the {kind}.")
            return kind, name or None
        case _:
            kinds = "`workflow`, `loop`, `step`, `definition` and `assistant`"
            raise Refused("bad_argument", f"`target.kind` must be one of {kinds}.")


def _text(argument: Mapping[str, Json], name: str) -> str | None:
    found = argument.get(name)
    if found is None or isinstance(found, str):
        return None if found is None else plain_text(found)
    raise Refused("bad_argument", f"`{name}` must be a string.")


def _texts(argument: Mapping[str, Json], name: str) -> dict[str, str]:
    found = argument.get(name)
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise Refused("bad_argument", f"`{name}` must be an object of strings.")
    return {str(key): plain_text(_written(value)) for key, value in found.items()}


def _parameters(argument: Mapping[str, Json], kind: TargetKind) -> dict[str, str]:
    given = argument.get("parameters")
    if kind == "definition" and isinstance(given, Mapping):
        for name, value in given.items():
            if isinstance(value, list | Mapping):
                raise Refused("bad_argument", f"`parameters.{name}` must be a string, a number, or true or false.")
    return _texts(argument, "parameters")


def _written(value: object) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case None:
            return ""
        case _:
            return str(value)


def _item(given: object, kind: str) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise Refused("bad_argument", "`item` must be the number of an item, from 1.")
    if kind not in ("loop", "step"):
        raise Refused("bad_argument", "`item` needs a loop as `target`.")
    return given


def _limits(given: object) -> JsonObject:
    """Caps of this run alone: `{budgetUsd?, maxTokens?, wallClock?, unchanged?}`."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise Refused("bad_argument", "`limits` must be an object.")
    for name, value in given.items():
        if name not in LIMITS:
            listed = ", ".join(f"`{each}`" for each in LIMITS)
            raise Refused("bad_argument", f"Unknown limit `limits.{name}`; expected {listed}.")
        seconds = parse_duration(value) if name == "wallClock" and isinstance(value, str) else value
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= MOST:
            raise Refused("bad_argument", f"`limits.{name}` must be a number above 0.")
        if name in ("maxTokens", "unchanged") and not isinstance(value, int):
            raise Refused("bad_argument", f"`limits.{name}` must be an integer.")
    return dict(given)


def _count(given: object) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise Refused("bad_argument", "`maxIterations` must be an integer from 1.")
    return given
