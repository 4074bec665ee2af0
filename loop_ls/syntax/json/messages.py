"""The sentences for broken JSON: what stands there, and what to write instead."""

from __future__ import annotations

from loop_ls.text.fault import Fault, shortened
from loop_ls.text.position import Span

_INSTEAD = {"True": "true", "False": "false", "None": "null", "TRUE": "true", "FALSE": "false", "NULL": "null"}


def comment(span: Span) -> Fault:
    return Fault(span, "JSON does not allow comments; remove this one.", "comment")


def last_comma(span: Span) -> Fault:
    return Fault(span, "Trailing comma: JSON does not allow it; remove it.", "trailing-comma")


def missing_comma(span: Span) -> Fault:
    return Fault(span, "Missing comma before this entry.", "missing-comma")


def missing_colon(span: Span, key: str) -> Fault:
    return Fault(span, f"Missing colon and value after `{shortened(key)}`.", "missing-colon")


def missing_value(span: Span, key: str) -> Fault:
    return Fault(span, f"Missing value of `{shortened(key)}`.", "missing-value")


def missing_key(span: Span) -> Fault:
    return Fault(span, 'Missing key: write `"key":` before this value.', "missing-key")


def bare_key(span: Span, key: str) -> Fault:
    return Fault(span, f"Missing double quotes around the key `{shortened(key)}`.", "quotes-needed")


def single_quotes(span: Span) -> Fault:
    return Fault(span, "JSON allows only double quotes; replace `'` with `\"`.", "quotes-needed")


def bad_word(span: Span, word: str) -> Fault:
    instead = f"write `{_INSTEAD[word]}`" if word in _INSTEAD else "put double quotes around strings"
    return Fault(span, f"Invalid JSON value `{shortened(word)}`; {instead}.", "quotes-needed")


def bad_text(span: Span, problem: str) -> Fault:
    return Fault(span, f"Invalid JSON string: {problem}.", "text")


def open_quote(span: Span) -> Fault:
    return Fault(span, 'Unclosed string; end it with `"`.', "open-quote")


def open_bracket(span: Span, sign: str) -> Fault:
    closing = "]" if sign == "[" else "}"
    return Fault(span, f"Unclosed `{sign}`; add `{closing}` after the last entry.", "open-bracket")


def wrong_bracket(span: Span, sign: str, opening: str) -> Fault:
    closing = "]" if opening == "[" else "}"
    return Fault(span, f"`{sign}` cannot close `{opening}`; use `{closing}`.", "open-bracket")


def stray(span: Span, sign: str) -> Fault:
    return Fault(span, f"Unexpected `{sign}`; remove it.", "unexpected-text")


def behind_root(span: Span) -> Fault:
    return Fault(span, "Text after the end of the JSON value; remove it.", "unexpected-text")


def too_deep(span: Span, limit: int) -> Fault:
    return Fault(span, f"Nested deeper than {limit} levels; the rest is ignored.", "too-deep")


def too_many(span: Span) -> Fault:
    return Fault(
        span,
        "The rest of the file is ignored: too much above is not valid JSON; is this another kind of file?",
        "syntax",
    )
