"""How providers are reached: proxies and certificates of the environment, keys from the keyring, time limits."""

from __future__ import annotations

import asyncio
import json
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import uvicorn

from loop_ls.engine.core.ports import ModelFailure, ModelRequest
from loop_ls.engine.providers import Providers
from loop_ls.engine.providers.http import KEPT_SECONDS
from loop_ls.testing.clock import made_to_jump
from tests.engine.providers.conftest import KEY, MODELS, Asked

ANSWER = b'{"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]}'
WHOLE = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n" + ANSWER

both = pytest.mark.parametrize("provider", ["openai", "anthropic"])


class Server:
    """Answers every request in the same way, and remembers the first lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.heads: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.lines.append(head.split("\r\n")[0])
        self.heads.append(head.lower())
        writer.write(WHOLE)
        await writer.drain()
        writer.close()


@pytest.fixture
async def proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    server = Server()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        yield server


async def test_the_proxy_of_the_environment_is_used(proxy: Server) -> None:
    house = Providers({})
    ask = Asked(house.models({"far": {"baseUrl": "http://models.example.test/v1"}}))
    assert (await ask("far")).text == "hello"
    assert proxy.lines == ["POST http://models.example.test/v1/chat/completions HTTP/1.1"]
    await house.aclose()


async def test_an_encrypted_address_is_tunnelled_through_the_proxy(proxy: Server) -> None:
    house = Providers({})
    ask = Asked(house.models({"far": {"baseUrl": "https://models.example.test/v1"}}))
    with pytest.raises(ModelFailure):  # this proxy answers by itself instead of making a tunnel
        await ask("far", attempts=1)
    assert proxy.lines == ["CONNECT models.example.test:443 HTTP/1.1"]
    await house.aclose()


async def test_a_server_on_this_machine_is_reached_without_it(proxy: Server, llmock: Any, ask: Asked) -> None:
    llmock.reply("near")
    assert (await ask()).text == "near"
    assert proxy.lines == []


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that only whoever is told about it trusts, for a name that leads to this machine."""
    folder = tmp_path_factory.mktemp("ca")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=models.internal"),
            *("-addext", "subjectAltName=DNS:models.internal,IP:127.0.0.2"),
        ],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return folder


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_certificate_of_ones_own_is_trusted_when_the_environment_names_it(
    certificate: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool
) -> None:
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    server = Server()
    listening = await asyncio.start_server(server.serve, "127.0.0.2", 0, ssl=context)
    house = Providers({})
    async with listening:
        url = f"https://127.0.0.2:{listening.sockets[0].getsockname()[1]}/v1"
        ask = Asked(house.models({"inside": {"baseUrl": url}}))
        if trusted:
            assert (await ask("inside")).text == "hello"
        else:
            with pytest.raises(ModelFailure) as caught:
                await ask("inside", attempts=1)
            assert caught.value.code == "unreachable"
            assert "CERTIFICATE" in caught.value.message.upper()
    await house.aclose()


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """A keyring of the operating system, as the package of that name shows it."""
    kept: dict[tuple[str, str], str] = {}
    module = ModuleType("keyring")
    module.get_password = lambda service, name: kept.get((service, name))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)
    monkeypatch.setattr("loop_ls.engine.providers.keys.keyring_is_there", lambda: True)
    return kept


