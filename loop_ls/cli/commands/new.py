"""`loop-ls new`: files to begin with, which check clean and run with `--mock`. Never writes over a file."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypedDict

from loop_ls.cli.commands.check import CLEAN, refuse, write
from loop_ls.formats.common.providers import PROVIDERS
from loop_ls.formats.settings.file_format import SETTINGS_NAME
from loop_ls.index.disk.discovery import load_settings
from loop_ls.index.disk.projects import project_folder
from loop_ls.report.baseline import write_whole
from loop_ls.report.terminal_text import shown
from loop_ls.syntax.edit.render import scalar_text

HELP = "create a starter file"

FILES = Path(__file__).parents[1] / "new_files"

#: kind -> template: where it goes. The VS Code client reads the same files.
KINDS: Mapping[str, Mapping[str, str]] = {
    kind: one["files"] for kind, one in json.loads((FILES / "kinds.json").read_text("utf-8")).items()
}


class _Answering(TypedDict):
    """Who may answer in new files: the `execution` of workflows, and by kind the files that this takes, template ->
    where it goes. The VS Code client asks with the same table."""

    title: str
    about: str
    key: bool
    execution: str
    files: dict[str, dict[str, str]]


_ANSWERING: Mapping[str, _Answering] = json.loads((FILES / "providers.json").read_text("utf-8"))
#: Providers that need no key. Both are kinds of the settings, too.
WITHOUT_KEY: Final = tuple(name for name, one in _ANSWERING.items() if not one["key"])
#: What the templates of workflows name, and kinds of files that name it.
_EXECUTION: Final = _ANSWERING["anthropic"]["execution"]
#: What the template of settings names as the judge.
_JUDGE: Final = "  provider: anthropic\n  model: claude-haiku-4\n"
_CALLS_MODELS: Final = ("workflow", "loop")
#: The criterion of the template of assistants, with what its persona says of it, and the one that asks a person.
_BY_PATTERN: Final = "  type: regex\n  value: '(^|\\n)ALL-CHECKS-GREEN\\s*(\\n|$)'\n"
_PERSONA_OF_PATTERN: Final = (
    "  Once the task is done and the checks pass, write ALL-CHECKS-GREEN on a line of its own.\n"
)
_BY_A_PERSON: Final = "  type: manual # each iteration waits for you: approve, reject, or ask for changes\n"
#: Who may answer, by name.
WHO_ANSWERS: Final = (*WITHOUT_KEY, *PROVIDERS)
#: By custom names of workflows are in snake_case (WF115); this holds for every kind.
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=tuple(KINDS), metavar="KIND", help=", ".join(KINDS))
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="Name with lowercase letters, digits and _; not for settings"
    )
    about = "provider: local (a small model on this machine), scripted (answers from a file), anthropic, openai, ..."
    parser.add_argument("--provider", choices=WHO_ANSWERS, metavar="NAME", default="anthropic", help=about)
    parser.add_argument("--model", help="Model (default: the provider's default)")
    parser.add_argument("--approval", action="store_true", help="A person approves each iteration (assistants)")
    parser.add_argument("--into", default=".", metavar="DIR", help="Folder (default: this one)")


def run(args: argparse.Namespace) -> int:
    name = args.name or ""
    if args.kind != "settings" and args.name is None:
        return refuse(f"NAME is missing, such as loop-ls new {args.kind} my_{args.kind.replace('-', '_')}")
    if args.kind != "settings" and not _NAME.fullmatch(name):
        better = snake(name)
        hint = f", such as {better}" if better else ", such as my_loop"
        return refuse(f"invalid name `{name}`: use lowercase letters, digits and _{hint}")
    assistant = args.kind == "assistant"
    if args.kind not in _CALLS_MODELS and (args.provider not in _providers_of(args.kind) or args.model):
        more = "; assistants get --provider scripted, or the agent that the settings name" if assistant else ""
        return refuse(f"--provider and --model are only for workflows and loops{more}")
    if args.approval and not assistant:
        return refuse("--approval is only for assistants")
    into = Path(args.into)
    files = contents(args.kind, name, args.provider, args.model, args.approval)
    settings = settings_of(into)
    to_add: list[str] = []
    if settings is not None and SETTINGS_NAME in files and args.kind != "settings":
        del files[SETTINGS_NAME]
        to_add = _missing(settings, args.kind, args.provider, args.approval)
    refused = create(files, into)
    if refused:
        return refuse(refused)
    told = "".join(f"{shown(str(into / path))}\n" for path in files)
    told += "".join(f"Before you run it, add to {shown(str(settings))} under {line}\n" for line in to_add)
    write(told + how_to_run(args.kind, str(into / next(iter(files))), args.provider))
    return CLEAN


def _providers_of(kind: str) -> tuple[str, ...]:
    """Those that `new` can set up for a kind that names no provider itself."""
    return ("anthropic", "scripted") if kind == "assistant" else ("anthropic",)


def _missing(settings: Path, kind: str, provider: str, approval: bool) -> list[str]:
    """What settings that are there lack for the new files."""
    known = load_settings(str(settings.parent))[0]
    told: list[str] = []
    own = known.providers.get(name := "claude-code" if kind == "assistant" else provider)
    by_default = provider in WITHOUT_KEY and kind != "assistant"
    if provider in WITHOUT_KEY and (not by_default if own is None else own.kind != provider):
        told.append(f"`providers`: {name}: {{kind: {provider}}}")
    judge = known.raw.get("judge") or {}
    if kind == "loop" and provider in WITHOUT_KEY and not judge.get("local") and not judge.get("provider"):
        told.append("`judge`: local: true")
    if approval and (known.raw.get("assistants") or {}).get("revise") is not True:
        told.append("`assistants`: revise: true")
    return told


def create(files: Mapping[str, str], into: Path) -> str:
    """Write all of them, or none where one is there already; the sentence that says why not, else empty."""
    try:
        there = [path for path in files if (into / path).exists()]
        if there:
            return f"{into / there[0]} already exists; nothing was written"
        for path, text in files.items():
            (into / path).parent.mkdir(parents=True, exist_ok=True)
            write_whole(into / path, text.encode(), into)
    except OSError as error:
        return f"{error.filename or into} cannot be written: {error.strerror or error}"
    return ""


def contents(
    kind: str, name: str, provider: str = "anthropic", model: str | None = None, approval: bool = False
) -> dict[str, str]:
    """The files of a kind by path, those that its provider needs behind them."""
    words = {"__name__": name, "__title__": name.replace("_", " ").capitalize()}
    templates = dict(KINDS[kind])
    if kind in _CALLS_MODELS:
        words[_EXECUTION] = _execution(provider, model)
        templates |= _files_of(provider, kind)
    elif kind == "assistant":
        templates |= _files_of(provider, kind)
        if approval:
            words |= {_BY_PATTERN: _BY_A_PERSON, _PERSONA_OF_PATTERN: ""}
            templates |= {"settings-approval.yaml": SETTINGS_NAME} if provider != "scripted" else {}
    elif kind == "settings" and provider != "anthropic":
        words[_JUDGE] = _execution(provider, model)
    return {path.format(name=name): _filled(template, words) for template, path in templates.items()}


def _files_of(provider: str, kind: str) -> Mapping[str, str]:
    return _ANSWERING[provider]["files"].get(kind, {}) if provider in _ANSWERING else {}


def _execution(provider: str, model: str | None) -> str:
    if model is None and provider in WITHOUT_KEY:
        return _ANSWERING[provider]["execution"]
    return f"  provider: {provider}\n  model: {scalar_text(model or PROVIDERS[provider].default_model)}\n"


def _filled(template: str, words: Mapping[str, str]) -> str:
    text = (FILES / template).read_text("utf-8")
    for word, filling in words.items():
        text = text.replace(word, filling)
    return text


def settings_of(into: Path) -> Path | None:
    """The settings that count for files of this folder already."""
    folder = project_folder(into.absolute())
    return None if folder is None else Path(folder) / SETTINGS_NAME


def snake(word: str) -> str:
    """The nearest name; empty where nothing of the word can stay."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_").lstrip("0123456789_")


def how_to_run(kind: str, path: str, provider: str) -> str:
    if provider in WITHOUT_KEY:
        small = " (a model this small mostly ends at the limit)" if provider == "local" and kind == "loop" else ""
        return f"Run it, no key needed{small}: loop-ls run {shown(path)} --input 'your wish'\n"
    if kind in _CALLS_MODELS:
        return f"Try it without a key: loop-ls run {shown(path)} --mock --input 'your wish'\n"
    if kind == "settings":
        return "All settings: loop-ls explain settings\n"
    return ""
