"""What looks like a key or token: nothing that belongs into a file of a project (LS004)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from loop_ls.text.pattern import pattern

_SHAPE = pattern(
    r"""(?x)
    \b(?: (?:sk|pk|rk)-[A-Za-z0-9_-]{16,}
      | (?:gsk|hf|ghp|gho|ghs|ghu|glpat|npm|xai|pplx|github_pat)[_-][A-Za-z0-9_-]{16,}
      | xox[abprs]-[A-Za-z0-9-]{10,} | AKIA[0-9A-Z]{16} | AIza[0-9A-Za-z_-]{30,}
      | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+ )
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY
    | (?i:\b(?:bearer|basic)\ +)(?!\$)[A-Za-z0-9+/=._-]{8,}
    | ://[^/\s:@]+:(?!\$)[^/\s:@]+@
    """
)
_NAMES = (
    "apikey",
    "token",
    "secret",
    "password",
    "passphrase",
    "secretkey",
    "accesskey",
    "privatekey",
    "authorization",
)
#: Names of variables that say that the value is secret, and how long it has to be to count without being declared.
_SECRET_NAME = pattern(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
LONG_ENOUGH = 8
_VARIABLE = pattern(r"\$\{?[A-Za-z_][A-Za-z0-9_]*\}?")
_ENVIRONMENT = pattern(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")


def names_secret(key: str) -> bool:
    """Whether a key is called like something that holds a secret: `apiKey`, `GITHUB_TOKEN`."""
    return re.sub(r"[-_]", "", key).lower().endswith(_NAMES)


def is_secret(text: str) -> bool:
    """Whether a text has the shape of a key or token."""
    return _SHAPE.search(text) is not None


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values of variables whose names say that they are secret, longest first."""
    found = {value for name, value in environ.items() if _SECRET_NAME.search(name) and len(value) >= LONG_ENOUGH}
    return tuple(sorted(found, key=len, reverse=True))


def masked(text: str, environ: Mapping[str, str]) -> str:
    """A text without what has the shape of a key, and without the values of secret variables."""
    for value in secrets_of(environ):
        text = text.replace(value, "[secret]")
    return _SHAPE.sub("[secret]", text)


def takes_from_environment(text: str) -> bool:
    """Whether a text only names a variable of the environment (`${NAME}`), with other words beside it."""
    return _VARIABLE.search(text) is not None


def is_variable_name(text: str) -> bool:
    """`OPENAI_API_KEY`: the name of a variable, not its value."""
    return _ENVIRONMENT.fullmatch(text) is not None
