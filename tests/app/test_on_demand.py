"""A mapping whose values are made when they are first asked for."""

from __future__ import annotations

from loop_ls.app.on_demand import OnDemand


def test_a_value_is_made_when_it_is_asked_for_and_once() -> None:
    made: list[str] = []

    def make(name: str) -> str:
        made.append(name)
        return name.upper()

    found = OnDemand({"a": lambda: make("a"), "b": lambda: make("b")})
    assert ("a" in found, "c" in found, list(found), len(found)) == (True, False, ["a", "b"], 2)
    assert found.get("c") is None
    assert made == []
    assert (found["a"], found.get("a")) == ("A", "A")
    assert made == ["a"]
