"""Fetching a page of the web for an agent: text of public addresses, and nothing of this machine or network.

Every host is looked up and checked before it is asked, redirects included; a page could otherwise lead an
agent to services that trust whoever is inside.
"""

from __future__ import annotations

import asyncio
import html
import ipaddress
import re
import socket
from urllib.parse import urljoin, urlsplit

from loop_ls.engine.capabilities.guard import require_page

MOST_BYTES = 1024 * 1024
SECONDS = 30.0
REDIRECTS = 5
_NO_TEXT = re.compile(r"<(script|style|template|noscript)\b.*?</\1\s*>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
_BLOCK = re.compile(r"</?(?:p|div|br|li|tr|h[1-6]|section|article|pre|table|ul|ol)\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[^>]+>")


class NotFetched(Exception):
    """One sentence that says why."""


async def fetch(url: str) -> str:
    """The text behind an address; of HTML the words. Raises `NotFetched`."""
    import httpx

    require_page(url)
    try:
        async with asyncio.timeout(SECONDS), httpx.AsyncClient(trust_env=False, timeout=SECONDS) as http:
            for _ in range(REDIRECTS + 1):
                await _check(url)
                async with http.stream("GET", url, headers={"accept": "text/*, application/json"}) as response:
                    if response.is_redirect and (there := response.headers.get("location")):
                        url = urljoin(url, there)
                        continue
                    if response.status_code >= 400:
                        raise NotFetched(f"{url} answers {response.status_code}.")
                    return await _text(response)
    except TimeoutError:
        raise NotFetched(f"{url} gave no answer within {SECONDS:g} s.") from None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise NotFetched(f"{url} cannot be fetched: {error}.") from None
    raise NotFetched(f"{url} leads from one address to the next, {REDIRECTS} times.")


async def _check(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise NotFetched(f"`{url[:200]}` is no address of the web: it begins with http:// or https://.")
    try:
        found = await asyncio.get_running_loop().getaddrinfo(parts.hostname, parts.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise NotFetched(f"`{parts.hostname}` is not found: {error.strerror or error}.") from None
    for *_, address in found:
        if not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_global:
            raise NotFetched(f"`{parts.hostname}` is no public address.")


async def _text(response: object) -> str:
    import httpx

    assert isinstance(response, httpx.Response)
    kept = bytearray()
    async for chunk in response.aiter_bytes():
        kept += chunk
        if len(kept) >= MOST_BYTES:
            break
    told = bytes(kept[:MOST_BYTES]).decode(response.charset_encoding or "utf-8", "replace")
    return _words(told) if "html" in response.headers.get("content-type", "") else told


def _words(page: str) -> str:
    plain = _TAG.sub("", _BLOCK.sub("\n", _NO_TEXT.sub("", page)))
    lines = (" ".join(line.split()) for line in html.unescape(plain).splitlines())
    return "\n".join(line for line in lines if line)
