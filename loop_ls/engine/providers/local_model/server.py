"""The embedded model: a small real one in a child process that speaks the OpenAI dialect.

In a process of its own because native code can crash and takes 200 MB; with a key of its own, so
that no other program on this machine uses it; started with the first question and gone after a
while without one. It writes; it cannot judge.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from loop_ls.engine.capabilities.guard import using
from loop_ls.engine.capabilities.values import EmbeddedModel
from loop_ls.engine.core.ports import EmbedReply, EmbedRequest, ModelFailure, ModelReply, ModelRequest
from loop_ls.engine.providers.config import Provider
from loop_ls.engine.providers.dialects.openai import OpenAI
from loop_ls.engine.providers.dialects.vectors import vectors
from loop_ls.engine.providers.http import HttpModels
from loop_ls.engine.providers.keys import Keys
from loop_ls.engine.providers.local_model.weights import find_weights, own_weights
from loop_ls.engine.subprocesses import supervisor

START_SECONDS = 60.0
IDLE_SECONDS = 300.0
LOG_NAME = "local-model.log"


class LocalModels:
    """One child for the whole engine, whatever runs ask this model."""

    def __init__(self, provider: Provider, log_folder: Path | None, vectors: bool = False) -> None:
        self._provider, self._vectors = provider, vectors
        self._capability = EmbeddedModel(own_weights(provider))
        self._log = (log_folder or Path(tempfile.gettempdir())) / LOG_NAME
        self._starting = asyncio.Lock()
        self._child: supervisor.SupervisedProcess | None = None
        self._http: HttpModels | None = None
        self._asking = 0
        self._leaving: asyncio.TimerHandle | None = None
        self._stopping: set[asyncio.Task[None]] = set()

    async def ask(self, request: ModelRequest, hear: Callable[[str], None]) -> ModelReply:
        async with self._busy(request.model) as http:
            with using(self._capability):
                return await http.ask(request, hear)

    async def embed(self, request: EmbedRequest) -> EmbedReply:
        async with self._busy(request.model) as http:
            with using(self._capability):
                return await vectors(http, request)

    @asynccontextmanager
    async def _busy(self, model: str) -> AsyncIterator[HttpModels]:
        self._asking += 1
        if self._leaving:
            self._leaving.cancel()
        try:
            yield await self._ready(model)
        finally:
            self._asking -= 1
            if not self._asking:
                self._leaving = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._leave)

    async def _ready(self, model: str) -> HttpModels:
        async with self._starting:
            if self._http is None or self._child is None or not self._child.running:
                await self.aclose()
                self._http = await self._start(find_weights(self._provider), model)
            return self._http

    async def _start(self, weights: Path, model: str) -> HttpModels:
        key = secrets.token_urlsafe(24)
        argv = [sys.executable, "-P", "-m", "loop_ls.engine.providers.local_model.child"]
        paths = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
        env, place = supervisor.reduced(os.environ, **paths), self._log.parent
        log = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with using(self._capability):
                child = await supervisor.start(argv, stdin=PIPE, stdout=PIPE, stderr=log, cwd=place, env=env)
        finally:
            os.close(log)
        self._child = child
        assert child.process.stdin and child.process.stdout
        child.process.stdin.write(
            json.dumps({"model": str(weights), "key": key, "vectors": self._vectors}).encode() + b"\n"
        )
        try:
            async with asyncio.timeout(START_SECONDS):
                await child.process.stdin.drain()
                said = await child.process.stdout.readline()
            url = str(json.loads(said)["url"])
        except (TimeoutError, ValueError, KeyError, OSError):
            await self.aclose()
            raise ModelFailure(
                "server",
                f"The embedded model did not start; see its log: {self._log}.",
                "Free some memory (it needs 250 MB) and run again, or use another provider.",
                provider=self._provider.name,
                model=model,
                details={"final": True},
            ) from None
        return HttpModels(replace(self._provider, base_url=f"{url}/v1", address=""), OpenAI(), Keys({}), key)

    def _leave(self) -> None:
        task = asyncio.get_running_loop().create_task(self._leave_if_idle())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)

    async def _leave_if_idle(self) -> None:
        async with self._starting:
            if not self._asking:
                await self.aclose()

    async def aclose(self) -> None:
        http, child = self._http, self._child
        self._http = self._child = None
        if http is not None:
            await http.aclose()
        if child is not None:
            await child.stop()
