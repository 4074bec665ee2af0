"""What the sockets of the interface are set to, and how connections end with the server."""

import asyncio
import socket
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from loop_ls.engine.api import server
from loop_ls.engine.api.server import Listening, listen


async def test_an_answer_in_two_packets_does_not_wait_for_an_acknowledgement() -> None:
    """Head and body of an answer are two packets: with Nagle's algorithm the second one waits 40 ms for the client's
    delayed acknowledgement of the first."""
    set_to: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted = writer.get_extra_info("socket")
        set_to.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    sock = listen(0)
    async with await asyncio.start_server(connected, sock=sock), asyncio.timeout(30):
        _, writer = await asyncio.open_connection(*sock.getsockname())
        assert await set_to != 0
        writer.close()
        await writer.wait_closed()


class Slow:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.asked, self.answers, self.cancelled = asyncio.Event(), asyncio.Event(), False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked.set()
        try:
            await self.answers.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"here it is"})


@pytest.fixture
async def listening() -> AsyncIterator[tuple[Listening, Slow, httpx.AsyncClient]]:
    sock, app = listen(0), Slow()
    found = Listening(sock)
    await found.start(app)
    url = f"http://127.0.0.1:{sock.getsockname()[1]}"
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60, verify=False) as client:
        yield found, app, client
    await found.stop()


async def test_a_stop_with_nothing_under_way_waits_for_no_clock(
    listening: tuple[Listening, Slow, httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, app, client = listening
    app.answers.set()
    assert (await client.get("/")).text == "here it is"  # its connection is kept for a next request
    waited = list[float]()
    sleep = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda seconds, *more: waited.append(seconds) or sleep(seconds, *more))
    async with asyncio.timeout(60):
        await found.stop()
    assert [seconds for seconds in waited if seconds] == []
    with pytest.raises(httpx.ConnectError):
        await client.get("/")


async def test_a_stop_lets_an_answer_that_is_under_way_end(
    listening: tuple[Listening, Slow, httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, app, client = listening
    monkeypatch.setattr(server, "GRACEFUL_SECONDS", 60)
    async with asyncio.timeout(60):
        asked = asyncio.ensure_future(client.get("/"))
        await app.asked.wait()
        stopped = asyncio.ensure_future(found.stop())
        await asyncio.sleep(0)
        app.answers.set()
        assert (await asked).text == "here it is"
        await stopped


async def test_a_stop_cancels_an_answer_that_does_not_end(
    listening: tuple[Listening, Slow, httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, app, client = listening
    monkeypatch.setattr(server, "GRACEFUL_SECONDS", 0.01)
    async with asyncio.timeout(60):
        asked = asyncio.ensure_future(client.get("/"))
        await app.asked.wait()
        await found.stop()
        answer = await asyncio.gather(asked, return_exceptions=True)
    assert app.cancelled
    assert not isinstance(answer[0], httpx.Response) or answer[0].status_code == 500
