"""What arrives together is handed over together, and what was taken back is not worked on."""

from __future__ import annotations

import asyncio
import threading

import pytest

from loop_ls.server.rpc.message_queue import Arrival, Cancelled, Inbox, Malformed, decode, without_cancelled


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "not valid JSON"),
        (b"[]", "object"),
        (b'"x"', "object"),
        (b"\xff", "not valid JSON"),
        (b"", "not valid JSON"),
    ],
)
def test_what_is_no_message_says_why(body: bytes, words: str) -> None:
    found = decode(body)
    assert isinstance(found, Malformed)
    assert words in found.reason


def test_a_message_nested_beyond_reason_is_malformed() -> None:
    assert isinstance(decode(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"), Malformed)


def test_a_request_cancelled_in_the_same_batch_is_never_looked_at() -> None:
    ask: Arrival = {"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover"}
    other: Arrival = {"jsonrpc": "2.0", "id": 8, "method": "textDocument/hover"}
    cancel: Arrival = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 7}}
    assert without_cancelled([ask, other, cancel]) == [Cancelled(7), other]


def test_a_cancellation_of_an_earlier_request_is_passed_on() -> None:
    cancel: Arrival = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 7}}
    other: Arrival = {"jsonrpc": "2.0", "id": 8, "method": "textDocument/hover"}
    assert without_cancelled([cancel, other]) == [cancel, other]
    odd: Arrival = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": [1]}
    assert without_cancelled([odd, other]) == [odd, other]


@pytest.mark.parametrize("key", [[], {}, None, 1.5])
def test_an_odd_id_costs_nothing_that_came_along(key: object) -> None:
    odd: Arrival = {"jsonrpc": "2.0", "id": key, "method": "textDocument/hover"}
    ask: Arrival = {"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover"}
    cancel: Arrival = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 7}}
    assert without_cancelled([odd, ask, cancel]) == [odd, Cancelled(7)]


async def test_a_busy_loop_gets_one_batch() -> None:
    batches: list[list[Arrival]] = []
    inbox = Inbox(asyncio.get_running_loop(), batches.append)
    messages: list[Arrival] = [{"n": n} for n in range(100)]

    def put() -> None:
        for message in messages:
            inbox.put([message])

    thread = threading.Thread(target=put)
    thread.start()
    thread.join()  # the loop is busy here: nothing is handed over before it comes round
    assert batches == []
    await asyncio.sleep(0)
    assert batches == [messages]


async def test_every_message_arrives_once_and_in_order() -> None:
    found: list[Arrival] = []
    done = asyncio.Event()

    def receive(batch: list[Arrival]) -> None:
        found.extend(batch)
        if len(found) == 5000:
            done.set()

    inbox = Inbox(asyncio.get_running_loop(), receive)
    messages: list[Arrival] = [{"n": n} for n in range(5000)]
    thread = threading.Thread(target=lambda: [inbox.put([message]) for message in messages])
    thread.start()
    await asyncio.wait_for(done.wait(), 60)
    thread.join()
    assert found == messages
