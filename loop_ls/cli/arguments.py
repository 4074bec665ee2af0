"""What several commands read and write in the same way: a number from 1, an answer as one line of JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping


def from_one(text: str) -> int:
    """A type of argparse: raises `ArgumentTypeError`."""
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 1")
    return number


def print_json(answer: Mapping[str, object]) -> int:
    """The exit code of a command that only answers."""
    print(json.dumps(answer, ensure_ascii=False))
    return 0


def a_name(text: str) -> str:
    """A type of argparse: raises `ArgumentTypeError` for nothing, as a variable of a script gives that is not set."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty; set a value, or omit the option")
    return text


def add_model(parser: argparse.ArgumentParser) -> None:
    """Whom to ask in place of those that the files name."""
    parser.add_argument(
        "--provider", type=a_name, metavar="NAME", help="Use this provider instead of those in the files"
    )
    parser.add_argument("--model", type=a_name, metavar="NAME", help="Use this model instead of those in the files")
