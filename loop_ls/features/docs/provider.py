"""What to tell about providers and models: where they are configured, what is known of them."""

from __future__ import annotations

from fnmatch import fnmatchcase

from loop_ls.formats.common.providers import DIMENSIONS, PROVIDERS, RETIRED
from loop_ls.formats.settings.model import Settings
from loop_ls.text.markdown import code


def provider_text(name: str, settings: Settings) -> str:
    """Unknown names are fine: the list of providers is open."""
    parts = [f"**{code(name)}** — provider"]
    own, known = settings.providers.get(name), PROVIDERS.get(name)
    if known is not None:
        parts.append(known.text)
    if own is not None:
        kind = f" as {code(own.kind)}" if own.kind else ""
        where = f", at {code(own.base_url)}" if own.base_url else ""
        parts.append(f"Configured in the settings{kind}{where}.")
    default = (own.default_model if own is not None else None) or (known.default_model if known is not None else None)
    if default:
        parts.append(f"Default model: {code(default)}")
    if own is None and known is None:
        parts.append("Unknown provider; add it under `providers` in the settings.")
    elif own is None and known is not None and not known.local:
        parts.append("Not in the settings: the key is read from the environment.")
    return "\n\n".join(parts)


def model_text(provider: str, name: str, settings: Settings) -> str:
    parts = [f"**{code(name)}** — model" + (f" of {code(provider)}" if provider else "")]
    own, known = settings.providers.get(provider), PROVIDERS.get(provider)
    if own is not None and name in (own.default_model, *own.models):
        parts.append("Configured in the settings.")
    if (own is not None and own.default_model == name) or (known is not None and known.default_model == name):
        parts.append("The default model of this provider.")
    if any(fnmatchcase(name, one) for one in RETIRED.get(provider, ())):
        parts.append("Retired: the service no longer accepts this name.")
    if name in DIMENSIONS:
        parts.append(f"Embeddings with {DIMENSIONS[name]} dimensions.")
    if known is not None and known.local:
        parts.append("Runs on this machine.")
    return "\n\n".join(parts)
