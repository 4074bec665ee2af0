"""Consent: whether the owner has agreed to what a run may do, and how agreeing is proved.

A project's files may not send anything anywhere unseen, nor start anything: the capabilities of a run are
shown once, and remembered by their hashes. Agreeing is a decision of a person, so an answer that only repeats
what was shown is none: it needs a number of this question and a key that lies in the data folder, which the
owner's own surfaces read (a terminal, an editor) and nobody who asks over the network is told.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from loop_ls.contract.key_file import made_key, read_key
from loop_ls.contract.private_file import write_private
from loop_ls.engine.capabilities.values import (
    AnyCommand,
    Capabilities,
    Capability,
    Endpoint,
    Program,
    ToolUse,
    counted_at,
    identity,
    literal,
    reading,
    sentence,
)
from loop_ls.engine.core.errors import Refused
from loop_ls.text.json_value import JsonObject, as_object, text_field

FILE_NAME, KEY_NAME = "consents.json", "consent.key"
#: Questions that wait for an answer; older ones are forgotten.
MOST_QUESTIONS = 200


class Consents:
    """What the owner agreed to, in the data folder. Each entry is signed with the key of the owner: one that somebody
    laid there, or brought from another data folder, counts for nothing."""

    def __init__(self, folder: Path) -> None:
        self._path, self._key = folder / FILE_NAME, folder / KEY_NAME
        self._questions: dict[str, str] = {}

    def settle(self, capabilities: Capabilities, given: str | None, project: Path | str = "") -> None:
        """Go on when all of it is agreed to, now (`given` proves it) or before. What was agreed to in one
        `project` is not in another, though both share a data folder. Raises `Refused(consent_required)`."""
        known, here = self._signed(), partial(_name, project=str(project))
        new = [one for one in capabilities.asked if here(one) not in known]
        if not new:
            return
        if given is None or not self._proves(given, capabilities.digest):
            raise self._question(capabilities)
        at = round(time.time())
        with self._saving():
            key = made_key(self._key)
            agreed = {here(one): {**_wire(one), "at": at, "signature": _signature(key, here(one))} for one in new}
            write_private(self._path, known | agreed)

    def _question(self, capabilities: Capabilities) -> Refused:
        nonce = secrets.token_urlsafe(16)
        self._questions[nonce] = capabilities.digest
        while len(self._questions) > MOST_QUESTIONS:
            del self._questions[next(iter(self._questions))]
        with self._saving():
            made_key(self._key)
        return _required(capabilities, nonce)

    @contextmanager
    def _saving(self) -> Iterator[None]:
        """Raises `Refused`: what cannot be kept was not agreed to, so nothing starts."""
        try:
            yield
        except OSError as error:
            name = Path(error.filename2 or error.filename or self._path).name
            told = f"The permission cannot be saved: {name} in the data folder {self._path.parent} cannot be written"
            why = error.strerror or str(error)
            hint = "Nothing was started. Move that file away or free some space, then start the run again."
            raise Refused("engine_not_ready", f"{told} ({why}).", hint) from None

    def _proves(self, given: str, digest: str) -> bool:
        """Each question is answered once, with the number that it had and the key of the owner."""
        nonce, _, _ = given.partition(".")
        if self._questions.get(nonce) != digest or (key := read_key(self._key)) is None:
            return False
        if not hmac.compare_digest(given.encode("utf-8", "replace"), proof(key, nonce, digest).encode()):
            return False
        del self._questions[nonce]
        return True

    def _signed(self) -> JsonObject:
        key, found = read_key(self._key), self._read()
        if key is None:
            return {}
        signatures = {name: text_field(as_object(entry), "signature") for name, entry in found.items()}
        return {
            name: found[name]
            for name, given in signatures.items()
            if hmac.compare_digest(given.encode("utf-8", "replace"), _signature(key, name).encode())
        }

    def _read(self) -> JsonObject:
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def proof(key: str, nonce: str, digest: str) -> str:
    """What the owner's surface answers to a question."""
    return f"{nonce}.{_signature(key, f'{nonce}.{digest}')}"


def _signature(key: str, text: str) -> str:
    return hmac.new(key.encode(), text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def for_others(refused: Refused, command: str = "") -> Refused:
    """The same refusal for somebody who cannot agree: a client of the network, a model. `command` is what the owner
    runs to agree and start nothing."""
    if "nonce" not in refused.details:
        return refused
    told = refused.message.removeprefix("This run ")
    details = {name: value for name, value in refused.details.items() if name != "nonce"}
    if command:
        details["command"] = command
        hint = f"Let the owner run `{command}` once in a terminal; the permission is remembered."
    else:
        hint = "Let the owner start it once in a terminal or an editor; the permission is remembered."
    return Refused("consent_required", f"The owner must give permission first: this run {told}", hint, details)


def _name(agreed: Capability, project: str) -> str:
    return hashlib.sha256(json.dumps([identity(agreed), project]).encode()).hexdigest()


def _wire(one: Capability) -> JsonObject:
    match one:
        case Program(words=words, folder=folder, variables=variables):
            return {"argv": list(words), "folder": folder, **({"variables": list(variables)} if variables else {})}
        case AnyCommand(role=role, folder=folder):
            return {"argv": ["any command", f"(role {role})"], "folder": folder}
        case ToolUse(tool=tool, arguments=arguments, folder=folder):
            return {"tool": tool, "arguments": arguments, "folder": folder}
        case Endpoint(provider=provider, url=url, variable=variable, reads=reads):
            shown = {"provider": provider, "host": one.host, "url": url, "variable": variable, "reads": reads}
            return {name: value for name, value in shown.items() if value}
        case _:
            return {"told": sentence(one)}


def _required(capabilities: Capabilities, nonce: str) -> Refused:
    """The question: all of the set in words, and by kinds for programs that look at it."""
    asked = capabilities.asked
    wires = [(one, _wire(one)) for one in asked]
    details = {
        "capabilities": [sentence(one) for one in capabilities.shown],
        "programs": [wire["argv"] for _, wire in wires if "argv" in wire],
        "tools": [wire for one, wire in wires if isinstance(one, ToolUse)],
        "endpoints": [wire for one, wire in wires if isinstance(one, Endpoint)],
        "digest": capabilities.digest,
        "nonce": nonce,
    }
    told = _summed_up(asked)
    return Refused("consent_required", f"This run {told}.", "Confirm it once; it is remembered.", details)


def _summed_up(asked: tuple[Capability, ...]) -> str:
    """One sentence; places that get the same are said once."""
    places = [one for one in asked if isinstance(one, Endpoint)]
    parts = [sentence(one) for one in asked if not isinstance(one, Endpoint)]
    if places:
        hosts = ", ".join(dict.fromkeys(one.host or one.provider for one in places))
        keys = ", ".join(dict.fromkeys(one.variable for one in places if one.variable))
        prices = "".join(f"{counted_at(one.price)} ({literal(one.provider)})" for one in places if one.price)
        tables = "".join(literal(reading(one.reads)) for one in places)
        parts.append(f"sends data to {hosts}" + (f", with the value of {keys}" if keys else "") + prices + tables)
    return " and ".join(parts)
