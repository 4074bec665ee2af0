"""What went wrong with a call, as one sentence that names the provider and says what to do.

One function for each way a call can fail; all answer `ModelFailure` with a code of the port.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence

from loop_ls.contract.amounts import clock_time
from loop_ls.engine.core.ports import EXHAUSTED, LONGEST_ANSWER, FailureDetails, ModelFailure
from loop_ls.engine.core.redaction import redact
from loop_ls.engine.providers.config import Provider
from loop_ls.engine.providers.limits.retry import LONGEST_WAIT
from loop_ls.text.json_value import Json

SAID_LIMIT = 300

#: Types and codes with which services say that quota, credit or a usage limit is used up.
USED_UP = frozenset(
    {
        *("insufficient_quota", "quota_exceeded", "billing_error", "billing_hard_limit_reached", "billing_not_active"),
        *("insufficient_balance", "insufficient_credits", "insufficient_funds", "credit_balance_too_low"),
        *("usage_limit_reached", "usage_limit_exceeded", "usage_not_included", "spend_limit_reached"),
    }
)
#: Unix times behind it are no moments that anybody means (the year 2100).
LATEST = 4_102_444_800
#: A reset that is longer over than clocks differ is none: whoever names it has used up something else.
CLOCKS_DIFFER = 3600.0

RESTART = "then restart the engine (`loop-ls engine stop`; the next run starts it)"


def missing_key(provider: Provider) -> ModelFailure:
    return ModelFailure(
        "missing_key",
        f"Provider `{provider.name}` needs an API key, but the environment variable {provider.key_env} is not set.",
        f"Set {provider.key_env} in the environment of the engine, {RESTART}; or try the loop without a key: `--mock`.",
        provider=provider.name,
    )


def unsendable_key(provider: Provider) -> ModelFailure:
    return ModelFailure(
        "auth",
        f"The key of provider `{provider.name}` cannot be sent: it contains a line break or a non-ASCII character.",
        f"Put only the key in {provider.key_env or 'its variable'}, {RESTART}.",
        provider=provider.name,
    )


def missing_address(provider: Provider) -> ModelFailure:
    return ModelFailure(
        "unknown_provider",
        f"Provider `{provider.name}` has no default address.",
        f"Set `providers.{provider.name}.baseUrl` in .loop-ls.yaml to an OpenAI-compatible endpoint.",
        provider=provider.name,
    )


def bad_script(provider: Provider, why: str) -> ModelFailure:
    return ModelFailure(
        "unknown_provider",
        f"Provider `{provider.name}` has no answers: {why}.",
        "Put them into `<name>.answers.yaml` next to the file that you run, or under "
        f"`providers.{provider.name}.script` in the settings.",
        provider=provider.name,
    )


def unreachable(provider: Provider, why: str, model: str = "") -> ModelFailure:
    start = "Is it running?" if provider.on_this_machine else "Check the network, the proxy and `baseUrl`."
    return ModelFailure(
        "unreachable",
        f"Provider `{provider.name}` cannot be reached at {redact(provider.base_url)}: {redact(why) or 'no answer'}.",
        start,
        provider=provider.name,
        model=model,
    )


def too_slow(provider: Provider, model: str, waited_for: str, seconds: float) -> ModelFailure:
    return ModelFailure(
        "timeout",
        f"Provider `{provider.name}` returned {waited_for} within {seconds:g} s (model `{model}`).",
        f"Raise `timeout` in the workflow or `providers.{provider.name}.timeoutSeconds`, or use a faster model.",
        provider=provider.name,
        model=model,
    )


def cut(provider: Provider, model: str, heard: int, why: str) -> ModelFailure:
    return ModelFailure(
        "truncated",
        f"The answer of `{provider.name}` was cut off after {heard} characters: {redact(why)}.",
        "An incomplete answer is not judged; run again, or set `on_failure: retry` on the step.",
        provider=provider.name,
        model=model,
    )


def too_long(provider: Provider, model: str, heard: int) -> ModelFailure:
    return cut(provider, model, heard, f"it is longer than {LONGEST_ANSWER >> 20} MiB")


def empty(provider: Provider, model: str, limit: int | None = None, used_up: bool = False) -> ModelFailure:
    """`used_up`: it ended at its length limit without a word, so all of it was thinking."""
    if used_up:
        of = f"its `max_tokens` of {limit}" if limit else "its tokens"
        return ModelFailure(
            "empty",
            f"Provider `{provider.name}` returned an empty answer: the model `{model}` used up {of} while thinking.",
            "Raise `max_tokens`, lower the effort of its reasoning, or use another model.",
            provider=provider.name,
            model=model,
        )
    return ModelFailure(
        "empty",
        f"Provider `{provider.name}` returned an empty answer (model `{model}`).",
        "Make the prompt more specific, raise `max_tokens`, or use another model.",
        provider=provider.name,
        model=model,
    )


def declined(provider: Provider, model: str, why: str, said: str) -> ModelFailure:
    """The model, or a filter of its provider, would not answer. Somebody else is not asked unasked."""
    words = redact(" ".join(said.split()))[:SAID_LIMIT]
    return ModelFailure(
        "bad_answer",
        f"Provider `{provider.name}` returned no answer (model `{model}`): {redact(why).rstrip('. ')[:SAID_LIMIT]}"
        + (f'; it said "{words}".' if words else "."),
        "Reword the prompt, or use another model.",
        provider=provider.name,
        model=model,
        details={"refused": True, "final": True},
    )


def not_offered(provider: Provider, model: str, names: Sequence[str]) -> ModelFailure:
    """Half an answer: it goes on only once a tool has answered that is not there."""
    named = ", ".join(f"`{redact(name)[:60]}`" for name in names[:3])
    return ModelFailure(
        "bad_answer",
        f"The model `{model}` of `{provider.name}` called an unknown tool: {named}.",
        "Tell the model in the prompt to answer without tools, add `servers` with such a tool, or use another model.",
        provider=provider.name,
        model=model,
    )


def unreadable(provider: Provider, model: str, why: str) -> ModelFailure:
    return ModelFailure(
        "bad_answer",
        f"Provider `{provider.name}` sent an invalid response: {redact(why)}.",
        f"Check that {redact(provider.base_url)} supports the {provider.kind} API (`kind`, `baseUrl`).",
        provider=provider.name,
        model=model,
    )


def refused(
    provider: Provider,
    model: str,
    status: int,
    body: bytes | Mapping[str, Json],
    headers: Mapping[str, str] = {},
    secret: str = "",
) -> ModelFailure:
    """From an HTTP status, or from the status that an error inside a stream stands for."""
    said, kind = _said(body)
    said = redact(said, [secret, *provider.filled_in])[:SAID_LIMIT].rstrip(". \n")
    wait = retry_after(headers)
    details: FailureDetails = {"status": status, "said": said, "type": kind}
    if status == 402 or _used_up(kind) or (status == 429 and (wait or 0.0) > LONGEST_WAIT):
        until = reset_moment(_reset(body) or _after(wait))
        failure = exhausted(provider.name, model, status, said, until, details)
        failure.retry_after = wait
        return failure
    code, message, hint = _status(provider, model, status, said)
    details["final"] = False
    return ModelFailure(code, message, hint, provider.name, model, wait, details)


def exhausted(
    name: str, model: str, status: int, said: str, until: float | None, details: FailureDetails
) -> ModelFailure:
    """Quota, credit or a usage limit is used up. `until`: Unix time of its reset, where that is known."""
    quoted = f": {said}" if said else ""
    told = f"The quota or credit at `{name}` is used up ({status}){quoted}"
    hint = "Check plan, credit and billing at the provider; waiting does not help."
    if until is not None:
        told = f"Provider `{name}` accepts no more calls until {clock_time(until)} ({status}){quoted}"
        hint = "The run then continues automatically; resume it to try earlier, or list a second provider."
    details["final"] = True
    if until is not None:
        details["until"] = until
    return ModelFailure(EXHAUSTED, f"{told}.", hint, name, model, details=details)


def reset_moment(at: float | None) -> float | None:
    """When a usage limit that was said to be reset at this Unix time is tried again: never at once, or a provider
    that names the same moment for ever would be asked without a pause. None: nobody knows when."""
    now = time.time()
    if at is None or not now - CLOCKS_DIFFER <= at <= LATEST:
        return None
    return max(at, now + LONGEST_WAIT)


def _status(provider: Provider, model: str, status: int, said: str) -> tuple[str, str, str]:
    name, quoted = provider.name, f": {said}" if said else ""
    key = provider.key_env or "its key"
    match status:
        case 401 | 403:
            return (
                "auth",
                f"Provider `{name}` refused the key in {key} ({status}){quoted}.",
                f"Set a key that may use `{model}` in {key}, {RESTART}.",
            )
        case 404:
            return (
                "not_found",
                f"Unknown model `{model}` for provider `{name}` at {redact(provider.base_url)} (404){quoted}.",
                "Check `model` in the workflow, and `baseUrl` in the settings.",
            )
        case 429:
            return (
                "rate_limited",
                f"Provider `{name}` reports too many requests (429){quoted}.",
                f"Lower `providers.{name}.maxConcurrency` or set `requestsPerMinute`.",
            )
        case _ if status >= 500 or status == 408:
            return (
                "server",
                f"Provider `{name}` is unavailable ({status}){quoted}.",
                "Run again later, or list a second provider under `providers` in the workflow.",
            )
        case _ if 300 <= status < 400:
            return "bad_answer", f"Provider `{name}` answers with a redirect ({status}).", "Correct its `baseUrl`."
        case _:
            return (
                "bad_request",
                f"Provider `{name}` did not accept the request ({status}){quoted}.",
                "Check the prompt's length, `model`, `temperature` and `max_tokens`.",
            )


def _used_up(kind: str) -> bool:
    """A used-up quota has the status of a rate limit at some services, but no waiting of seconds ends it. The
    provider's own fields say so; its sentences may speak of anything."""
    return not USED_UP.isdisjoint(kind.lower().split())


