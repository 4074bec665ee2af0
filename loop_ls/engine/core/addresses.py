"""Addresses of the web, read by a real parser: host, what may be shown, what is no address.

One reader for consent, prices, certificates and the socket: where two of them read an address in their own
ways, `http://localhost:x@elsewhere` is this machine for one and a stranger for the other.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from loop_ls.engine.core.env_substitution import VARIABLE

_HERE = frozenset({"127.0.0.1", "localhost", "::1"})
#: What parsers of addresses disagree about: blanks, control characters, backslashes.
_AMBIGUOUS = re.compile(r"[\s\\\x00-\x1f\x7f]")
_SCHEMES = frozenset({"http", "https"})


def is_here(url: str) -> bool:
    """Whether the host is this machine."""
    try:
        return urlsplit(url).hostname in _HERE
    except ValueError:
        return False


def host_of(url: str) -> str:
    """Host and port. Letters that look like others do not: a host outside of ASCII is shown as it is looked up."""
    try:
        written = urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""
    return written if written.isascii() else _looked_up(written)


def _looked_up(written: str) -> str:
    """`xn--` names in place of those with other letters, escapes where there is no such name."""
    host, colon, port = written.partition(":")
    try:
        return f"{host.encode('idna').decode()}{colon}{port.encode('ascii').decode()}"
    except UnicodeError:
        return ascii(written)[1:-1]


def without_password(url: str) -> str:
    """The address without a user name and password in it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl() if "@" in parts.netloc else url


def whole_address(url: str) -> str:
    """With a scheme, without a slash at the end."""
    if url and "://" not in url:  # OLLAMA_HOST is often only `host:port`
        url = f"http://{url}"
    return url.rstrip("/")


def address_fault(url: str) -> str:
    """Why an address is not taken, as the end of a sentence that names it; empty where it is."""
    if not url:
        return ""
    if _AMBIGUOUS.search(url) or not url.isprintable():
        return "contains a space, an invisible character or a backslash, which is not allowed in a URL"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, urlsplit(VARIABLE.sub("1", url)).port
    except ValueError:
        return "is not a URL"
    if "@" in parts.netloc:
        return "contains a user name or a password, which is not allowed in a URL"
    if not host:
        return "has no host"
    if parts.scheme not in _SCHEMES:
        return f"starts with `{parts.scheme}:`, but must start with http:// or https://"
    return "has the invalid port 0" if port == 0 else ""
