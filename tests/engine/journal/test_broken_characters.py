"""JSON of models and servers may name characters that are none: no text that is read of it holds one.

Such a text could not be sent to the next model, and all work of the run was lost.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from loop_ls.engine.bodies.items import parse_items
from loop_ls.engine.checks.json_values import some_json
from loop_ls.engine.checks.rubric import read_rubric_answer
from loop_ls.engine.enhance.plan.answer import read_answer
from loop_ls.engine.retrieval.by_server import hits
from loop_ls.engine.retrieval.values import Store
from loop_ls.engine.roles.gate import read_gate

HALF = "\\ud83d"


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_gate, '{"requirements_met": false, "findings": [{"summary": "half HALF"}], "rationale": "r HALF"}'),
        (read_rubric_answer, '{"reason": "half HALF", "pass": true, "score": 1}'),
        (some_json, '{"a": ["half HALF"]}'),
        (some_json, 'It is {"a": ["half HALF"]}.'),
        (parse_items, '["half HALF"]'),
        (parse_items, '{"name": "half HALF"}'),
        (lambda text: hits(text, Store("s")), '[{"id": 1, "text": "half HALF"}]'),
        (read_answer, '{"rationale": "half HALF", "ops": [{"op": "x", "to": "half HALF"}]}'),
    ],
)
def test_half_a_character_becomes_a_whole_one(read: Callable[[str], object], text: str) -> None:
    found = str(read(text.replace("HALF", HALF)))
    assert "half \ufffd" in found
    found.encode()
