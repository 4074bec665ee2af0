"""`loop-ls mcp --stage FILE`: carries messages between an agent program and the engine whose stage it works on.

The engine answers them. This process reads its lines from standard input and writes those of the engine to standard
output, and ends with whichever of the two leaves first. FILE says where the engine is, and by what token it knows us.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path

#: Seconds to reach an engine that is on this machine.
CONNECT = 20
GONE = "loop-ls mcp: the tools of this stage are not available: its turn has ended."


def relay(file: Path) -> int:
    """The exit status; 1 where the turn has ended."""
    try:
        told = json.loads(file.read_text("utf-8"))
        port, token = int(told["port"]), str(told["token"])
        engine = socket.create_connection(("127.0.0.1", port), CONNECT)
    except (OSError, ValueError, KeyError, TypeError):
        print(GONE, file=sys.stderr)
        return 1
    with engine:
        engine.settimeout(None)
        engine.sendall(f"{token}\n".encode())
        threading.Thread(target=_sent, args=(engine,), daemon=True).start()
        _received(engine)
    return 0


def _sent(engine: socket.socket) -> None:
    """What the program says, by the descriptor itself: a buffer would wait for more."""
    with suppress(OSError):
        while said := os.read(sys.stdin.fileno(), 65_536):
            engine.sendall(said)
        engine.shutdown(socket.SHUT_WR)


def _received(engine: socket.socket) -> None:
    with suppress(OSError):
        while said := engine.recv(65_536):
            sys.stdout.buffer.write(said)
            sys.stdout.buffer.flush()
