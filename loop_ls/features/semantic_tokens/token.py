"""What a semantic token is: its type, its modifiers, its place on one line."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple


class TokenType(Enum):
    """Names of the protocol; the order is that of the legend."""

    VARIABLE = "variable"  # results of steps and loops
    PARAMETER = "parameter"  # input and arguments
    PROPERTY = "property"  # constants, and keys without effect
    FUNCTION = "function"  # workflows
    KEYWORD = "keyword"  # variables of the language (`loop.*`)
    OPERATOR = "operator"  # double braces


#: Modifiers in the order of the legend; a token holds the sum of `1 << index`.
MODIFIERS = ("declaration", "readonly", "deprecated")
DECLARATION, READONLY, DEPRECATED = (1 << index for index in range(len(MODIFIERS)))


class Token(NamedTuple):
    """On one line; columns and length in code points."""

    line: int
    column: int
    length: int
    type: TokenType
    modifiers: int = 0


def apart(found: list[Token]) -> Iterator[Token]:
    """Tokens never overlap: of two at one place (an alias read twice) the first counts."""
    line, end = -1, 0
    for token in found:
        if token.length <= 0 or (token.line == line and token.column < end):
            continue
        line, end = token.line, token.column + token.length
        yield token
