"""One engine, with everything that can wait for a person, for all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.conftest import CliProject
from tests.engine.people.surfaces import Surfaces
from tests.engine.people.ways import Place
from tests.engine.roles.conftest import project as project
from tests.processes import forked


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    base = tmp_path_factory.mktemp("people")
    project = CliProject(base / "project", base / "data")
    project.root.mkdir()
    made = Place(project)
    yield made
    project.end()
    made.quota.close()


@pytest.fixture(scope="module")
def surfaces(place: Place) -> Iterator[Surfaces]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("loop_ls.client.launch.subprocess", forked.Subprocess)
        assert place.project.call("engine", "start").returncode == 0
        made = Surfaces(place.project)
        yield made
        made.close()
