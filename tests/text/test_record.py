"""Cheap value classes behave like the dataclasses that a type checker takes them for."""

from __future__ import annotations

import dataclasses
import pickle
from dataclasses import field
from typing import ClassVar

import pytest

from loop_ls.text.record import equal_record, record


@equal_record
class Point:
    """A place."""

    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)
    secret: str = field(default="s", repr=False)

    @property
    def far(self) -> bool:
        return self.x > 10


@equal_record
class Answer:
    text: str
    tries: ClassVar[int] = 3
    bill: float = field(default=0.0, compare=False)


@record
class Box:
    name: str
    parts: tuple[Box, ...] = ()


@equal_record
class Nothing:
    pass


def test_fields_have_defaults_and_names() -> None:
    one = Point(1, tags=["a"])
    assert (one.x, one.y, one.tags, one.secret, one.far) == (1, 0, ["a"], "s", False)
    assert Point(2).tags is not Point(2).tags
    with pytest.raises(TypeError):
        Point()  # type: ignore[call-arg]


def test_values_are_equal_by_their_fields_and_records_by_identity() -> None:
    assert Point(1) == Point(1)
    assert Point(1) != Point(2)
    assert Point(1) != (1, 0, [], "s")
    assert Box("a") != Box("a")
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())


def test_what_is_not_to_be_compared_is_not_and_what_belongs_to_the_class_is_no_field() -> None:
    assert Answer("a", 1.0) == Answer("a", 2.0) != Answer("b", 1.0)
    assert hash(Answer("a", 1.0)) == hash(Answer("a", 2.0))
    assert (Answer.tries, [each.name for each in dataclasses.fields(Answer)]) == (3, ["text", "bill"])  # type: ignore[arg-type]


def test_a_value_of_what_can_be_hashed_can_be_hashed() -> None:
    @equal_record
    class Pair:
        a: int
        b: str = ""

    assert {Pair(1), Pair(1), Pair(2)} == {Pair(1), Pair(2)}


def test_it_shows_itself_and_hides_what_it_should() -> None:
    assert repr(Point(1)) == "Point(x=1, y=0, tags=[])"
    assert repr(Box("a")) == "Box(name='a', parts=())"


def test_there_is_no_room_for_anything_else() -> None:
    with pytest.raises(AttributeError):
        Point(1).other = 1  # type: ignore[attr-defined]
    assert not hasattr(Point(1), "__dict__")
    assert Point.__doc__ == "A place."


def test_the_tools_of_dataclasses_work() -> None:
    assert dataclasses.replace(Point(1), y=3) == Point(1, 3)
    assert dataclasses.is_dataclass(Box)
    assert [one.name for one in dataclasses.fields(Point)] == ["x", "y", "tags", "secret"]
    assert dataclasses.asdict(Point(1)) == {"x": 1, "y": 0, "tags": [], "secret": "s"}
    assert pickle.loads(pickle.dumps(Point(4))) == Point(4)
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)
