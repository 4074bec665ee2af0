"""The image and the compose file, by processes: what a container would start does what they promise."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import psycopg
import yaml

from loop_ls.testing.ports import free_port
from loop_ls.testing.postgres import PostgresServer

DEPLOY = Path(__file__).parents[3] / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
WORKER: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["worker"]


def told(instruction: str) -> list[str]:
    found = re.search(rf"^{instruction} (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert found
    return list(json.loads(found[1]))


def ask(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.status, json.load(answer)["status"]
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)["status"]
    except OSError:
        return 0, ""


class Container:
    """What the image starts, with the environment of the compose file."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.process, self.port = process, port

    @classmethod
    async def start(cls, database: str) -> Container:
        assert told("ENTRYPOINT") == ["loop-ls"]
        assert "LOOP_LS_DATABASE_URL" in WORKER["environment"]
        environment = {**os.environ, "LOOP_LS_DATABASE_URL": database, "LOOP_LS_PROBE_PORT": str(port := free_port())}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "loop_ls", *told("CMD")),
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        return cls(process, port)

    async def until(self, path: str, status: int) -> str:
        async with asyncio.timeout(60):
            while (found := await asyncio.to_thread(ask, self.port, path))[0] != status:
                assert self.process.returncode is None
                await asyncio.sleep(0.05)
        return found[1]


async def test_three_workers_come_up_at_once_on_an_empty_database_and_leave_when_they_are_told(
    postgres: PostgresServer,
) -> None:
    with psycopg.connect(postgres.url, autocommit=True) as db:
        db.execute("drop schema if exists dbos cascade")
        db.execute("drop schema if exists loop_ls cascade")
    replicas = int(WORKER["deploy"]["replicas"])
    containers = [await Container.start(postgres.url) for _ in range(replicas)]
    try:
        await asyncio.gather(*(each.until("/ready", 200) for each in containers))
        assert [ask(each.port, "/health") for each in containers] == [(200, "ok")] * replicas
        assert ask(containers[0].port, "/runs")[0] == 404
        with psycopg.connect(postgres.url) as db:
            names = {row[0] for row in db.execute("select name from loop_ls.worker")}
        assert len(names) == replicas
        containers[0].process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(containers[0].process.wait(), int(WORKER["stop_grace_period"].rstrip("s"))) == 0
        with psycopg.connect(postgres.url) as db:
            assert len(db.execute("select name from loop_ls.worker").fetchall()) == replicas - 1
    finally:
        for each in containers:
            if each.process.returncode is None:
                each.process.terminate()
        await asyncio.gather(*(asyncio.wait_for(each.process.wait(), 60) for each in containers))


async def test_a_worker_takes_its_database_port_and_manner_of_logging_from_its_options(
    postgres: PostgresServer,
) -> None:
    words = [*told("CMD"), "--database-url", postgres.database(), "--probe-port", str(port := free_port())]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LOOP_LS_")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "loop_ls", *words, "--log-format", "json", "--log-level", "debug"),
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        told_first, line = {}, b"-"
        while line and not told_first:  # the sentence of the command itself is no line of the log
            line = await asyncio.wait_for(process.stderr.readline(), 60)
            told_first = json.loads(line) if line.startswith(b"{") else {}
        assert told_first["level"] == "debug"
        reading = asyncio.create_task(process.stderr.read())
        await Container(process, port).until("/ready", 200)
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.wait(), 60)
    await reading


def test_the_probe_of_the_compose_file_asks_the_port_that_the_image_opens() -> None:
    port = re.search(r"^ENV LOOP_LS_PROBE_PORT=(\d+)$", DOCKERFILE, re.MULTILINE)
    assert port
    assert f"127.0.0.1:{port[1]}/ready" in " ".join(WORKER["healthcheck"]["test"])
    assert f"EXPOSE {port[1]}" in DOCKERFILE
