"""The sentences for broken YAML: what stands there, and what to write instead."""

from __future__ import annotations

from loop_ls.text.fault import Fault, shortened
from loop_ls.text.position import Position, Span


def _at(line: int, start: int, end: int) -> Span:
    return Span(Position(line, start), Position(line, max(end, start + 1)))


def tab(line: int, start: int, end: int) -> Fault:
    return Fault(_at(line, start, end), "This line is indented with a tab; YAML allows only spaces.", "tab")


def odd_blank(line: int, start: int, end: int, sign: str) -> Fault:
    """A sign that looks like a blank and is none: it comes along when text is copied from a page."""
    sentence = f"{_named(sign)} is not whitespace in YAML; use a plain space, or remove it."
    return Fault(_at(line, start, end), sentence, "odd-blank")


def _named(sign: str) -> str:
    name = {0xA0: "A no-break space", 0x202F: "A narrow no-break space", 0x200B: "A zero-width space"}.get(ord(sign))
    return f"{name or 'A special space'} (U+{ord(sign):04X})"


def missing_colon(line: int, start: int, word: str) -> Fault:
    return Fault(
        _at(line, start, start + len(word)),
        f"Missing colon after `{shortened(word)}`; write `{shortened(word)}:` and its value.",
        "missing-colon",
    )


def missing_space(line: int, colon: int, key: str) -> Fault:
    return Fault(_at(line, colon, colon + 1), f"Missing space after `{shortened(key)}:`.", "missing-space")


def missing_dash_space(line: int, dash: int) -> Fault:
    return Fault(_at(line, dash, dash + 1), "Missing space after `-`.", "missing-space")


def indentation(line: int, column: int, expected: int) -> Fault:
    spaces = "1 space" if column == 1 else f"{column} spaces"
    sentence = f"Wrong indentation: {spaces} instead of {expected}."
    return Fault(_at(line, 0, column), sentence, "indentation")


def open_quote(line: int, start: int, end: int, quote: str) -> Fault:
    return Fault(_at(line, start, end), f"Unclosed string; end it with `{quote}`.", "open-quote")


def open_bracket(line: int, start: int, end: int, bracket: str) -> Fault:
    closing = "]" if bracket == "[" else "}"
    sentence = f"Unclosed `{bracket}`; add `{closing}` after the last entry."
    return Fault(_at(line, start, end), sentence, "open-bracket")


def wrong_bracket(line: int, column: int, bracket: str, opening: str) -> Fault:
    closing = "]" if opening == "[" else "}"
    return Fault(
        _at(line, column, column + 1), f"`{bracket}` cannot close `{opening}`; use `{closing}`.", "open-bracket"
    )


def missing_comma(line: int, column: int) -> Fault:
    return Fault(_at(line, column, column + 1), "Missing comma before this entry.", "missing-comma")


def stray_comma(line: int, column: int) -> Fault:
    sentence = "Missing entry before this comma; add one or remove the comma."
    return Fault(_at(line, column, column + 1), sentence, "stray-comma")


def quotes_around(line: int, start: int, end: int, why: str) -> Fault:
    return Fault(_at(line, start, end), f"Missing quotes: this text {why}.", "quotes-needed")


def behind_quote(line: int, start: int, end: int) -> Fault:
    sentence = "Text after the closing quote; move it inside, or put other quotes around the whole text."
    return Fault(_at(line, start, end), sentence, "unexpected-text")


def behind_header(line: int, start: int, end: int, sign: str) -> Fault:
    sentence = f"Text after `{sign}`; put it on the next lines, indented."
    return Fault(_at(line, start, end), sentence, "unexpected-text")


def inline_item(line: int, start: int, end: int, key: str) -> Fault:
    sentence = f"`- ` cannot follow `{shortened(key)}:` on the same line; start a new line, or write `[...]`."
    return Fault(_at(line, start, end), sentence, "unexpected-text")


def stray_text(line: int, start: int, text: str) -> Fault:
    first = text.split(maxsplit=1)[0] if text.split() else text
    hint = f"is a colon missing after `{shortened(first)}`, or is the indentation too small?"
    return Fault(
        _at(line, start, start + len(text)),
        f"Expected `key: value`, not plain text; {hint}",
        "unexpected-text",
    )


def stray_item(line: int, start: int, end: int) -> Fault:
    sentence = "Unexpected list item: nothing above can be a list; add a key for it, or remove the `-`."
    return Fault(_at(line, start, end), sentence, "unexpected-text")


def too_deep(line: int, column: int, limit: int) -> Fault:
    return Fault(_at(line, column, column + 1), f"Nested deeper than {limit} levels; the rest is ignored.", "too-deep")
