"""What is installed on demand: the core does without it, and whatever needs it says which extra brings it."""

from __future__ import annotations

import logging
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from loop_ls import extras
from loop_ls.engine.core.ports import Failure, ModelFailure
from loop_ls.engine.journal import JournalRefused
from loop_ls.engine.journal.postgres import PostgresStorage
from loop_ls.engine.providers.config import Provider
from loop_ls.engine.providers.dialects.pydantic_ai import missing_package
from loop_ls.engine.providers.local_model.weights import find_weights
from loop_ls.engine.retrieval.by_database import search_database
from loop_ls.engine.telemetry.spans import spans_of
from loop_ls.engine.tools.servers import Server
from loop_ls.engine.tools.session import Session

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
OPTIONAL = PROJECT["optional-dependencies"]
URL = "postgresql://nobody@127.0.0.1:1/none"
#: A Python in which these packages are not installed.
WITHOUT = f"""
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {{*{sorted(name.partition(".")[0] for name in extras.EXTRAS)!r}, "sqlalchemy"}}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""


def without(code: str, *argv: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-P", "-c", WITHOUT + code, *argv]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize(("package", "extra"), [(name, extra) for name, (extra, _) in extras.EXTRAS.items()])
def test_the_extra_that_is_named_brings_the_package(package: str, extra: str) -> None:
    package = package.replace(".", "_")
    assert any(each.replace("-", "_").startswith(package) for each in OPTIONAL[extra]), OPTIONAL[extra]
    assert not any(each.replace("-", "_").startswith(package) for each in PROJECT["dependencies"])


def test_all_is_every_extra_but_that_of_the_tests() -> None:
    (everything,) = OPTIONAL["all"]
    assert set(everything.partition("[")[2].rstrip("]").split(",")) == set(OPTIONAL) - {"all", "docs", "test"}


@pytest.mark.parametrize(
    ("argv", "package"),
    [
        (["engine", "worker", "--database-url", URL], "dbos"),
        (["engine", "start", "--foreground", "--database-url", URL, "--data-dir", "{folder}"], "dbos"),
        (["mcp", "--data-dir", "{folder}"], "mcp"),
    ],
    ids=lambda given: " ".join(given[:2]) if isinstance(given, list) else given,
)
def test_a_command_without_its_extra_says_in_one_sentence_how_to_add_it(
    argv: list[str], package: str, tmp_path: Path
) -> None:
    words = [word.format(folder=tmp_path / "data") for word in argv]
    done = without("from loop_ls.cli.main import main; sys.exit(main())", *words)
    assert done.returncode == 2, done
    (line,) = done.stderr.strip().splitlines()
    assert f"needs the package `{package}`, which is not installed: {extras.install_command(package)}" in line
    assert done.stdout == ""


def test_doctor_tells_of_every_extra_that_is_not_there(tmp_path: Path) -> None:
    done = without("from loop_ls.cli.main import main; sys.exit(main())", "doctor", "--data-dir", str(tmp_path))
    told = [line for line in done.stdout.splitlines() if line.startswith("extra")]
    assert len(told) == len(extras.EXTRAS)
    assert [line.partition("not installed; ")[2] for line in told] == list(map(extras.install_command, extras.EXTRAS))


def test_the_core_needs_none_of_them() -> None:
    code = """
import loop_ls.app.engine, loop_ls.engine.process.engine_process, loop_ls.server, loop_ls.cli.main
"""
    done = without(code)
    assert (done.returncode, done.stderr) == (0, "")


class TestInARun:
    """What is found to be missing only when a run comes to it."""

    @pytest.fixture(autouse=True)
    def none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for package in ("mcp", "psycopg", "dbos", "opentelemetry.exporter", "xllamacpp", "pydantic_ai"):
            # What another test has imported already would be found by its whole name.
            for name in [name for name in sys.modules if name.startswith(f"{package}.")]:
                monkeypatch.delitem(sys.modules, name)
            monkeypatch.setitem(sys.modules, package, None)

    async def test_an_mcp_server(self, tmp_path: Path) -> None:
        session = Session(Server("tickets", "stdio", ("x",)), tmp_path, {})
        with pytest.raises(Failure) as caught:
            await session.open()
        assert caught.value.message == extras.missing("MCP server `tickets`", "mcp")

    async def test_a_store_in_postgresql(self) -> None:
        with pytest.raises(Failure) as caught:
            await search_database(URL, _named("handbook"), None, 1.0)  # type: ignore[arg-type]
        assert caught.value.message == extras.missing("store `handbook`", "psycopg")

    def test_the_embedded_model(self) -> None:
        with pytest.raises(ModelFailure) as caught:
            find_weights(Provider("local", "local", ""))
        assert caught.value.message == extras.missing("Provider `local`", "xllamacpp")

    def test_a_cloud_of_pydantic_ai(self) -> None:
        missing = missing_package(Provider("bedrock", "pydantic-ai", ""))
        assert missing is not None
        assert missing.message.startswith(extras.missing("Provider `bedrock`", "pydantic_ai"))

    def test_traces(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING):
            assert spans_of({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}) is None
        assert extras.install_command("opentelemetry.sdk") in caplog.text

    def test_a_shared_journal(self) -> None:
        with pytest.raises(JournalRefused) as caught:
            PostgresStorage(URL)
        assert caught.value.message == extras.missing("Sharing runs in PostgreSQL", "dbos")


def _named(name: str) -> object:
    return type("Store", (), {"name": name})()
