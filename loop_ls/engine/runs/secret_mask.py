"""Secret mask of a run: the values that it knows and that nobody may read, taken out of all that it writes.

One object per run, fed with everything that the run declares: variables of `env`, of servers, addresses and
databases, keys of providers (from the environment or the keyring), and variables whose names say that they are
secret. The journal asks it for whatever it packs, so what is built from the journal (export, events, telemetry,
notifications, answers of the API) holds none either.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TypeVar, cast, get_args
from urllib.parse import quote, quote_plus

from loop_ls.contract.endings import PauseReason, Reason
from loop_ls.contract.facts.kinds import Interrupted, Paused
from loop_ls.engine.context.workflow_library import Library
from loop_ls.engine.core.env_substitution import names_in
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.core.redaction import MASK, StreamMask, is_secret
from loop_ls.engine.providers.known import KNOWN
from loop_ls.engine.subprocesses.supervisor import KEPT
from loop_ls.formats.common.secret import LONG_ENOUGH, secrets_of
from loop_ls.text.json_value import Json

#: Values of declared variables that are switches and numbers: hiding them would garble every other sentence.
_ORDINARY = re.compile(
    r"true|false|none|null|auto|default|debug|info|warning|error|development|production|staging|main|master|latest"
    r"|[+-]?[\d.,:]{1,5}",
    re.IGNORECASE,
)
#: Variables that hold the keys of known services.
KEYS = frozenset(known.key_env for known in KNOWN.values()) - {""}
#: Settings that name a variable by this ending of their key (`apiKeyEnv`, `databaseUrlEnv`).
_NAMES_A_VARIABLE = "Env"
Value = TypeVar("Value")


#: Fields that name something of the run or of its files, or say one word of a closed set: a run is found and
#: continued by them, so they stay as they are whatever the environment holds.
_NAMES = frozenset(
    {
        *("place", "workflow", "file", "loop", "loopId", "step", "stage", "role", "artifact", "inFlight", "target"),
        *("kind", "mode", "purpose", "format", "origin", "action", "cause", "decision", "verdict", "criterion"),
        *("by", "via", "severity"),
        *("code", "reasonCode", "op", "outcome", "finish", "foundIn", "decided", "question", "planId", "outputRef"),
        *("provider", "model", "user", "session", "sessionId", "session_id", "runId", "uri", "path", "root", "until"),
        *("baseSha256", "textSha256", "requestDigest", "fingerprint"),
    }
)
#: Of these an agent says some itself, so a key in one is masked; a word that only a file puts into texts stays.
_SAID = "model"
#: Under these stand words of a closed set or sentences, as the fact may be.
_WORDS_OR_TEXT = frozenset({"reason", "failureReason"})
_WORDS = frozenset(
    {
        *(word for closed in get_args(Reason) for word in get_args(closed)),
        *get_args(PauseReason),
        *(word for fact in (Paused, Interrupted) for word in get_args(fact.model_fields["reason"].annotation)),
    }
)
#: What people, models, services and programs put together themselves: whatever stands in it is text.
_FREE = frozenset({"parameters", "metadata", "arguments", "extra"})
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Signs that clients of HTTP leave as they are in a path.
_PLAIN_IN_PATHS = "/:@!$&'()*+,;="
_ESCAPE = re.compile(r"%[0-9A-F]{2}")


class SecretMask:
    """`values` are secret; `later` answers those that are known by now and were not at the beginning. `certain`:
    those of `values` that are keys, and no words that a file only puts into texts."""

    def __init__(
        self,
        values: Iterable[str] = (),
        later: Callable[[], Iterable[str]] = tuple,
        certain: Iterable[str] = (),
    ) -> None:
        self._values, self._later, self._certain = tuple(dict.fromkeys(values)), later, tuple(certain)
        self._known: tuple[str, ...] = ()
        self._forms: tuple[str, ...] = _forms(self._values)
        self._keys = _forms(self._certain)

    @property
    def of_typed(self) -> SecretMask:
        """The mask of what a person typed to start a run: a key in it was pasted, a word in it is meant."""
        return SecretMask(self._certain, self._later)

    @property
    def forms(self) -> tuple[str, ...]:
        """Everything that is masked: the values, and how they look inside of JSON, an address or a line."""
        known = tuple(self._later())
        if known != self._known:
            self._known, self._forms = known, _forms((*self._values, *known))
        return self._forms

    def text(self, text: str) -> str:
        for form in self.forms:
            text = text.replace(form, MASK)
        for form in self.forms:  # only then: the end of one form is that of another one, which begins otherwise
            text = _without_half(text, form)
        return text

    def of_text(self, text: str | None) -> str | None:
        """The same of a text that may not be there."""
        return text if text is None else self.text(text)

    def of_texts(self, texts: Mapping[str, str]) -> Mapping[str, str]:
        """The same of texts by names that people chose."""
        return {self.text(name): self.text(text) for name, text in texts.items()} if self.forms else texts

    def value(self, value: Value) -> Value:
        """A JSON value of the record with its texts masked: names of fields, and what names a place of the run,
        stay as they are."""
        return cast("Value", self._value(cast("Json", value))) if self.forms else value

    def free(self, value: Json) -> Json:
        """The same of a value that has no fields of ours: all texts are masked, keys of objects included."""
        return self._free(value) if self.forms else value

    def stream(self) -> StreamMask:
        return StreamMask(*self.forms, *(part for form in self.forms for part in _halves(form)))

    def _value(self, value: Json) -> Json:
        match value:
            case str():
                return self.text(value)
            case dict():
                return {self._key(key): self._field(key, item) for key, item in value.items()}
            case list() | tuple():
                return [self._value(item) for item in value]
            case _:
                return value

    def _key(self, key: str) -> str:
        return key if _FIELD.fullmatch(key) else self.text(key)

    def _field(self, key: str, value: Json) -> Json:
        if key == _SAID and isinstance(value, str):
            return MASK if any(form in value for form in self._keys) else value
        if key in _NAMES and not isinstance(value, dict):
            return value
        if key in _WORDS_OR_TEXT and isinstance(value, str) and value in _WORDS:
            return value
        return self._free(value) if key in _FREE else self._value(value)

    def _free(self, value: Json) -> Json:
        match value:
            case str():
                return self.text(value)
            case dict():
                return {self.text(key): self._free(item) for key, item in value.items()}
            case list() | tuple():
                return [self._free(item) for item in value]
            case _:
                return value


def _without_half(text: str, form: str) -> str:
    """The text without what a cut left of a secret: errors and long texts are shortened before they come here."""
    half = _half(form)
    if half >= len(form):
        return text
    at = text.find(form[:half])
    while at >= 0:
        size = _alike(text[at : at + len(form)], form)
        text = f"{text[:at]}{MASK}{text[at + size :]}"
        at = text.find(form[:half], at + len(MASK))
    at = text.find(form[-half:])
    while at >= 0:
        end = at + half
        size = _alike(text[max(0, end - len(form)) : end][::-1], form[::-1])
        text = f"{text[: end - size]}{MASK}{text[end:]}"
        at = text.find(form[-half:], end - size + len(MASK))
    return text


def _half(form: str) -> int:
    """How many characters of a secret are masked though the others are not there."""
    return max(LONG_ENOUGH, (len(form) + 1) // 2)


def _halves(form: str) -> tuple[str, ...]:
    half = _half(form)
    return (form[:half], form[-half:]) if half < len(form) else ()


def _alike(one: str, other: str) -> int:
    """How many characters at the beginning are the same."""
    shorter = min(len(one), len(other))
    return next((place for place in range(shorter) if one[place] != other[place]), shorter)


def _forms(values: Iterable[str]) -> tuple[str, ...]:
    """Longest first, so that a value is masked before a part of it that is another one."""
    found: set[str] = set()
    for value in values:
        if is_secret(value.strip()):
            lines = [line.strip() for line in value.splitlines()] if "\n" in value else []
            written = (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
            found |= {value.strip(), *written, *_in_addresses(value)}
            found |= {line for line in lines if len(line) >= LONG_ENOUGH}
    return tuple(sorted(found, key=len, reverse=True))


def _in_addresses(value: str) -> set[str]:
    """As paths, queries and forms write it, with escapes of either letter case."""
    found = {quote(value, safe=safe) for safe in ("", "/", _PLAIN_IN_PATHS, f"{_PLAIN_IN_PATHS}%")} | {
        quote_plus(value)
    }
    return found | {_ESCAPE.sub(lambda escape: escape[0].lower(), each) for each in found}


class RunSecrets:
    """Makes the masks of all runs of an engine. `keyring` answers the keys that the keyring gave so far."""

    keyring: Callable[[], Iterable[str]]

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ, self.keyring = environ, tuple
        self._everywhere: dict[str, None] = dict.fromkeys(secrets_of(environ))
        self._lock = threading.Lock()

    def of(self, plan: Plan) -> SecretMask:
        declared = {name: self._environ.get(name, "") for name in declared_variables(plan)}
        written = [plan.texts.get(path, "") for path in plan.keys.values()]
        values = [value for name, value in declared.items() if not _is_public(name, value, written)]
        with self._lock:
            self._everywhere.update(dict.fromkeys(values))
        keys = (*secrets_of(self._environ), *filter(None, map(self._environ.get, KEYS)))
        return SecretMask((*values, *keys), self.keyring, keys)

    def everywhere(self) -> tuple[str, ...]:
        """What no log may hold: the secrets of all runs so far, longest first."""
        with self._lock:
            return _forms((*self._everywhere, *self.keyring()))


def declared_variables(plan: Plan) -> set[str]:
    """Names of variables of the environment that a run puts into texts, addresses, servers and headers."""
    found = set(KEYS)
    found.update(_named_in(dict(plan.settings)))
    if any("${" in text for text in plan.texts.values()):
        library = Library.of(plan)
        for key in plan.keys:
            with suppress(Failure, KeyError):  # what cannot be run puts nothing anywhere
                found.update(name for text in library.workflow(key).env.values() for name in names_in(text))
    return found - {""}


def _named_in(settings: object, key: str = "") -> Iterator[str]:
    match settings:
        case str():
            yield from names_in(settings)
            if key.endswith(_NAMES_A_VARIABLE):
                yield settings
        case dict():
            for name, value in settings.items():
                yield from _named_in(value, str(name))
        case list() | tuple():
            for value in settings:
                yield from _named_in(value)
        case _:
            pass


def _is_public(name: str, value: str, written: Iterable[str]) -> bool:
    """What every program is told (`HOME`, `USER`, `LANG`) is nobody's secret, and neither is what stands in the
    workflows themselves: their texts are kept and, by an enhance loop, written back."""
    if name in KEPT or name.startswith("LC_") or _ORDINARY.fullmatch(value):
        return True
    return bool(value) and any(value in text for text in written)
