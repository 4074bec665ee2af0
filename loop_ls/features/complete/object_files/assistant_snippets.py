"""Whole assistants to insert, one for each way to end a loop."""

from __future__ import annotations

from collections.abc import Sequence

from loop_ls.features.complete.items.snippets import Snippet
from loop_ls.features.complete.render import Pairs, Prose, Value

_WHO: Sequence[tuple[str, Value]] = (("name", "${1:Name}"), ("persona", Prose("${2:You ...}")))
_LOOP: Sequence[tuple[str, Value]] = (("maxBudgetUsd", "${3:0.50}"), ("loopEnabled", "true"))


def _assistant(type_: str, value: str, iterations: str) -> Pairs:
    criteria: Pairs = [("type", type_), *([("value", value)] if value else [])]
    return [*_WHO, *_LOOP, ("loopCriteria", criteria), ("maxIterations", iterations)]


ASSISTANTS = (
    Snippet(
        "assistant: until tests pass",
        "repeats until a command succeeds",
        _assistant("test_pass", "${4:npm test}", "${5:10}"),
        "test_pass",
    ),
    Snippet(
        "assistant: until a phrase",
        "repeats until the output has a phrase",
        _assistant("regex", "${4:'^all done$'}", "${5:10}"),
        "regex",
    ),
    Snippet("assistant: for approval", "one iteration, then a person decides", _assistant("manual", "", "1"), "manual"),
    Snippet(
        "assistant: a number of times",
        "repeats a fixed number of times",
        _assistant("max_iterations", "", "${4:5}"),
        "max_iterations",
    ),
    Snippet("assistant", "answers, without a loop", [*_WHO], "plain"),
)

#: The same in one line of JSON, for lists.
JSON = (
    '{"name": "${1:Name}", "persona": "${2:You ...}", "maxBudgetUsd": ${3:0.5}, "loopEnabled": true, '
    '"loopCriteria": {"type": "${4:test_pass}", "value": "${5:npm test}"}, "maxIterations": ${6:10}}'
)
