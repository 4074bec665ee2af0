"""One provider as configured: settings of the project over the known facts over the environment.

Keys are read from the environment only, at the moment of a call, and never become part of a value
that could be printed or journalled.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import field
from typing import cast, get_args
from urllib.parse import urlsplit

from loop_ls.engine.core.addresses import address_fault, is_here, whole_address, without_password
from loop_ls.engine.core.env_substitution import VARIABLE, filled
from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.core.price_table import Price
from loop_ls.engine.providers.known import KNOWN, Kind, Known
from loop_ls.engine.providers.limits.rate_limits import limit
from loop_ls.formats.common.providers import DEFAULT_MODELS
from loop_ls.formats.common.target import Target
from loop_ls.formats.workflow import one_model
from loop_ls.formats.workflow.one_model import OneModel
from loop_ls.text.json_value import Json, as_object, float_field
from loop_ls.text.record import equal_record

KINDS: tuple[Kind, ...] = get_args(Kind)

#: How long one answer may take in all when nobody said anything.
TOTAL_SECONDS = 300.0


@equal_record
class Provider:
    """Everything a call needs but the key itself."""

    name: str
    kind: Kind
    base_url: str = ""  # as it is written, `${NAME}` unfilled: what people, logs and records see
    written: str = ""  # the same where the project writes one
    address: str = field(default="", repr=False)  # filled, for the socket alone
    key_env: str = ""
    default_model: str = ""
    max_concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout: float = TOTAL_SECONDS
    first_token: float | None = None
    idle: float | None = None
    embedding_model: str = ""
    fallback: tuple[Target, ...] = ()
    prices: str | None = None
    price: Price | None = None
    bills_what_it_says: bool = False
    options: Mapping[str, Json] = field(default_factory=dict)  # what only its kind understands (a script)

    @property
    def socket_url(self) -> str:
        """Where it is really asked. May hold what nobody should read: never for a message."""
        return self.address or self.base_url

    @property
    def filled_in(self) -> tuple[str, ...]:
        """What no message shows: the address, and its path, where variables were put into them."""
        if not self.address or self.address == self.base_url:
            return ()
        return (self.address, urlsplit(self.address).path.strip("/"), *_values(self.base_url, self.address))

    @property
    def on_this_machine(self) -> bool:
        """Whether texts stay here: no proxy, no certificates, no cost."""
        return is_here(self.socket_url)


def configured(name: str, settings: Mapping[str, Json], environ: Mapping[str, str]) -> Provider:
    """The provider `name` under the settings section `providers`. Raises `ModelFailure`."""
    own = as_object(settings.get(name))
    known = KNOWN.get(name)
    kind = own.get("kind") or (known.kind if known else None)
    if kind is None and own.get("baseUrl"):
        kind = "openai"
    if kind is None:
        raise _unknown(name, settings)
    if kind not in KINDS:
        raise ModelFailure(
            "unknown_provider",
            f"Provider `{name}` has the unknown kind `{kind}`.",
            f"Expected {', '.join(f'`{each}`' for each in KINDS)}.",
            provider=name,
        )
    facts = known or Known(kind)
    written = str(own.get("baseUrl") or "")
    shown, address = _addresses(name, written, facts, environ)
    return Provider(
        name=name,
        kind=kind,
        base_url=shown,
        written=written,
        address=address,
        key_env=str(own.get("apiKeyEnv") or ("" if own.get("baseUrl") and not known else facts.key_env)),
        default_model=str(own.get("defaultModel") or DEFAULT_MODELS.get(name, "")),
        max_concurrency=limit(own.get("maxConcurrency")),
        requests_per_minute=limit(own.get("requestsPerMinute")),
        tokens_per_minute=limit(own.get("tokensPerMinute")),
        first_token=_seconds(own.get("firstTokenSeconds")),
        idle=_seconds(own.get("idleSeconds")),
        embedding_model=str(own.get("embeddingModel") or facts.embedding_model),
        fallback=fallbacks(name, settings),
        timeout=float_field(own, "timeoutSeconds") or TOTAL_SECONDS,
        prices=facts.prices,
        price=Price.read(own.get("price")),
        bills_what_it_says=facts.bills_what_it_says and not written,  # whoever answers at another address says anything
        options=own,
    )


def _addresses(name: str, written: str, facts: Known, environ: Mapping[str, str]) -> tuple[str, str]:
    """How an address is shown, and where it is. Raises `ModelFailure` for one that is no address of a host."""
    if written:
        filled_in, _ = filled(written, environ.get)  # `${NAME}`, as the configuration of other tools writes it
        shown, address = whole_address(written), whole_address(filled_in)
        if fault := address_fault(shown) or address_fault(address):
            told = f"`providers.{name}.baseUrl` {fault}."
            raise ModelFailure("unknown_provider", told, "Use the form `https://host/path`.", provider=name)
        return shown, address
    url = whole_address(environ.get(facts.base_url_env, "") or facts.base_url)
    if url and name == "ollama" and not url.endswith("/v1"):
        url += "/v1"
    if url and name == "azure-foundry" and "/openai" not in url:
        url += "/openai/v1"
    return without_password(url), url


def _values(written: str, address: str) -> tuple[str, ...]:
    """The texts that stand in an address where the written one has variables."""
    found = re.fullmatch("(.*)".join(map(re.escape, VARIABLE.sub("\0", written).split("\0"))), address)
    return tuple(value for value in found.groups() if value) if found else ()


def fallbacks(name: str, settings: Mapping[str, Json]) -> tuple[Target, ...]:
    """Who is asked when the provider is out of order, in this order."""
    written = as_object(settings.get(name)).get("fallback")
    return tuple(_target(each) for each in cast("list[Json]", written or []) if isinstance(each, str) and each)


def _target(written: str) -> Target:
    """`provider` or `provider/model`; a model's name may hold further slashes."""
    provider, _, model = written.partition("/")
    return Target(provider.strip(), model.strip())


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def chosen_model(
    provider: str | None, model: str | None, settings: Mapping[str, Json], environ: Mapping[str, str] = os.environ
) -> OneModel | None:
    """Whom somebody names in place of all that files name. Raises `ModelFailure` for a provider that nobody knows."""
    if provider is not None:
        configured(provider, settings, environ)
    try:
        return one_model.chosen_model(provider, model, settings)
    except one_model.NoModel as nobody:
        raise ModelFailure("unknown_provider", nobody.message, nobody.hint, provider=provider or "") from None


def _unknown(name: str, settings: Mapping[str, Json]) -> ModelFailure:
    nobody = one_model.unknown_provider(name, settings)
    return ModelFailure("unknown_provider", nobody.message, nobody.hint, provider=name)