async def test_a_key_comes_from_the_keyring_when_the_environment_has_none(
    keyring: dict[tuple[str, str], str],
) -> None:
    keyring["loop-ls", "OPENAI_API_KEY"] = "sk-from-the-keyring-0123"
    server = Server()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    async with listening:
        house = Providers({"OPENAI_BASE_URL": f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"})
        models = house.models()
        assert models.problem("openai") is None
        assert (await Asked(models)()).text == "hello"
        await house.aclose()
    assert "authorization: bearer sk-from-the-keyring-0123" in server.heads[0]


async def test_a_keyring_that_fails_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("keyring")

    def locked(service: str, name: str) -> str:
        raise RuntimeError("locked")

    module.get_password = locked  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)
    monkeypatch.setattr("loop_ls.engine.providers.keys.keyring_is_there", lambda: True)
    problem = Providers({}).models().problem("openai")
    assert problem is not None
    assert problem.code == "missing_key"


@both
async def test_the_first_word_has_a_limit_of_its_own(llmock: Any, providers: Providers, provider: str) -> None:
    llmock.slow_first_token(30, times=None)
    ask = Asked(providers.models({provider: {"firstTokenSeconds": 0.2}}))
    with pytest.raises(ModelFailure) as caught:
        await ask(provider, attempts=1)
    assert caught.value.code == "timeout"
    assert "returned no first token within 0.2 s" in caught.value.message


#: A stream of each kind: what makes up the first word, and the rest.
STREAMS = {
    "openai": (
        [{"choices": [{"delta": {"content": "one"}}]}],
        [{"choices": [{"delta": {"content": " two"}, "finish_reason": "stop"}]}],
    ),
    "anthropic": (
        [
            {"type": "message_start", "message": {"usage": {"input_tokens": 1, "output_tokens": 1}}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "one"}},
        ],
        [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": " two"}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
            {"type": "message_stop"},
        ],
    ),
}
EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


def streamed(events: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


@both
@pytest.mark.parametrize("begun", [True, False])
async def test_the_limit_of_the_first_word_does_not_cut_an_answer_that_has_begun(provider: str, begun: bool) -> None:
    """The loop's clock jumps beyond the limit: with the first word heard, or without."""
    loop, heard = asyncio.get_running_loop(), asyncio.Event()
    first, rest = STREAMS[provider]
    jump = made_to_jump(loop)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(EVENTS + (streamed(first) if begun else b""))
        await writer.drain()
        if begun:
            await heard.wait()
        jump(700.0)
        await asyncio.sleep(0.001)  # timers that are due come first
        with suppress(ConnectionError):
            writer.write(streamed(rest if begun else [*first, *rest]))
            await writer.drain()
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        own = {"baseUrl": url, "firstTokenSeconds": 600, "idleSeconds": 9000, "timeoutSeconds": 9000}
        house = Providers({"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY})
        request = ModelRequest(provider, MODELS[provider], "Say it.", attempts=1)
        asking = house.models({provider: own}).ask(request, lambda text: heard.set(), lambda wait: None)
        if begun:
            assert (await asking).text == "one two"
        else:
            with pytest.raises(ModelFailure, match="returned no first token within 600 s"):
                await asking
        await house.aclose()


@both
async def test_how_long_an_answer_may_stop_is_a_setting(llmock: Any, providers: Providers, provider: str) -> None:
    llmock.stall(after_chunks=4, seconds=5, times=None).reply("one two three four five six", times=None)
    ask = Asked(providers.models({provider: {"idleSeconds": 0.2}}))
    with pytest.raises(ModelFailure) as caught:
        await ask(provider, attempts=1)
    assert "nothing was received for 0.2 s" in caught.value.message


async def test_an_address_may_name_a_variable(llmock: Any) -> None:
    house = Providers({"HOUSE": llmock.base_url("openai")})
    assert (await Asked(house.models({"house": {"baseUrl": "${HOUSE}"}}))("house")).text
    await house.aclose()


@pytest.mark.parametrize(("near", "kept", "connections"), [(False, 60.0, 1), (False, 0.0, 2), (True, 60.0, 2)])
async def test_a_connection_that_its_server_may_be_closing_is_not_used_again(
    monkeypatch: pytest.MonkeyPatch, near: bool, kept: float, connections: int
) -> None:
    """The question would be lost with it: a quiet one anywhere, and any one of a server on this machine."""
    monkeypatch.setattr("loop_ls.engine.providers.http.KEPT_SECONDS", kept)
    monkeypatch.setattr("loop_ls.engine.providers.config.Provider.on_this_machine", near)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    made = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal made
        made += 1
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r\n")[0]))
                told = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(ANSWER)}\r\n\r\n"
                writer.write(told.encode() + ANSWER)
                await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        house = Providers({"OPENAI_API_KEY": KEY})
        models = house.models({"openai": {"baseUrl": url}})
        for _ in range(2):
            assert (await models.ask(ModelRequest("openai", "m", "Say hello."))).text == "hello"
        await house.aclose()
    assert made == connections


def test_it_is_left_before_usual_servers_of_models_close_it() -> None:
    assert uvicorn.Config("app").timeout_keep_alive > KEPT_SECONDS
