"""One provider as configured: settings of the project over the known facts over the environment.

Keys are read from the environment only, at the moment of a call, and never become part of a value
that could be printed or journalled.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from loop_ls.engine.core.env_substitution import filled
from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.core.price_table import Price
from loop_ls.engine.providers.known import KNOWN, Kind, Known
from loop_ls.engine.providers.limits.rate_limits import limit
from loop_ls.formats.common.target import Target

KINDS: tuple[Kind, ...] = ("openai", "anthropic", "local", "scripted", "pydantic-ai")

#: How long one answer may take in all when nobody said anything (spec 2.11).
TOTAL_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Provider:
    """Everything a call needs but the key itself."""

    name: str
    kind: Kind
    base_url: str = ""
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
    options: Mapping[str, Any] = field(default_factory=dict)  # what only its kind understands (a script)

    @property
    def on_this_machine(self) -> bool:
        """Whether texts stay here: no proxy, no certificates, no cost."""
        rest = self.base_url.partition("://")[2]
        host = rest[: rest.index("]") + 1] if rest.startswith("[") and "]" in rest else rest.partition("/")[0]
        return host.partition(":")[0] in ("127.0.0.1", "localhost") or host == "[::1]"


def configured(name: str, settings: Mapping[str, Any], environ: Mapping[str, str]) -> Provider:
    """The provider `name` under the settings section `providers`. Raises `ModelFailure`."""
    own = settings.get(name)
    own = own if isinstance(own, Mapping) else {}
    known = KNOWN.get(name)
    kind = own.get("kind") or (known.kind if known else None)
    if kind is None and own.get("baseUrl"):
        kind = "openai"
    if kind is None:
        raise _unknown(name, settings)
    if kind not in KINDS:
        raise ModelFailure(
            "unknown_provider",
            f"Provider `{name}` is of kind `{kind}`, which this engine does not have.",
            f"Kinds are {', '.join(f'`{each}`' for each in KINDS)}.",
            provider=name,
        )
    facts = known or Known(cast(Kind, kind))
    return Provider(
        name=name,
        kind=cast(Kind, kind),
        base_url=_base_url(name, str(own.get("baseUrl") or ""), facts, environ),
        key_env=str(own.get("apiKeyEnv") or ("" if own.get("baseUrl") and not known else facts.key_env)),
        default_model=str(own.get("defaultModel") or facts.default_model),
        max_concurrency=limit(own.get("maxConcurrency")),
        requests_per_minute=limit(own.get("requestsPerMinute")),
        tokens_per_minute=limit(own.get("tokensPerMinute")),
        first_token=_seconds(own.get("firstTokenSeconds")),
        idle=_seconds(own.get("idleSeconds")),
        embedding_model=str(own.get("embeddingModel") or facts.embedding_model),
        fallback=fallbacks(name, settings),
        timeout=float(own.get("timeoutSeconds") or TOTAL_SECONDS),
        prices=facts.prices,
        price=Price.read(own.get("price")),
        bills_what_it_says=facts.bills_what_it_says,
        options=own,
    )


def _base_url(name: str, own: str, facts: Known, environ: Mapping[str, str]) -> str:
    own, _ = filled(own, environ.get)  # `${NAME}`, as the configuration of other tools writes it
    url = own or environ.get(facts.base_url_env, "") or facts.base_url
    if not url:
        return ""
    if "://" not in url:  # OLLAMA_HOST is often only `host:port`
        url = f"http://{url}"
    url = url.rstrip("/")
    if not own and name == "ollama" and not url.endswith("/v1"):
        url += "/v1"
    if not own and name == "azure-foundry" and "/openai" not in url:
        url += "/openai/v1"
    return url


def fallbacks(name: str, settings: Mapping[str, Any]) -> tuple[Target, ...]:
    """Who is asked when the provider is out of order, in this order."""
    own = settings.get(name)
    written = own.get("fallback") if isinstance(own, Mapping) else None
    return tuple(_target(each) for each in written or () if isinstance(each, str) and each)


def _target(written: str) -> Target:
    """`provider` or `provider/model`; a model's name may hold further slashes."""
    provider, _, model = written.partition("/")
    return Target(provider.strip(), model.strip())


def _seconds(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def _unknown(name: str, settings: Mapping[str, Any]) -> ModelFailure:
    names = sorted({*KNOWN, *settings})
    near = difflib.get_close_matches(name, names, n=1)
    guess = f"; did you mean `{near[0]}`?" if near else "."
    return ModelFailure(
        "unknown_provider",
        f"`{name}` is no configured provider{guess}",
        f"Known are {', '.join(names)}; others go under `providers` in .loop-ls.yaml, with `kind` and `baseUrl`.",
        provider=name,
    )
