"""The table of routes in the documentation is that of the interface: none is missing there, none is made up."""

from __future__ import annotations

from pathlib import Path

from loop_ls.engine.api.route_table import ROUTES

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "http.md").read_text("utf-8")
BEGIN, END = "<!-- routes -->\n", "<!-- end -->"


def route_table() -> str:
    """As the page has it."""
    told = [(route.operation, route.shown_path) for route in ROUTES]
    rows = [f"| `{one.method} {path}` | {one.text} | {one.role or '-'} |" for one, path in told]
    return "\n".join(["| route | what it does | role |", "|---|---|---|", *rows]) + "\n"


def test_the_table_of_the_page_is_the_table_of_routes() -> None:
    written = PAGE.partition(BEGIN)[2].partition(END)[0]
    assert written == route_table(), f"write this between `{BEGIN.strip()}` and `{END}`:\n{route_table()}"
