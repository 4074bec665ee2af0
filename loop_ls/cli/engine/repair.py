"""`loop-ls engine repair`: what a damaged journal has lost; with `--accept`, going on with what it holds."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from loop_ls.cli.engine.connect import add_place, data_folder_of, root_of

FAILED = 2
DAMAGED = 1


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--accept",
        action="store_true",
        help="Continue with what can be read; the files are backed up first, and unfinished runs wait for `resume`",
    )
    parser.add_argument("--json", action="store_true", help="Print one JSON object instead of text")
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """0: the journal is whole, or is accepted now. 1: something is lost."""
    from loop_ls.engine.process.instance_lock import DataFolder, FolderRefused

    path = data_folder_of(args.data_dir, root_of(args.root))
    if not path.is_dir():
        return _say(args, {"ok": True, "whole": True}, [f"No journal found in {path}."])
    folder = DataFolder(path)
    try:
        folder.take()
    except FolderRefused as refused:
        return _refuse(args, refused.message, refused.hint)
    try:
        return _repair(args, path / "journal.db")
    finally:
        folder.release()


def _repair(args: argparse.Namespace, path: Path) -> int:
    from loop_ls.engine.journal import JournalRefused
    from loop_ls.engine.recovery.journal_repair import examined, repaired

    found = examined(path)
    lines = [told for told in (found.problem, found.spending) if told]
    lines += [f"{run}: {why}" for run, why in found.damaged.items()]
    there = f"{found.runs} runs with {found.facts} events can be read."
    answer = {"ok": True, **found.wire()}
    if found.whole:
        return _say(args, answer, [f"The journal is intact: {there}"])
    if not args.accept:
        hint = (
            "Restore the data folder from a backup, or continue with what can be read: loop-ls engine repair --accept"
        )
        return _say(args, answer, [*lines, there, hint], DAMAGED)
    try:
        done = asyncio.run(repaired(path, found))
    except JournalRefused as refused:
        return _refuse(args, refused.message, refused.hint)
    except OSError as error:
        return _refuse(args, f"The journal cannot be repaired: {error.strerror or error}.", "")
    lines += [there, f"Repaired; the original files are in {done.copy}."]
    if found.spending:
        lines.append("The cost of deleted runs and trials no longer counts for any cap.")
    if done.waiting:
        lines.append(
            f"Calls of these runs may be billed again, so they wait for `loop-ls runs resume`: {' '.join(done.waiting)}"
        )
    if done.given_up:
        lines.append(f"The record of these runs is damaged, so they are marked as failed: {' '.join(done.given_up)}")
    more = {"accepted": True, "copy": done.copy, "waiting": done.waiting, "givenUp": done.given_up}
    return _say(args, {**answer, **more}, lines)


def _say(args: argparse.Namespace, answer: Mapping[str, object], lines: list[str], status: int = 0) -> int:
    print(json.dumps(answer, ensure_ascii=False) if args.json else "\n".join(lines))
    return status


def _refuse(args: argparse.Namespace, message: str, hint: str) -> int:
    if args.json:
        print(json.dumps({"ok": False, "code": "engine_not_ready", "message": message, "hint": hint}))
    else:
        print("\n".join(filter(None, (f"loop-ls: {message}", hint and f"  {hint}"))), file=sys.stderr)
    return FAILED
