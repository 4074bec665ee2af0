"""What the sockets of the interface are set to."""

import asyncio
import socket

from loop_ls.engine.api.server import listen


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
