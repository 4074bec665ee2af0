"""The role loops that come with the product, as the texts of their definitions."""

from __future__ import annotations

from importlib.resources import files

#: By name, in the order in which lists show them.
BUILT_IN = ("harness", "research", "goal-driven", "diverge-converge", "reflection")


def built_in_text(name: str) -> str:
    """The definition as it is shipped; `name` is one of `BUILT_IN`."""
    return files("loop_ls.formats").joinpath("built_in", f"{name}.json").read_text("utf-8")
