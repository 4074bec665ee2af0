"""A host of its own in a network namespace: one cable leads to it, and it can be pulled.

Nothing says goodbye then, as with a real host: what was sent is lost, and nobody is told. Needs the superuser of
Linux and `ip`.
"""

from __future__ import annotations

import os
import shutil
import subprocess


class NoNamespace(Exception):
    """This machine makes none. One sentence."""


class Namespace:
    """`here` is our address on the cable. `words` are what a command is started with to run there."""

    def __init__(self, name: str, number: int) -> None:
        self.name, self._ours, self._theirs = f"ll-{name}", f"ll{number}a", f"ll{number}b"
        self.here, self.there = f"10.199.{number}.1", f"10.199.{number}.2"

    @property
    def words(self) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.name)

    @property
    def network(self) -> str:
        return f"{self.here}/30"

    def open(self) -> None:
        """Raises `NoNamespace`."""
        if shutil.which("ip") is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
            raise NoNamespace("network namespaces need the superuser of Linux, and `ip`")
        try:
            _ip("netns", "add", self.name)
            _ip("link", "add", self._ours, "type", "veth", "peer", "name", self._theirs, "netns", self.name)
            _ip("addr", "add", self.network, "dev", self._ours)
            _ip("link", "set", self._ours, "up")
            _ip("-n", self.name, "addr", "add", f"{self.there}/30", "dev", self._theirs)
            _ip("-n", self.name, "link", "set", "lo", "up")
            self.heal()
        except (OSError, subprocess.SubprocessError) as error:
            self.close()
            raise NoNamespace(f"this machine makes no network namespace: {error}") from None

    def cut(self) -> None:
        _ip("-n", self.name, "link", "set", self._theirs, "down")

    def heal(self) -> None:
        _ip("-n", self.name, "link", "set", self._theirs, "up")

    def close(self) -> None:
        """The cable goes with the namespace."""
        subprocess.run(["ip", "netns", "del", self.name], check=False, capture_output=True, timeout=20)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=20)
