"""Values of keys that have a list of them: choices, booleans, numbers and durations that make sense.

The default comes first and says so. Names of providers, models, workflows and elements have modules of
their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.answers import Item, ItemKind
from loop_ls.features.complete.quoting import as_text, literal
from loop_ls.features.spot.place import Spot
from loop_ls.features.text.humanize import duration
from loop_ls.formats.common.duration import parse_duration
from loop_ls.formats.common.key_table import Key, Type
from loop_ls.formats.common.scalars import floating

#: How many iterations suit what.
_ITERATIONS = (("5", "for development"), ("3", "for refinement"), ("10", "for exploration"))
_DURATIONS = ("30s", "1m", "2m", "5m", "15m", "1h")
_DELAYS = ("1s", "2s", "5s", "10s", "30s", "1m")
_NUMBERS: dict[str, tuple[str, ...]] = {
    "temperature": ("0", "0.2", "0.7", "1"),
    "max_tokens": ("1024", "4096", "8192", "16384"),
    "max_workers": ("3", "5", "10"),
    "max_retries": ("1", "2", "3", "5"),
    "min_success_rate": ("0.8", "0.9", "0.95", "1"),
    "top_k": ("5", "3", "10", "20"),
    "max_chunk_size": ("512", "256", "1024"),
    "overlap": ("0", "50", "100"),
    "dimensions": ("1536", "3072", "768", "1024"),
    "max_iterations": ("10", "5", "20"),
}


def values(key: Key, spot: Spot, owner: str) -> Iterator[Item]:
    """Values of `key`; `owner` is the name of the shape that it belongs to."""
    for place, (text, detail) in enumerate(_known(key, owner)):
        yield _item(text, detail, key, spot, place, owner)


def guesses(key: Key, spot: Spot, owner: str, path: str) -> Iterator[Item]:
    """Values that can be guessed for keys that name things: those are free texts."""
    guess = {
        ("workflow", "name"): (_snake(path), "the name of the file"),
        ("workflow", "version"): ("1.0.0", "MAJOR.MINOR.PATCH"),
    }.get((owner, key.name))
    if key.name == "accumulate":
        name = spot.written.get("name") or next((w["name"] for w in spot.outer if "name" in w), "")
        guess = (f"{name or 'loop'}_history", "outputs of all iterations")
    if guess and guess[0]:
        text, detail = guess
        yield Item(text, ItemKind.VALUE, spot.lead + as_text(text, spot), None, detail, "000")


def _known(key: Key, owner: str) -> Iterator[tuple[str, str]]:
    if key.choices:
        first = [key.default] if key.default in key.choices else []
        for choice in [*first, *(c for c in key.choices if c != key.default)]:
            yield choice, "default" if choice == key.default else ""
        return
    match key.type:
        case Type.BOOLEAN:
            default = key.default or "false"
            yield default, "default" if key.default else ""
            yield ("false" if default == "true" else "true"), ""
        case Type.DURATION:
            for text in _DELAYS if key.name == "retry_delay" else _DURATIONS:
                yield text, duration(parse_duration(text) or 0)
        case Type.INTEGER if key.name == "max_iterations" and owner in ("loop", "step loop"):
            yield from _ITERATIONS
        case Type.INTEGER | Type.NUMBER:
            yield from _numbers(key)
        case _:
            return


def _numbers(key: Key) -> Iterator[tuple[str, str]]:
    known = _NUMBERS.get(key.name, ())
    default = key.default if key.default is not None and floating(key.default) is not None else None
    if default is not None:
        yield default, "default"
    for number in known:
        if number != default:
            yield number, ""


def _item(text: str, detail: str, key: Key, spot: Spot, place: int, owner: str) -> Item:
    written = as_text(text, spot) if key.type is Type.TEXT else text
    return Item(
        text,
        ItemKind.VALUE,
        spot.lead + written,
        spot.lead + literal(written) if "$" in written else None,
        detail,
        f"{place:03}",
        preselect=detail == "default" or text == key.default,
        about=("key", owner, key.name),
    )


def _snake(path: str) -> str:
    stem = path.rsplit("/", 1)[-1].split(".", 1)[0]
    return stem.replace("-", "_").replace(" ", "_").lower()
