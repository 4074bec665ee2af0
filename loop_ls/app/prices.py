"""Prices of models as the engine knows them, for estimates."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from loop_ls.features.estimate.answers import Price
from loop_ls.features.estimate.estimate import price_of_script
from loop_ls.formats.common.target import Target
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace


def prices(workspace: Workspace, document: Document) -> Callable[[Target], Price]:
    """Of the settings, else of the engine's table or of a script; what runs on this machine is free."""
    from loop_ls.engine.core.ports import ModelFailure
    from loop_ls.engine.core.price_table import known_price
    from loop_ls.engine.providers.config import configured

    providers = workspace.settings.raw.get("providers")

    def price(target: Target) -> Price:
        try:
            provider = configured(target.provider, providers if isinstance(providers, Mapping) else {}, os.environ)
        except ModelFailure:
            return None
        if provider.price is None and provider.options.get("price") is not None:
            return None  # it is written, and it is none
        found = provider.price or (known_price(provider.prices, target.model) if provider.prices else None)
        if found is not None:
            return found.input, found.output
        if provider.kind == "scripted":
            return price_of_script(workspace, document, provider.options)
        return (0.0, 0.0) if provider.kind == "local" or provider.on_this_machine else None

    return price
