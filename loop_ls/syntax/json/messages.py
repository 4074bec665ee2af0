"""The sentences for broken JSON: what stands there, and what to write instead."""

from __future__ import annotations

from loop_ls.text.fault import Fault, shortened
from loop_ls.text.position import Span

_INSTEAD = {"True": "true", "False": "false", "None": "null", "TRUE": "true", "FALSE": "false", "NULL": "null"}


def comment(span: Span) -> Fault:
    return Fault(span, "JSON takes no comments; remove this one.", "comment")


def last_comma(span: Span) -> Fault:
    return Fault(span, "JSON takes no comma behind the last entry; remove it.", "trailing-comma")


def missing_comma(span: Span) -> Fault:
    return Fault(span, "A comma is missing in front of this entry.", "missing-comma")


def missing_colon(span: Span, key: str) -> Fault:
    return Fault(span, f"`{shortened(key)}` has no colon behind it; write its value after a colon.", "missing-colon")


def missing_value(span: Span, key: str) -> Fault:
    return Fault(span, f"`{shortened(key)}` has no value behind its colon.", "missing-value")


def missing_key(span: Span) -> Fault:
    return Fault(span, 'This value has no key; write `"key":` in front of it.', "missing-key")


def bare_key(span: Span, key: str) -> Fault:
    return Fault(span, f"`{shortened(key)}` needs double quotes to be a key.", "quotes-needed")


def single_quotes(span: Span) -> Fault:
    return Fault(span, "JSON takes double quotes only; write `\"` for `'`.", "quotes-needed")


def bad_word(span: Span, word: str) -> Fault:
    instead = f"write `{_INSTEAD[word]}`" if word in _INSTEAD else "put double quotes around a text"
    return Fault(span, f"`{shortened(word)}` is no JSON value; {instead}.", "quotes-needed")


def bad_text(span: Span, problem: str) -> Fault:
    return Fault(span, f"This text is not JSON: {problem}.", "text")


def open_quote(span: Span) -> Fault:
    return Fault(span, 'The text that starts here is never closed; end it with `"`.', "open-quote")


def open_bracket(span: Span, sign: str) -> Fault:
    closing = "]" if sign == "[" else "}"
    return Fault(span, f"`{sign}` is never closed; put `{closing}` behind its last entry.", "open-bracket")


def wrong_bracket(span: Span, sign: str, opening: str) -> Fault:
    closing = "]" if opening == "[" else "}"
    return Fault(span, f"`{sign}` cannot close `{opening}`; write `{closing}`.", "open-bracket")


def stray(span: Span, sign: str) -> Fault:
    return Fault(span, f"`{sign}` has nothing to stand for here; remove it.", "unexpected-text")


def behind_root(span: Span) -> Fault:
    return Fault(span, "The JSON value ends above; remove what follows it.", "unexpected-text")


def too_deep(span: Span, limit: int) -> Fault:
    return Fault(span, f"This is nested deeper than {limit} levels; nothing below is read.", "too-deep")


def too_many(span: Span) -> Fault:
    return Fault(
        span, "Nothing from here on is read: too much above is no JSON; is this another kind of file?", "syntax"
    )
