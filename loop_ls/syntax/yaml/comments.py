"""Whether a text of YAML has comments. JSON has none; a text that is no YAML is taken to have none."""

from __future__ import annotations

from collections.abc import Sequence as Lines

from loop_ls.text.lines import Text


def has_comments(text: Text) -> bool:
    """A `#` between two tokens. Lines in front of the first and behind the last count too."""
    import yaml  # only here: whoever asks this is in no hurry

    if not any("#" in line for line in text.lines):
        return False
    at, lines = (0, 0), text.lines
    try:
        for token in yaml.scan("\n".join(lines), Loader=yaml.SafeLoader):
            start = (token.start_mark.line, token.start_mark.column)
            if start > at and "#" in _between(lines, at, start):
                return True
            at = max(at, (token.end_mark.line, token.end_mark.column))
    except (yaml.YAMLError, UnicodeError):
        return False
    return "#" in _between(lines, at, (len(lines), 0))


def _between(lines: Lines[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    rows = [*lines[start[0] : end[0] + 1]]
    if rows and start[0] + len(rows) - 1 == end[0]:
        rows[-1] = rows[-1][: end[1]]
    if rows:
        rows[0] = rows[0][start[1] :]
    return "\n".join(rows)
