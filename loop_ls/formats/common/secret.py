"""What looks like a key or token: nothing that belongs into a file of a project (LS004)."""

from __future__ import annotations

import re

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
_VARIABLE = pattern(r"\$\{?[A-Za-z_][A-Za-z0-9_]*\}?")
_ENVIRONMENT = pattern(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")


def names_secret(key: str) -> bool:
    """Whether a key is called like something that holds a secret: `apiKey`, `GITHUB_TOKEN`."""
    return re.sub(r"[-_]", "", key).lower().endswith(_NAMES)


def is_secret(text: str) -> bool:
    """Whether a text has the shape of a key or token."""
    return _SHAPE.search(text) is not None


def takes_from_environment(text: str) -> bool:
    """Whether a text only names a variable of the environment (`${NAME}`), with other words beside it."""
    return _VARIABLE.search(text) is not None


def is_variable_name(text: str) -> bool:
    """`OPENAI_API_KEY`: the name of a variable, not its value."""
    return _ENVIRONMENT.fullmatch(text) is not None
