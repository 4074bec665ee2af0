"""The environment of an agent: built from nothing, so that no secret of ours is in it by accident.

An agent needs one credential of its own vendor; it gets exactly that one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from loop_ls.contract.process_marks import IN_AN_AGENT
from loop_ls.engine.subprocesses.supervisor import reduced

#: Further variables that agents are told about: proxies and certificates of the user's network.
_NETWORK = (
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
)

#: Never handed on, in whatever letters: a setting of ours could name them.
FORBIDDEN = frozenset({"DATABASE_URL", "BETTER_AUTH_SECRET", "RONDOFLOW_SECRET"})


def agent_environment(
    environ: Mapping[str, str],
    credentials: Sequence[str] = (),
    handed_on: Sequence[str] = (),
    more: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """`credentials` in order of preference: the first that is set goes along, the others do not.
    `handed_on` are names that the agent's vendor documents (an address, a limit)."""
    found = reduced(environ)
    found |= {name: environ[name] for name in (*_NETWORK, *handed_on) if environ.get(name)}
    chosen = next((name for name in credentials if environ.get(name)), None)
    if chosen is not None:
        found[chosen] = environ[chosen]
    found |= {IN_AN_AGENT: "1", **(more or {})}
    return {name: value for name, value in found.items() if name.upper() not in FORBIDDEN}


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
