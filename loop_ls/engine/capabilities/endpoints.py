"""Where the texts and keys of a run go: the endpoints of its providers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from loop_ls.engine.capabilities.values import Capability, EmbeddedModel, Endpoint
from loop_ls.engine.core.env_substitution import names_in
from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.core.price_table import amounts
from loop_ls.engine.providers.config import Provider, configured, fallbacks
from loop_ls.engine.providers.dialects.pydantic_ai import endpoint_of
from loop_ls.engine.providers.local_model.weights import own_weights
from loop_ls.text.json_value import Json, as_object


def endpoints(
    names: Iterable[str],
    settings: Mapping[str, Json],
    environ: Mapping[str, str],
    variables: Iterable[str] = (),
) -> list[Capability]:
    """What the use of these providers, and of those that are asked in their place, takes. `settings` is the
    section `providers` of the project; `variables` are those that its files put into prompts."""
    found: list[Capability] = []
    for name in sorted(_with_fallbacks(names, settings)):
        try:
            provider = configured(name, settings, environ)
        except ModelFailure:
            continue  # cannot be asked, so nothing goes anywhere
        found += _of(provider, as_object(settings.get(name)), sorted(set(variables)))
    return found


def _of(provider: Provider, own: Mapping[str, Json], variables: list[str]) -> Iterator[Capability]:
    price = amounts(provider.price)
    match provider.kind:
        case "scripted":  # whatever service it stands in for is not asked
            return
        case "local":
            yield EmbeddedModel(own_weights(provider))
        case "pydantic-ai":  # it knows the address and the variables of its service
            url = endpoint_of(provider)
            yield Endpoint(provider.name, url, provider.key_env, url, price=price)
            for variable in variables:
                yield Endpoint(provider.name, url, variable, url)
        case "openai" | "anthropic":
            in_address = names_in(provider.written)
            chosen_here = bool(own.get("baseUrl") or own.get("apiKeyEnv"))
            near = provider.on_this_machine and not chosen_here and not provider.key_env
            sent = () if near else variables  # whoever listens where a project points to may pass them on
            yield Endpoint(provider.name, provider.base_url, provider.key_env, provider.written, near, price)
            for variable in dict.fromkeys((*in_address, *sent)):
                yield Endpoint(provider.name, provider.base_url, variable, provider.written)
        case kind:
            assert_never(kind)


def _with_fallbacks(names: Iterable[str], settings: Mapping[str, Json]) -> set[str]:
    """The providers, and those that are asked in their place."""
    found = set(names)
    return found | {target.provider for name in found for target in fallbacks(name, settings)}