def _reset(body: bytes | Mapping[str, Json]) -> float | None:
    """The moment that an error names for the reset of a usage limit."""
    error = _error(body)
    at, within = error.get("resets_at"), error.get("resets_in_seconds")
    if isinstance(at, int | float) and not isinstance(at, bool) and 0 < at <= LATEST:
        return float(at)
    if isinstance(within, int | float) and not isinstance(within, bool) and 0 <= within <= LATEST:
        return time.time() + float(within)
    return None


def _after(seconds: float | None) -> float | None:
    return None if seconds is None else time.time() + seconds


def _error(body: bytes | Mapping[str, Json]) -> Mapping[str, Json]:
    """The error of a body, in the shapes that providers use."""
    found: object = body
    if isinstance(found, bytes):
        try:
            found = json.loads(found)
        except (ValueError, RecursionError):
            return {}
    if isinstance(found, list) and found:  # Gemini wraps its errors in a list
        found = found[0]
    if not isinstance(found, Mapping):
        return {}
    error = found.get("error", found)
    if isinstance(error, str):
        return {"message": error}
    return error if isinstance(error, Mapping) else {}


def _said(body: bytes | Mapping[str, Json]) -> tuple[str, str]:
    """The sentence of an error body and its type or code."""
    error = _error(body)
    kind = " ".join(str(error[key]) for key in ("type", "code", "status") if error.get(key))
    return str(error.get("message") or ""), kind


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from `retry-after-ms` or `Retry-After` (a number or a date)."""
    from email.utils import parsedate_to_datetime

    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * scale
        except (KeyError, ValueError):
            continue
        return max(0.0, seconds) if seconds <= LATEST else None  # neither without end nor no number
    try:
        when = parsedate_to_datetime(headers["retry-after"])
        return max(0.0, when.timestamp() - time.time())
    except (KeyError, ValueError, TypeError, OverflowError):
        return None
