"""A file that has the name of a folder that loop-ls looks into or makes: everything else goes on."""

from __future__ import annotations

import pytest

from tests.cli.conftest import CliProject


@pytest.mark.parametrize("name", ["loops", "skills", "workflows"])
def test_a_file_in_the_place_of_a_folder_stops_no_engine(alone: CliProject, name: str) -> None:
    alone.write(name, "a file\n")
    assert alone.call("definitions").returncode == 0
    done = alone.call("run", "develop.yaml", "--input", "x", "--mock")
    assert (done.returncode, "File exists" in done.stdout + done.stderr) == (0, False), done.stderr
    assert alone.call("run", "reflection", "--goal", "x", "--mock").returncode in (0, 3)


def test_a_new_role_loop_names_the_file_that_is_in_its_way(alone: CliProject) -> None:
    alone.write("loops", "a file\n")
    done = alone.call("new", "role-loop", "pair")
    assert done.returncode == 2
    assert "loops cannot be written: File exists" in done.stderr
    assert (alone.root / "loops").read_text() == "a file\n"
