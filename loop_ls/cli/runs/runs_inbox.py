"""Verbs of `loop-ls runs` about what waits for a person: the list, and one answer to any of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING

from loop_ls.cli.arguments import print_json
from loop_ls.cli.engine.connect import refuse
from loop_ls.client import EngineClient
from loop_ls.contract.questions import ANSWERS_TO
from loop_ls.report.terminal_text import shown, shown_lines

if TYPE_CHECKING:
    from loop_ls.contract.answers import Waiting

Common = Callable[[argparse.ArgumentParser, bool], None]
Work = Callable[[EngineClient, argparse.Namespace], Awaitable[int]]

#: Lines of what a question is about.
EXCERPT = 8


def configure(verbs: argparse._SubParsersAction[argparse.ArgumentParser], common: Common) -> None:
    listing = verbs.add_parser("inbox", help="Show everything that waits for you, and how to answer")
    listing.add_argument("--after", type=_position, metavar="N", help="Also show what happened since this position")
    common(listing, True)
    verb = verbs.add_parser("answer", help="Answer the question of a waiting run")
    verb.add_argument("id", metavar="ID")
    words = sorted({answer for answers in ANSWERS_TO.values() for answer in answers})
    verb.add_argument("answer", metavar="ANSWER", choices=words, help=f"One of {', '.join(words)}")
    verb.add_argument(
        "--text",
        metavar="TEXT|-",
        default="",
        help="Text for the run: what it asked for, feedback or a note (-: standard input)",
    )
    verb.add_argument("--question", metavar="ID", default="", help="Which question, if the run waits for several")
    common(verb, True)


async def _inbox(engine: EngineClient, args: argparse.Namespace) -> int:
    answer = await engine.inbox(args.after)
    if not answer["ok"]:
        return refuse(answer, args.json)
    if args.json:
        return print_json(answer)
    for one in answer["waiting"]:
        print("\n".join(_lines(one)))
    if not answer["waiting"]:
        print("Nothing waits for you.")
    for happened in answer.get("missed", ()):
        print(shown(f"{happened['runId'][:6]}  {happened['at'][11:19]}  {happened['name']}: {happened['text']}"))
    return 0


def _lines(one: Waiting) -> Iterator[str]:
    run = one["runId"][:6]
    yield shown(f"{run}  {one['text']}")
    about = one.get("context", "").strip().splitlines()
    yield from (f"    {shown_lines(line)}" for line in about[:EXCERPT])
    if len(about) > EXCERPT:
        yield f"    … {len(about) - EXCERPT} more lines"
    words = ", ".join(f"{each['answer']} ({each['title'].lower()})" for each in one["answers"])
    text = ' [--text "..."]' if any(each["text"] for each in one["answers"]) else ""
    yield f"    loop-ls runs answer {run} ANSWER{text}: {words}"


async def _answer(engine: EngineClient, args: argparse.Namespace) -> int:
    text = sys.stdin.read() if args.text == "-" else args.text
    answer = await engine.answer(args.id, {"answer": args.answer, "text": text, "question": args.question})
    if not answer["ok"]:
        return refuse(answer, args.json)
    if args.json:
        return print_json(answer)
    print(f"{answer['runId'][:6]}  answered: {answer['answer']}")
    return 0


def _position(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 0")
    return int(text)


VERBS: dict[str, Work] = {"inbox": _inbox, "answer": _answer}
