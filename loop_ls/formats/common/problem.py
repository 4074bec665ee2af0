"""What keeps a file from meaning something: said once, for the checker that marks it and the engine that refuses it."""

from __future__ import annotations

from typing import NamedTuple

from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Entry, Node


class Flaw(NamedTuple):
    """`code` is the rule. `at` is the wrong value, the object that lacks something, or the entry whose key
    is meant; None: the file as a whole.

    `better` is what was probably meant, in place of the value. `parameter`: the value only repeats this
    one, whose default is to blame. `advice`: accepted all the same.
    """

    code: str
    at: Node | Entry | None
    message: str
    better: str | None = None
    parameter: str | None = None
    advice: bool = False


class Placed(NamedTuple):
    """A flaw with the piece that its places count from."""

    piece: Piece | None
    flaw: Flaw
