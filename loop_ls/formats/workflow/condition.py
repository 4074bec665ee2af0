"""The `if` of a step, taken apart before anything is inserted.

Parsed first and interpolated later, so that a result that holds `==` or quotes cannot change what
a condition means. Judging it is the engine's business, marking it that of the rules.
"""

from __future__ import annotations

import re
from typing import Literal

from loop_ls.text.pattern import pattern
from loop_ls.text.record import equal_record

_NAME = r"[^\W\d][\w-]*(?:\.[\w-]+)*"
_VALUE = r"'(?:[^']|'')*'|\"[^\"]*\"|[\w.+-]+|\{\{[^{}]*\}\}"
_TRUTH = pattern(rf"\$?\{{\{{\s*({_NAME})\s*\}}\}}")
_COMPARED = pattern(rf"\{{\{{\s*({_NAME})\s*\}}\}}\s*(==|!=)\s*({_VALUE})")
_EXPRESSION = pattern(rf"\$\{{\{{\s*({_NAME})\s*(==|!=)\s*({_VALUE})\s*\}}\}}")
_OPERATORS = pattern(
    r"&&|\|\||[=!]==|==|!=|=~|>=|<=|(?<=[\w}'\"\s])[<>](?=[\s\w{'\"])|!\s*\{\{"
    r"|(?<=[}'\"]\s)(?:contains|matches|startsWith|endsWith|and|or|in)(?=\s)"
    r"|(?<=\w\s)(?:contains|matches|startsWith|endsWith|and|or|in)(?=\s+['\"{])"
    r"|(?:^|(?<=[\s{(]))not(?=\s+[\w{(])|\b[A-Za-z_]\w*\((?=[^)]*\))"
)


@equal_record
class Condition:
    """`truth`: one variable on its own. `compare`: a variable against a text. `text`: anything else,
    judged as it stands.

    `name` is the variable (a trailing `.result` inside `${{ }}` means the same and is left out),
    `at` the offset of `name` in the text. `unsupported` is an operator or call that nobody knows
    (WF213). `expression` marks the form `${{ ... }}`.
    """

    kind: Literal["truth", "compare", "text"]
    name: str = ""
    at: int = 0
    operator: Literal["==", "!="] = "=="
    value: str = ""
    expression: bool = False
    unsupported: str = ""


def parse_condition(text: str) -> Condition:
    """Never fails: what is no known form is `text`."""
    offset = len(text) - len(text.lstrip())
    bare = text.strip()
    if match := _TRUTH.fullmatch(bare):
        return Condition("truth", match[1], offset + match.start(1), expression=bare.startswith("$"))
    if match := _COMPARED.fullmatch(bare):
        return _comparison(match, offset)
    if match := _EXPRESSION.fullmatch(bare):
        return _comparison(match, offset, expression=True)
    found = [match[0].strip() for match in _OPERATORS.finditer(bare)]
    found.sort(key=lambda operator: operator in ("==", "!="))  # these exist, in simpler conditions
    return Condition("text", unsupported=found[0] if found else "")


def _comparison(match: re.Match[str], offset: int, expression: bool = False) -> Condition:
    name = match[1].removesuffix(".result") if expression else match[1]
    value = match[3]
    if value[0] == "'":
        value = value[1:-1].replace("''", "'")
    elif value[0] == '"':
        value = value[1:-1]
    operator: Literal["==", "!="] = "==" if match[2] == "==" else "!="
    return Condition("compare", name, offset + match.start(1), operator, value, expression)
