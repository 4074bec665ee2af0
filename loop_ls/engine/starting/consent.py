"""Where keys and texts of a run would go, which programs it would start, and whether the user agreed.

A project's files may not send anything anywhere unseen, nor start anything: endpoints, variables that
hold keys or end up in prompts, and programs are shown once, and remembered by their hash.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.providers.config import configured, fallbacks
from loop_ls.engine.providers.dialects.pydantic_ai import vendor

FILE_NAME = "consents.json"


@dataclass(frozen=True, slots=True, order=True)
class Endpoint:
    """One place that texts would go to, with one variable whose value would go there too."""

    provider: str
    url: str
    variable: str = ""

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def hash(self) -> str:
        told = json.dumps([self.provider, self.url, self.variable])
        return hashlib.sha256(told.encode()).hexdigest()

    def wire(self) -> dict[str, str]:
        url = without_password(self.url)
        shown = {"provider": self.provider, "host": self.host, "url": url, "variable": self.variable}
        return {name: value for name, value in shown.items() if value}


@dataclass(frozen=True, slots=True, order=True)
class StartedProgram:
    """A program that a run would start, as it is written: a test command, an agent, a server of tools.
    `folder` is where; what is agreed to in one project is not agreed to in another."""

    words: tuple[str, ...]
    folder: str = ""

    @property
    def hash(self) -> str:
        return hashlib.sha256(json.dumps(["program", *self.words, self.folder]).encode()).hexdigest()

    def wire(self) -> dict[str, Any]:
        return {"argv": list(self.words), "folder": self.folder}


def endpoints(
    names: Iterable[str],
    settings: Mapping[str, Any],
    environ: Mapping[str, str],
    variables: Iterable[str] = (),
) -> list[Endpoint]:
    """What the use of these providers needs consent for. `settings` is the section `providers` of the
    project; `variables` are those that its files put into prompts."""
    found: list[Endpoint] = []
    for name in sorted(_with_fallbacks(names, settings)):
        try:
            provider = configured(name, settings, environ)
        except ModelFailure:
            continue  # cannot be asked, so nothing goes anywhere
        if provider.kind in ("scripted", "local"):  # whatever service it stands in for is not asked
            continue
        if provider.kind == "pydantic-ai":  # it knows the address and the variables of its service
            found.append(Endpoint(name, f"pydantic-ai://{vendor(provider)}", provider.key_env))
            found += [Endpoint(name, found[-1].url, variable) for variable in sorted(set(variables))]
            continue
        named = settings.get(name) or {}
        chosen_here = bool(named.get("baseUrl") or named.get("apiKeyEnv"))
        if not provider.base_url or (provider.on_this_machine and not chosen_here and not provider.key_env):
            continue
        found.append(Endpoint(name, provider.base_url, provider.key_env))
        if not provider.on_this_machine:
            found += [Endpoint(name, provider.base_url, variable) for variable in sorted(set(variables))]
    return found


def _with_fallbacks(names: Iterable[str], settings: Mapping[str, Any]) -> set[str]:
    """The providers, and those that are asked in their place."""
    found = set(names)
    return found | {target.provider for name in found for target in fallbacks(name, settings)}


class Consents:
    """What the user agreed to, in the data folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME

    def settle(
        self,
        wanted: Sequence[Endpoint],
        given: str | None,
        programs: Sequence[StartedProgram] = (),
        project: Path | str = "",
    ) -> None:
        """Go on when all of it is agreed to, now (`given` is the digest of what was shown) or before. What
        was agreed to in one `project` is not in another, though both share a data folder.
        Raises `Refused(consent_required)`."""
        known = self._read()
        here = partial(_name, project=str(project))
        asked: list[Endpoint | StartedProgram] = [
            *sorted({each for each in programs if here(each) not in known}),
            *sorted(each for each in wanted if here(each) not in known),
        ]
        if not asked:
            return
        digest = hashlib.sha256("".join(map(here, asked)).encode()).hexdigest()[:32]
        if given != digest:
            raise _required(asked, digest)
        self._write(known | {here(each): {**each.wire(), "at": round(time.time())} for each in asked})

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, consents: dict[str, Any]) -> None:
        new = self._path.with_suffix(".new")
        new.touch(0o600, exist_ok=True)
        new.write_text(json.dumps(consents, indent=1), "utf-8")
        new.replace(self._path)


def _name(agreed: Endpoint | StartedProgram, project: str) -> str:
    return hashlib.sha256(json.dumps([agreed.hash, project]).encode()).hexdigest()


def _required(asked: Sequence[Endpoint | StartedProgram], digest: str) -> Refused:
    programs = [each for each in asked if isinstance(each, StartedProgram)]
    places = [each for each in asked if isinstance(each, Endpoint)]
    parts = []
    if programs:
        parts.append("starts " + ", ".join(f"`{' '.join(each.words)}`" for each in programs))
    if places:
        hosts = ", ".join(dict.fromkeys(each.host for each in places))
        keys = ", ".join(dict.fromkeys(each.variable for each in places if each.variable))
        parts.append(f"sends texts to {hosts}" + (f", with what is in {keys}" if keys else ""))
    told = f"This run {' and '.join(parts)}."
    details = {
        "programs": [list(each.words) for each in programs],
        "endpoints": [each.wire() for each in places],
        "digest": digest,
    }
    return Refused("consent_required", told, "Confirm it once; it is remembered.", details)


def without_password(url: str) -> str:
    """The address without a user name and password in it."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
