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
    async with httpx.AsyncClient(trust_env=False, timeout=60) as http:
        request = await _to_what_was_checked(http, "https://page.test:8443/x?y=1")
    assert str(request.url) == "https://93.184.216.34:8443/x?y=1"
    assert request.headers["host"] == "page.test:8443"
    assert request.extensions["sni_hostname"] == "page.test"


@pytest.mark.parametrize("addresses", [("10.0.0.1",), ("93.184.216.34", "::1"), ("fe80::1%eth0",), ()])
async def test_a_name_with_one_address_inside_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...]
) -> None:
    looked_up(monkeypatch, *addresses)
    monkeypatch.setattr(fetch, "require_page", lambda url: None)
    with pytest.raises(NotFetched, match="not a public address"):
        await fetch.fetch("http://page.test/")
