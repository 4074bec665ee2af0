"""A free port for a program that has to be told its port.

One that the system hands out would be handed out again, to any connection, before the program binds it.
"""

from __future__ import annotations

import random
import socket
from contextlib import suppress

#: Below those that systems hand out themselves (32768 and up on Linux, 49152 and up elsewhere).
NAMED = range(20_000, 32_000)


def free_port() -> int:
    for port in random.sample(NAMED, len(NAMED)):
        with socket.socket() as found, suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port
    raise OSError("every port is in use")
