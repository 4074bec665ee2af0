"""Which workflow a reference means. Pure, so that the engine resolves like the checker."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import NamedTuple

from loop_ls.formats.common.did_you_mean import nearest


class Match(NamedTuple):
    """`key` is what the reference means; `other` a root workflow that it hides (WF606)."""

    key: str
    other: str | None = None


def resolve(caller_folder: str, reference: str, keys: Container[str]) -> Match | None:
    """`dir/name` is exactly that key; a bare name means the caller's folder first, then the root.

    `caller_folder` is counted from the workflow root and empty for the root itself.
    """
    if "/" in reference or not caller_folder:
        return Match(reference) if reference in keys else None
    own = f"{caller_folder}/{reference}"
    if own in keys:
        return Match(own, reference if reference in keys else None)
    return Match(reference) if reference in keys else None


def resolve_key(caller_folder: str, reference: str, keys: Container[str]) -> str | None:
    """The key that a reference means, None where there is none."""
    match = resolve(caller_folder, reference, keys)
    return None if match is None else match.key


class Listing(NamedTuple):
    """What suggestions are looked for in: all keys, those of outer folders first, with their last parts, and
    keys by the names of their files without suffix. Made once for many references."""

    keys: tuple[str, ...]
    last: tuple[str, ...]
    by_last: dict[str, list[str]]
    by_stem: dict[str, list[str]]


def listing(keys: Iterable[str], stems: Iterable[tuple[str, str]]) -> Listing:
    """`stems` are pairs of file name without suffix and key."""
    listed = tuple(sorted(keys, key=lambda key: (key.count("/"), key)))
    last = tuple(map(_last, listed))
    by_last: dict[str, list[str]] = {}
    by_stem: dict[str, list[str]] = {}
    for name, key in zip(last, listed, strict=True):
        by_last.setdefault(name, []).append(key)
    for stem, key in stems:
        by_stem.setdefault(stem, []).append(key)
    return Listing(listed, last, by_last, by_stem)


def suggestions(reference: str, known: Listing, limit: int = 5) -> tuple[str, ...]:
    """Keys that may have been meant, best first: the same bare name elsewhere; a file with that name
    whose workflow is called otherwise; a small slip; a key that goes on where the reference ends."""
    bare = _bare(reference)
    found = dict.fromkeys(key for key in known.by_last.get(bare, ()) if key != reference)
    found.update(dict.fromkeys(key for key in known.by_stem.get(bare, ()) if _last(key) != bare))
    for word, words in ((reference, known.keys), (bare, known.by_last)):
        near = nearest(word, words)
        if near is not None:
            found.update(dict.fromkeys((near,) if "/" in near else known.by_last[near]))
        if bare == reference and len(known.by_last) == len(known.keys) and known.keys == known.last:
            break  # no key has a folder: the second look would see the same
    if bare:
        found.update(dict.fromkeys(key for key in known.keys if key.startswith(bare)))
    return tuple(found)[:limit]


def _bare(reference: str) -> str:
    """The name alone: without folders and without the suffix of a file."""
    name = _last(reference.strip())
    return name.removesuffix(".yaml").removesuffix(".yml")


def _last(key: str) -> str:
    return key.rpartition("/")[2]


def key_of(folder: str, name: str) -> str:
    """The key of a workflow called `name` in a folder counted from the root."""
    return f"{folder}/{name}" if folder else name


def folder_in(root: str, path: str) -> str | None:
    """The folder of a file, counted from `root`; None where the file lies outside of it."""
    prefix = root.rstrip("/") + "/"
    return path[len(prefix) :].rpartition("/")[0] if path.startswith(prefix) else None
