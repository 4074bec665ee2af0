"""Models of known providers in the order in which a person wants them: current ones of the installed price table
first, then others that documents name, those that are switched off last and marked.

The table is read with the first list of models, never at the start of a server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache

from loop_ls.formats.common.providers import PROVIDERS, RETIRED

RETIRED_DETAIL = "retired"
#: Of a provider: its name in the price table, and what its own ids begin with.
_IN_TABLE = {
    "anthropic": ("anthropic", "claude-"),
    "openai": ("openai", ""),
    "deepseek": ("deepseek", "deepseek-"),
    "gemini": ("google", "gemini-"),
    "vertex-ai": ("google", "gemini-"),
    "kimik2": ("moonshotai", "kimi-"),
}
#: Models that write no text as an answer, or are not for everybody.
_OTHER = re.compile(
    r"embed|whisper|tts|audio|image|realtime|transcri|moderation|^ft:|live|ocr|search|guard|davinci|babbage|^ada$|^curie$"
    r"|computer-use|sonic|banana|canvas|reel|rerank|:extended|instruct$|\.ft-|cyber|rosalind|robotics"
)
_NUMBERS = re.compile(r"(?<![\d.])\d{1,2}(?:[.-]\d{1,2})*(?![\d.b])")
#: More than anybody reads.
_MOST = 40


@lru_cache(maxsize=64)
def known_models(provider: str) -> tuple[tuple[str, str], ...]:
    """`(model, detail)`, best first; empty for a provider that is not known. The default says so."""
    known = PROVIDERS.get(provider)
    if known is None:
        return ()
    table = {model: deprecated for model, deprecated in _of_table(provider) if not _OTHER.search(model)}
    newest = sorted((model for model, old in table.items() if not old), key=_newest_first)[:_MOST]
    switched_off = {model for model, old in table.items() if old}
    names = dict.fromkeys((known.default_model, *newest, *known.models))
    found = [(model, model in switched_off or is_retired(provider, model)) for model in names]
    found.sort(key=lambda one: one[1])
    return tuple((model, _detail(model == known.default_model, retired)) for model, retired in found)


def is_retired(provider: str, model: str) -> bool:
    """Whether the service does not answer to this name any more, or never did."""
    return any(fnmatchcase(model, one) for one in RETIRED.get(provider, ()))


def _detail(default: bool, retired: bool) -> str:
    return ", ".join(word for word, said in (("default", default), (RETIRED_DETAIL, retired)) if said)


def _of_table(provider: str) -> Iterator[tuple[str, bool]]:
    """Ids with whether the table calls them deprecated."""
    name, begins = _IN_TABLE.get(provider, ("", ""))
    if not name:
        return
    from genai_prices.data import providers

    for one in providers:
        if one.id == name:
            yield from ((model.id, bool(model.deprecated)) for model in one.models if model.id.startswith(begins))


def _newest_first(model: str) -> tuple[tuple[int, ...], str]:
    """By the first version in the name; names without one are last."""
    found = _NUMBERS.search(model)
    if found is None:
        return (1,), model
    version = [-int(part) for part in re.split(r"[.-]", found[0])]
    return (*version, 0, 0)[:3], model
