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
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from loop_ls.engine.capabilities.guard import require_page
from loop_ls.engine.providers.unpacking import ACCEPTED, NotUnpacked, unpacked

if TYPE_CHECKING:
    import httpx

MOST_BYTES = 1024 * 1024
SECONDS = 30.0
REDIRECTS = 5
#: Addresses that a network translates to IPv4, and those that hosts of the internet have.
_TRANSLATED, _GIVEN_OUT = ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("2000::/3")
_HIDDEN = re.compile(r"<(script|style|template|noscript)\b|<!--", re.IGNORECASE)
_CLOSING = {
    name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in ("script", "style", "template", "noscript")
} | {"": re.compile("-->")}
#: Encodings that pages are in. Python has others that are none of texts, or that take their time.
_ENCODINGS = re.compile(
    r"(?:utf[-_]?(?:8|16|16le|16be)|us[-_]?ascii|iso[-_]?8859[-_]?\d+|latin[-_]?1|windows[-_]?125\d|cp125\d"
    r"|koi8[-_]?[ru]|gbk|gb2312|gb18030|big5|euc[-_]?(?:jp|kr)|shift[-_]?jis)",
    re.IGNORECASE,
)
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
                request = await _to_what_was_checked(http, url)
                async with _answer(http, request) as response:
                    if response.is_redirect and (there := response.headers.get("location")):
                        url = urljoin(url, there)
                        continue
                    if response.status_code >= 400:
                        raise NotFetched(f"{url} answers {response.status_code}.")
                    return await _text(response)
    except TimeoutError:
        raise NotFetched(f"{url} did not respond within {SECONDS:g} s.") from None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise NotFetched(f"{url} cannot be fetched: {error}.") from None
    except NotUnpacked as why:
        raise NotFetched(f"{url} sent {why}.") from None
    raise NotFetched(f"{url} redirects more than {REDIRECTS} times.")


async def _to_what_was_checked(http: httpx.AsyncClient, url: str) -> httpx.Request:
    """A request to the very address that was looked up: a name may stand for another one a moment later. Raises
    `NotFetched`."""
    import httpx

    page = httpx.URL(url)
    if page.scheme not in ("http", "https") or not page.host:
        raise NotFetched(f"`{url[:200]}` is not a web address: it must start with http:// or https://.")
    name = page.raw_host.decode("ascii")
    return http.build_request(
        "GET",
        page.copy_with(host=await _public_address(name, page.port)),
        headers={
            "accept": "text/*, application/json",
            "accept-encoding": ACCEPTED,
            "host": page.netloc.decode("ascii"),
        },
        extensions={"sni_hostname": name},
    )


@asynccontextmanager
async def _answer(http: httpx.AsyncClient, request: httpx.Request) -> AsyncIterator[httpx.Response]:
    response = await http.send(request, stream=True)
    try:
        yield response
    finally:
        await response.aclose()


async def _public_address(host: str, port: int | None) -> str:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise NotFetched(f"`{host}` was not found: {error.strerror or error}.") from None
    addresses = [str(address[0]) for *_, address in found]
    if not addresses or not all(map(is_public, addresses)):
        raise NotFetched(f"`{host}` is not a public address.")
    return addresses[0]


def is_public(address: str) -> bool:
    """Whether an address is of the internet. One of IPv6 may stand for one of IPv4, which decides then; others than
    those that are given out to hosts (2000::/3) are none, whatever the library says of them."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv4Address):
        return found.is_global and not found.is_multicast
    stands_for = ipaddress.IPv4Address(int(found) & 0xFFFF_FFFF) if found in _TRANSLATED else found.sixtofour
    if stands_for is not None:
        return is_public(str(stands_for))
    return found.is_global and found in _GIVEN_OUT


async def _text(response: httpx.Response) -> str:
    kept = bytearray()
    async for chunk in unpacked(response):
        kept += chunk
        if len(kept) >= MOST_BYTES:
            break
    told = _decoded(bytes(kept[:MOST_BYTES]), response.charset_encoding or "utf-8")
    return _words(told) if "html" in response.headers.get("content-type", "") else told


def _decoded(body: bytes, encoding: str) -> str:
    """A page says of itself in what it is written: what is none of the encodings of pages is taken for UTF-8."""
    try:
        return body.decode(encoding if _ENCODINGS.fullmatch(encoding) else "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def _words(page: str) -> str:
    shown = "".join(_shown(page))
    tagged, _, rest = shown.rpartition(">")  # behind it no tag ends, and looking for an end each time takes for ever
    plain = _TAG.sub("", _BLOCK.sub("\n", f"{tagged}>")) + rest if tagged else shown
    lines = (" ".join(line.split()) for line in html.unescape(plain).splitlines())
    return "\n".join(line for line in lines if line)


def _shown(page: str) -> Iterator[str]:
    """The page without scripts and comments, read once from front to back; what is never closed hides the rest, as
    in a browser."""
    at = 0
    while hidden := _HIDDEN.search(page, at):
        yield page[at : hidden.start()]
        closing = _CLOSING[(hidden[1] or "").lower()].search(page, hidden.end())
        if closing is None:
            return
        at = closing.end()
    yield page[at:]
