"""Markdown around texts of others: what a file or a model wrote is seen letter by letter and never rendered.

A picture, link or heading in the text of a stranger would else be shown as if it were ours; a remote picture
tells somebody that a file was opened. Every Markdown text for people puts such texts in by one of these functions.
"""

from __future__ import annotations

from loop_ls.text.pattern import pattern

_TICKS = pattern("`+")
#: Signs that mean something anywhere in a line (CommonMark, with the additions of GitHub and of editors). Inside of
#: a word `_` means nothing.
_SIGNS = pattern(r"[\\`*\[\]<&~|$@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
#: Addresses become links by themselves; so do names that begin with `www.`
_ADDRESS = pattern(r"(?i)(?<=[a-z])(:)(?=/)|(?<=www)(\.)")
#: At the start of a line: lists, rules, quotations, headings and tables.
_LINE_START = pattern(r"([-+=#>:])|(\d{1,9})([.)])")
_BLANKS = pattern(r"[ \t]+")
_BREAK = pattern(r"\r\n?|\n")


def escaped(text: str) -> str:
    """`text` as prose: rendered it reads as it was written, line breaks included."""
    lines = [_escaped_line(line) for line in _BREAK.split(text)]
    return "\n".join(
        f"{line}  " if line and following else line for line, following in zip(lines, [*lines[1:], ""], strict=True)
    )


def code(text: str) -> str:
    """`text` in a span of code, on one line; the ticks around it are more than any row of them inside."""
    line = _BREAK.sub(" ", text)
    if not line:
        return "` `"
    ticks = "`" * (max(map(len, _TICKS.findall(line)), default=0) + 1)
    if not line.strip(" "):
        return ticks + line + ticks
    room = " " if line[0] in " `" or line[-1] in " `" else ""
    return f"{ticks}{room}{line}{room}{ticks}"


def fenced(text: str, language: str = "text") -> str:
    """`text` in a block of code, which it cannot close."""
    ticks = "`" * max(3, max(map(len, _TICKS.findall(text)), default=0) + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def _escaped_line(line: str) -> str:
    lead = _BLANKS.match(line)
    rest = line[lead.end() :] if lead is not None else line
    room = "&nbsp;" * len(lead[0].expandtabs(4)) if lead is not None and rest else ""
    found = _ADDRESS.sub(r"\\\g<0>", _SIGNS.sub(r"\\\g<0>", rest))
    start = _LINE_START.match(found)
    if start is not None:
        found = f"\\{found}" if start[1] else f"{start[2]}\\{found[start.end(2) :]}"
    return room + found.rstrip(" \t")


def in_braces(name: str) -> str:
    """A variable as people write it, in a span of code."""
    return code("{{" + name + "}}")
