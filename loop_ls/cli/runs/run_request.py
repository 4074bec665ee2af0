"""From the words of `loop-ls run` to the request that starts a run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from loop_ls.cli.engine.connect import root_of
from loop_ls.formats.checks.file_format import loop_paths, subject_stem
from loop_ls.formats.workflow.detect_format import names_schema
from loop_ls.index.disk.discovery import read_text
from loop_ls.text.json_value import JsonObject


class Wrong(Exception):
    """The command line cannot be followed; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class RequestedRun:
    """What to start, and where."""

    root: Path
    request: JsonObject


def wanted(args: argparse.Namespace) -> RequestedRun:
    """Raises `Wrong`."""
    if bool(args.what) == bool(args.workflow):
        raise Wrong("FILE or NAME is required: what to run")
    word = args.what or args.workflow
    definition = None if args.workflow or args.loop else _definition(word, args)
    if definition is not None:
        root, where = definition
    else:
        root, path = found_file(word, args.root)
        where = {"path": str(path), "target": target_of(path, args.loop)}
    request: JsonObject = {
        "root": str(root),
        **where,
        "origin": "cli",
        "detach": bool(args.detach),
        "mock": bool(args.mock),
        "enhance": {"start": False} if args.plain else {"headless": True},
    }
    if args.input is not None:
        request["input"] = read_input(args.input)
    request |= asked_instead(args)
    if args.goal is not None:
        request["goal"] = read_input(args.goal)
    if args.param:
        request["parameters"] = named_values(args.param)
    if args.max_iterations is not None:
        request["maxIterations"] = args.max_iterations
    if args.idempotency_key is not None:
        request["idempotencyKey"] = args.idempotency_key
    request |= _part(args)
    if args.check:
        request["check"] = {}
    if args.item is not None:
        request["item"] = args.item
    limits = {"budgetUsd": args.budget_usd, "maxTokens": args.max_tokens, "wallClock": args.max_time}
    if named := {name: value for name, value in limits.items() if value is not None}:
        request["limits"] = named
    return RequestedRun(root, request)


def target_of(path: Path, loop: str | None) -> JsonObject:
    """What of a file runs: all of it, or the loop with this name, of the kind that such a file holds."""
    from loop_ls.formats.registry import FORMATS, claimed

    if not loop:
        return {"kind": "workflow"}
    format_ = claimed(str(path))
    kind = "" if format_ is None else FORMATS[format_].target
    return {"kind": "loop" if kind in ("", "workflow") else kind, "name": loop}


def _part(args: argparse.Namespace) -> JsonObject:
    """Which part of the workflow runs, and what stands for the outputs of the others. Raises `Wrong`."""
    named = {"startFrom": "start_from", "endAt": "end_at", "outputsOf": "outputs_of"}
    found: JsonObject = {key: value for key, name in named.items() if (value := getattr(args, name, None)) is not None}
    if pins := getattr(args, "pin", None):
        found["pinned"] = named_values(pins, "--pin")
    return found


def asked_instead(args: argparse.Namespace) -> dict[str, str]:
    """Whom to ask in place of those that the files name."""
    return {name: value for name in ("provider", "model") if (value := getattr(args, name, None)) is not None}


def _definition(word: str, args: argparse.Namespace) -> tuple[Path, JsonObject] | None:
    """A role loop by its name, or an assistant by its id, where that is no file and no workflow: those of the
    workspace and the built-in ones."""
    from loop_ls.formats.role_loop.built_in_loops import BUILT_IN

    root = root_of(args.root)
    if not _is_bare_name(word, root):
        return None
    if word not in BUILT_IN and found_loop(word, args.root, args.data_dir) is None:
        return None
    return root, {"target": {"kind": "definition", "name": word}}


def found_loop(word: str, root: str | None, data_dir: str | None) -> tuple[Path, Path, str] | None:
    """The workspace, the file and the name of a role loop or assistant of this name; None: it names something else."""
    from loop_ls.cli.engine.connect import data_folder_of
    from loop_ls.engine.assistants.discovery import Assistants
    from loop_ls.engine.roles.definitions import definitions

    place = root_of(root)
    if not _is_bare_name(word, place):
        return None
    data = data_folder_of(data_dir, place)
    known = next((one for one in definitions(place.as_posix(), data) if one.name == word and not one.built_in), None)
    if known is not None:
        return place, place / known.path, word
    assistant = Assistants(place).find(word)
    return None if assistant is None else (place, Path(assistant.path), assistant.id)


def _is_bare_name(word: str, root: Path) -> bool:
    """Whether it is no file and no workflow."""
    from loop_ls.index.disk.discovery import discover

    if Path(word).is_file() or "/" in word or word.endswith((".yaml", ".yml", ".json")):
        return False
    keys = discover(str(root)).workspace.keys
    return not any(key == word or key.rpartition("/")[2] == word for key in keys)


def found_file(word: str, root: str | None) -> tuple[Path, Path]:
    path = Path(word)
    if path.is_file():
        if (loop := loop_beside(word)) is not None:
            raise Wrong(f"{word} belongs to {loop}; name that file")
        place = root_of(root, path.resolve().parent)
        if not path.resolve().is_relative_to(place):
            raise Wrong(f"{word} is not in the workspace {place}; set its folder with --root")
        return place, path.resolve()
    if path.suffix in (".yaml", ".yml") or path.is_dir():
        raise Wrong(f"file not found: {word}")
    return _named(word, root_of(root))


def loop_beside(word: str) -> Path | None:
    """The loop file that a file of checks or test cases is about; None: it is no such file, or alone."""
    given = Path(word)
    stem = subject_stem(given.as_posix()) if given.is_file() else None
    text = None if stem is None else read_text(word)
    if stem is None or text is None or names_schema(text.lines):
        return None  # or it is a workflow of that name
    return next((path for path in map(Path, loop_paths(stem)) if path.is_file()), None)


def _named(name: str, root: Path) -> tuple[Path, Path]:
    """A workflow of the workspace by its key, or by the end of its key when that is the only one."""
    from loop_ls.formats.common.did_you_mean import nearest
    from loop_ls.index.disk.discovery import discover

    workspace = discover(str(root)).workspace
    keys = workspace.keys
    fitting = [key for key in keys if key == name] or [key for key in keys if key.rpartition("/")[2] == name]
    if len(fitting) > 1:
        raise Wrong(f"several workflows are named `{name}`: {', '.join(sorted(fitting))}")
    if not fitting:
        near = nearest(name, keys)
        guess = f"; did you mean `{near}`?" if near else ""
        raise Wrong(f"unknown workflow `{name}` in {root}{guess}")
    document = workspace.by_key(fitting[0])
    assert document is not None
    return root, Path(document.path).resolve()


def read_input(word: str) -> str:
    """The text itself, `-` for standard input, `@file` for a file."""
    try:
        if word == "-":
            return sys.stdin.buffer.read().decode("utf-8", "replace")
        if word.startswith("@"):
            return Path(word[1:]).read_text("utf-8", "replace")
    except OSError as error:
        raise Wrong(f"the input {word} cannot be read: {error.strerror or error}") from None
    return word


def named_values(words: Iterable[str], option: str = "--param") -> dict[str, str]:
    """`name=value` each. Raises `Wrong`."""
    return dict(_pair(word, option) for word in words)


def _pair(word: str, option: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not name or not equals:
        raise Wrong(f"`{option} {word}`: use the form name=value")
    return name, value
