"""Providers, models, servers and skills: configured ones first, then those that are known.

The lists are open; nothing here says that another name is wrong (UP-10).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loop_ls.features.answers import Item, ItemKind
from loop_ls.features.complete.items.known_models import known_models
from loop_ls.features.complete.quoting import as_text
from loop_ls.features.complete.request import Listing, Request
from loop_ls.formats.common.providers import PROVIDERS, SERVERS, SKILLS, KnownProvider
from loop_ls.formats.settings.model import Settings
from loop_ls.index.disk.skill_files import SKILL_FOLDERS
from loop_ls.index.workspace import Workspace


def providers(request: Request) -> Iterator[Item]:
    settings = request.options
    names = dict.fromkeys([*settings.providers, *PROVIDERS])
    for place, name in enumerate(names):
        configured = name in settings.providers
        known = PROVIDERS.get(name)
        detail = "configured" if configured else (known.text if known is not None else "")
        yield _item(request, name, ItemKind.PROVIDER, detail, place, ("provider", name))


def models(request: Request) -> Iterator[Item]:
    """The models of the provider that counts here; of all providers where none is written."""
    embedding = "embeddings" in request.spot.path
    provider = _provider(request)
    chosen = [provider] if provider else [*request.options.providers, *PROVIDERS]
    seen: set[str] = set()
    for name in dict.fromkeys(chosen):
        for model, detail in _models(request.options, name, embedding):
            if model not in seen:
                seen.add(model)
                said = detail if provider else f"{name}{', ' + detail if detail else ''}"
                yield _item(request, model, ItemKind.MODEL, said, len(seen), ("model", name, model))


def servers(request: Request) -> Iterator[Item]:
    configured = request.options.servers
    for place, name in enumerate(dict.fromkeys([*configured, "skills", *SERVERS])):
        if name not in request.spot.items:
            detail = "configured" if name in configured else "built-in skills" if name == "skills" else ""
            yield _item(request, name, ItemKind.VALUE, detail, place)


def skills(request: Request) -> Iterator[Item]:
    own = skill_names(request.workspace, request.listing)
    for place, name in enumerate(dict.fromkeys([*own, *SKILLS])):
        if name not in request.spot.items:
            yield _item(request, name, ItemKind.VALUE, "skill of this workspace" if name in own else "", place)


def skill_names(workspace: Workspace, listing: Listing | None) -> tuple[str, ...]:
    """The skills that have a folder in the workspace, sorted."""
    if listing is None:
        return ()
    folders = (f"{workspace.roots.workspace}/{folder}" for folder in SKILL_FOLDERS)
    listed = {name for folder in folders for name, is_folder in listing(folder) if is_folder}
    return tuple(sorted(name for name in listed if not name.startswith(".")))


def _models(settings: Settings, name: str, embedding: bool) -> Iterable[tuple[str, str]]:
    own = settings.providers.get(name)
    known = PROVIDERS.get(name) or (PROVIDERS.get(own.kind or "") if own is not None else None)
    if own is not None and not embedding:
        if own.default_model:
            yield own.default_model, "configured, its default"
        for model in own.models:
            yield model, "configured"
    if known is not None:
        yield from _known(known, embedding)


def _known(known: KnownProvider, embedding: bool) -> Iterable[tuple[str, str]]:
    if embedding:
        for model in known.embeddings:
            yield model, "embedding model"
        return
    yield from known_models(known.name)


def _provider(request: Request) -> str:
    """The provider written beside the model, else the one that is inherited."""
    spot = request.spot
    own = spot.written.get("provider")
    if own or request.meaning.key is None or not request.meaning.key.inherits:
        return own or ""
    for entries in spot.outer:
        if entries.get("provider"):
            return entries["provider"]
    execution = request.document.execution
    return (execution.text("provider") or "") if execution is not None else ""


def _item(request: Request, name: str, kind: ItemKind, detail: str, place: int, about: tuple[str, ...] = ()) -> Item:
    spot = request.spot
    text = spot.lead + ("- " if spot.dash else "") + as_text(name, spot)
    return Item(name, kind, text, None, detail, f"{place:03}", about=about)
