"""Pages that mean harm to whoever reads them: endless tags, odd encodings, names that stand for another address."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import httpx
import pytest

from loop_ls.engine.providers import fetch
from loop_ls.engine.providers.fetch import MOST_BYTES, NotFetched, _decoded, _to_what_was_checked, _words


@pytest.mark.parametrize(
    "part", ["<script ", "<!--", "<", "<p ", "</script", "<style></styl", "<a>&lt;<!-", "<template>"]
)
async def test_no_page_keeps_the_engine_busy(part: str) -> None:
    """In a process that can be ended: without the fix each takes minutes."""
    size = MOST_BYTES // len(part)
    script = f"from loop_ls.engine.providers.fetch import _words; _words({part!r} * {size}); print('read')"
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    try:
        async with asyncio.timeout(60):
            out, _ = await child.communicate()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    assert out == b"read\n"


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<p>one<script>two</script>three</p>", "onethree"),
        ("a<SCRIPT x='</p>'>b</Script >c", "ac"),
        ("a<!-- b -->c<!-- d", "ac"),
        ("a<script>b", "a"),
        ("1 < 2 and no tag", "1 < 2 and no tag"),
        ("<b>x</b> < y", "x < y"),
        ("<h1>T</h1><ul><li>a<li>b</ul>&amp;", "T\na\nb\n&"),
    ],
)
def test_what_a_reader_sees_stays(page: str, words: str) -> None:
    assert _words(page) == words


@pytest.mark.parametrize("encoding", ["punycode", "nonsense", "iso-8859-99", "zlib", "rot13", "unicode_escape", "idna"])
def test_an_encoding_that_is_none_of_pages_is_read_as_utf_8(encoding: str) -> None:
    assert _decoded("ä\\x41".encode(), encoding) == "ä\\x41"


def test_the_encodings_of_pages_are_read() -> None:
    for encoding in ("latin-1", "ISO-8859-15", "windows-1252", "utf-16", "Shift_JIS", "koi8-r"):
        assert _decoded("plain".encode(encoding), encoding) == "plain"


def looked_up(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    async def answer(*args: Any, **more: Any) -> list[Any]:
        return [(2, 1, 6, "", (address, 443)) for address in addresses]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", answer)


async def test_the_address_that_was_checked_is_the_one_that_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up(monkeypatch, "93.184.216.34")
    async with httpx.AsyncClient(trust_env=False, timeout=60, verify=False) as http:
        request = await _to_what_was_checked(http, "https://page.test:8443/x?y=1")
    assert str(request.url) == "https://93.184.216.34:8443/x?y=1"
    assert request.headers["host"] == "page.test:8443"
    assert request.extensions["sni_hostname"] == "page.test"


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("64:ff9b::5db8:d822", True),  # 93.184.216.34, where a network has IPv6 alone
        ("2002:5db8:d822::1", True),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::a9fe:a9fe", False),  # 169.254.169.254
        ("64:ff9b:1::7f00:1", False),
        ("2002:7f00:1::", False),
        ("2002:a00:1::1", False),
        ("::ffff:127.0.0.1", False),
        ("::127.0.0.1", False),
        ("::ffff:0:127.0.0.1", False),
        ("fec0::1", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("224.0.0.1", False),
        ("0.0.0.0", False),
        ("100.64.0.1", False),
    ],
)
def test_an_address_that_stands_for_another_one_is_as_public_as_that(address: str, public: bool) -> None:
    assert fetch.is_public(address) is public


@pytest.mark.parametrize("addresses", [("10.0.0.1",), ("93.184.216.34", "::1"), ("fe80::1%eth0",), ()])
async def test_a_name_with_one_address_inside_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...]
) -> None:
    looked_up(monkeypatch, *addresses)
    monkeypatch.setattr(fetch, "require_page", lambda url: None)
    with pytest.raises(NotFetched, match="not a public address"):
        await fetch.fetch("http://page.test/")
