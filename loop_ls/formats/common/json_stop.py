"""Where a strict reader of JSON stops: what `syntax.read_json` reads on for people ends here for programs."""

from __future__ import annotations

import json

from loop_ls.text.lines import Text
from loop_ls.text.position import Position


def json_stop(text: Text) -> Position | None:
    """The place behind which nothing is read; None where all of it is, or where no place is known."""
    try:
        json.loads("\n".join(text.lines))
    except json.JSONDecodeError as error:
        return Position(error.lineno - 1, error.colno - 1)
    except (ValueError, RecursionError):
        return None
    return None
