"""Loops of many iterations that outlast every limit of a request, and clients of sockets that listen to them."""

from __future__ import annotations

from loop_ls.engine.api.connection import HEAD_SECONDS
from tests.engine.assistants.support.served import Client, ServedProject

ITERATIONS, LOOPS = 100, 2


async def prepared(served: ServedProject) -> None:
    """The assistant is a model that answers from a script: no process for each of hundreds of iterations."""
    served.write(provider="openai", model="m", maxIterations=ITERATIONS)
    await served.agree()


async def looped(served: ServedProject, client: Client, loops: int) -> None:
    """One loop after the other; the iterations of each take longer together than the head of a request may."""
    served.models.wait = lambda request: 1.2 * HEAD_SECONDS / ITERATIONS
    for number in range(1, loops + 1):
        await client.send("loop:start", message="do it")
        await ended(client, number)


async def ended(client: Client, loops: int) -> None:
    """Until so many loops have ended. Each event is waited for by itself: the limit of a wait is a minute. What was
    heard is looked through once for each of them: who works longer keeps the client from its answers to the server."""
    while _idle(client) < loops:
        await client.more()


def iterations(client: Client) -> list[int]:
    return [data["iteration"] for data in client.of("agent:loop_iteration")]


def _idle(client: Client) -> int:
    return sum(data["status"] == "idle" for data in client.of("agent:status"))
