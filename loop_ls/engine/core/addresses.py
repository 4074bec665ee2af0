"""Addresses of the web, read by a real parser: host, what may be shown, what is no address.

One reader for consent, prices, certificates and the socket: where two of them read an address in their own
ways, `http://localhost:x@elsewhere` is this machine for one and a stranger for the other.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_HERE = frozenset({"127.0.0.1", "localhost", "::1"})
#: What parsers of addresses disagree about: blanks, control characters, backslashes.
_AMBIGUOUS = re.compile(r"[\s\\\x00-\x1f\x7f]")


def is_here(url: str) -> bool:
    """Whether the host is this machine."""
    try:
        return urlsplit(url).hostname in _HERE
    except ValueError:
        return False


def host_of(url: str) -> str:
    """Host and port, as written."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""


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
    if _AMBIGUOUS.search(url):
        return "holds a blank, a control character or a backslash, which an address must not"
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return "is no address"
    if "@" in parts.netloc:
        return "holds a user name or a password before the host, which an address must not"
    return "" if host else "names no host"
