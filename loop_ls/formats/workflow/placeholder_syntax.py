"""How a placeholder is written: `{{` NAME `}}`, no expressions, no nesting, no escape.

For plain texts. Placeholders with their places in a file are found by `syntax.placeholders`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from loop_ls.text.pattern import pattern

#: A letter or `_`, then letters, digits, `_`, `-` of any script; more parts behind dots.
NAME = r"[^\W\d][\w-]*(?:\.[\w-]+)*"

#: Three opening braces are no placeholder (WF512), here as in `syntax.placeholders`: `{name` is no name.
PLACEHOLDER = pattern(r"(?<!(?<!\{)\{)\{\{\s*(" + NAME + r")\s*\}\}")
_NAME = pattern(NAME)

#: Words that are no names of steps, loops, arguments or accumulated outputs.
RESERVED = frozenset(("env", "loop", "step", "input"))

#: What a rag step defines behind its own name.
RAG_PARTS = frozenset(("results", "total_results", "fusion_method"))


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def names_in(text: str) -> tuple[str, ...]:
    """The names of all placeholders in the order of the text, each once."""
    if "{{" not in text:
        return ()
    return tuple(dict.fromkeys(PLACEHOLDER.findall(text)))


def substituted(text: str, value: Callable[[str], str | None]) -> str:
    """The text with the values of its placeholders in one pass; those without one stay as written."""
    if "{{" not in text:
        return text
    return PLACEHOLDER.sub(lambda found: found[0] if (known := value(found[1])) is None else known, text)


@lru_cache(maxsize=4096)
def producers(name: str) -> tuple[str, ...]:
    """The element names that a variable may belong to, the likeliest first.

    `x` and `step.x` are the result of x, `x.results` and its kin come from a rag step x. Constants
    and loop variables belong to no element by name.
    """
    head, dot, rest = name.partition(".")
    if not dot:
        return () if name == "input" else (name,)
    if head in ("env", "loop"):
        return (name,)  # a step may be called `env.x`, to its author's regret (WF217)
    if head == "step":
        return (rest, name, *_rag(rest))
    return (name, *_rag(name))


@lru_cache(maxsize=4096)
def mentions(name: str) -> tuple[str, ...]:
    """Every name that can decide what a variable is: itself, its producers, and its first part, which
    tells a wrong path behind a known name from an unknown one (WF503). `ENV.X` and `steps.a.output` are
    slips of `env.X` and `step.a`, and mention them."""
    head, dot, rest = name.partition(".")
    if not dot or head in ("env", "loop", "step"):
        return tuple(dict.fromkeys((name, *producers(name))))
    lowered = head.casefold()
    match lowered:
        case "env" | "loop":
            meant: tuple[str, ...] = (f"{lowered}.{rest}",)
        case "step" | "steps":
            meant = (rest, rest.partition(".")[0])
        case _:
            meant = ()
    return tuple(dict.fromkeys((name, *producers(name), head, *meant)))


def _rag(name: str) -> tuple[str, ...]:
    owner, _, part = name.rpartition(".")
    return (owner,) if owner and part in RAG_PARTS else ()
