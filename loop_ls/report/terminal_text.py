"""Text on a terminal: how wide it is there, and nothing in it that a terminal would obey."""

from __future__ import annotations

from unicodedata import category, east_asian_width

TAB = "    "


def shown(text: str) -> str:
    """Text of a file made fit to print: tabs as blanks, control characters as `\ufffd`.

    A file is not trusted: an escape sequence in a name must not reach the terminal.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(TAB if letter == "\t" else letter if _is_harmless(letter) else "\ufffd" for letter in text)


def width(text: str) -> int:
    """Columns that printed text takes: two for wide letters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def _cells(letter: str) -> int:
    if category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(letter) in ("W", "F") else 1


def _is_harmless(letter: str) -> bool:
    kind = category(letter)
    if kind == "Cf":
        return letter in "\u200c\u200d\ufe0f"  # joiners inside emoji and scripts; never direction marks
    return kind not in ("Cc", "Cs", "Co", "Cn", "Zl", "Zp")


def shown_lines(text: str) -> str:
    """A text of several lines, safe to print."""
    return "\n".join(map(shown, text.split("\n")))


def first_line(text: str) -> str:
    """The first line that says something, safe to print."""
    return next((shown(line.strip()) for line in text.splitlines() if line.strip()), "")


def fitted(text: str, most: int) -> str:
    """`text` in at most so many columns, its end marked when it is cut."""
    if width(text) <= most:
        return text
    kept, room = [], most - 1
    for letter in text:
        room -= width(letter)
        if room < 0:
            break
        kept.append(letter)
    return "".join(kept).rstrip() + "…"
