"""What a check looks at, as the key `on` spells it."""

from __future__ import annotations

from loop_ls.formats.checks.model import Target


def target_of(written: str, every: bool = False) -> Target | None:
    """What a text behind `on` names; None: nothing."""
    kind, dot, name = written.partition(".")
    match kind:
        case "result" | "run" if not dot:
            return Target("run" if kind == "run" else "result")
        case "step" if name:
            return Target("step", name)
        case "loop" if name:
            return Target("loop", name, every)
        case _:
            return None
