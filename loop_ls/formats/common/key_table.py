"""What one key of a file means: the row of the one table that everything reads.

Checking, completion, hover and the published schemas all take type, default, range, choices and
words from here, so they cannot disagree. Nothing in this module knows a particular file format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from types import MappingProxyType
from typing import Literal

from loop_ls.text.record import equal_record, record


class Type(Enum):
    """What the value of a key has to be. The value is the word for people."""

    TEXT = "a string"
    INTEGER = "an integer"
    NUMBER = "a number"
    BOOLEAN = "true or false"
    DURATION = "a duration such as 30s or 1h30m"
    TEXTS = "a list of strings"
    TEXT_OR_TEXTS = "a string or a list of strings"
    NUMBERS = "a list of numbers"
    BLOCK = "a mapping"
    BLOCKS = "a list of mappings"
    BLOCK_MAP = "a mapping of names to mappings"
    TEXT_MAP = "a mapping of names to strings"
    ARGUMENTS = "a mapping of names to values"
    ANY = "anything"

    # Tables are looked into by type for every value of a file; the hash of an Enum runs in Python.
    __hash__ = object.__hash__


#: What completion offers as a value besides `choices`.
Offers = Literal["", "providers", "models", "workflows", "elements", "servers", "skills", "parameters", "roles"]

#: What a variable that nothing defines does to a text: the braces stay in it as written, the step or the loop
#: fails, a condition counts as not met or as false. The engine does it, and the rules say it beforehand.
Unknown = Literal["stays", "fails", "not met", "false"]

#: What is said about it, behind "it uses ..., which is not defined".
CONSEQUENCES: Mapping[Unknown, str] = MappingProxyType(
    {
        "stays": "it stays as written",
        "fails": "that fails the run",
        "not met": "the condition counts as not met",
        "false": "the condition is false",
    }
)

#: The mode of a loop in which a key has a meaning; None: in both.
LoopMode = Literal["refine", "iterate"]


@equal_record
class Key:
    """One key. `text` is what it does in one or two plain sentences.

    `default` is written as a person would write it. `minimum` and `maximum` are inclusive; a
    duration has to be above zero where `positive` is set. `inherits` names where an absent value
    comes from, nearest first. `reference` tells where mcp-cli, the first program that ran this
    format, does something else. `idle` marks keys that are accepted and have no effect (WF119).
    """

    name: str
    type: Type
    text: str
    required: bool = False
    default: str | None = None
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    positive: bool = False
    shape: Shape | None = None
    interpolated: bool = False
    unknown: Unknown = "stays"
    inherits: tuple[str, ...] = ()
    reference: str = ""
    idle: bool = False
    offers: Offers = ""
    only_in: LoopMode | None = None
    required_in: LoopMode | None = None
    examples: tuple[str, ...] = ()

    @property
    def strict(self) -> bool:
        """Whether an unknown variable fails something, or keeps a loop from ever reaching its condition."""
        return self.unknown in ("fails", "not met")


@equal_record
class Advice:
    """What to say about a key that people write and that does not exist.

    `instead` are the keys that were probably meant, best first; they count as present. `rename`:
    the written value may stay as it is when the key becomes `instead[0]`.
    """

    text: str
    instead: tuple[str, ...] = ()
    rename: bool = False


@record
class Shape:
    """One kind of mapping: its keys in the order in which people like to read them.

    `title` completes "is not a key of ...". Of the keys in `one_of` exactly one has to be there. `closed`: a file
    with another key is not run, so that a misspelt one may count as what was probably meant.
    """

    name: str
    title: str
    text: str
    keys: Mapping[str, Key]
    wrong_keys: Mapping[str, Advice] = field(default_factory=lambda: MappingProxyType({}))
    one_of: tuple[str, ...] = ()
    closed: bool = False


def shape(
    name: str,
    title: str,
    text: str,
    *keys: Key,
    wrong: Mapping[str, Advice] | None = None,
    one_of: tuple[str, ...] = (),
    closed: bool = False,
) -> Shape:
    """A shape from its keys in order."""
    table = MappingProxyType({key.name: key for key in keys})
    return Shape(name, title, text, table, MappingProxyType(dict(wrong or {})), one_of, closed)
