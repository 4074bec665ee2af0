"""What counts for a step, and who says so."""

import pytest

from loop_ls.formats.workflow.model import Target
from loop_ls.index.effective import effective, execution_models, models
from tests.index.building import document, element

PAIR = "execution: {provider: p, model: m}\n"
CHAIN = "execution: {provider: p, model: m, providers: [{provider: c1, model: d1}, {provider: c2, model: d2}]}\n"


def chain(execution: str, step: str) -> tuple[list[tuple[str, str]], str, str | None]:
    found = document(execution + f"steps:\n  - {{name: a, run: x{step}}}\n")
    answer = models(found, element(found, "a"))
    return [(one.provider, one.model) for one in answer.chain], answer.source, answer.ignored


@pytest.mark.parametrize(
    ("execution", "step", "expected", "source"),
    [
        (CHAIN, ", provider: q, model: n, providers: [{provider: r, model: o}]", [("r", "o")], "step"),
        (CHAIN, ", provider: q, model: n", [("q", "n")], "step"),
        (CHAIN, "", [("c1", "d1"), ("c2", "d2")], "execution"),
        (PAIR, "", [("p", "m")], "execution"),
        (PAIR, ", model: n", [("p", "n")], "step"),
        (PAIR, ", provider: q", [("q", "m")], "step"),
        ("", "", [], "built-in"),
        ("execution: {provider: p}\n", "", [], "execution"),
        ("execution: {provider: p}\n", ", model: n", [("p", "n")], "step"),
        ("", ", model: n", [], "step"),
    ],
)
def test_WB_115_WB_116_whom_a_step_asks(
    execution: str, step: str, expected: list[tuple[str, str]], source: str
) -> None:
    assert chain(execution, step)[:2] == (expected, source)


def test_D22_each_half_says_where_it_comes_from() -> None:
    found = document(PAIR + "steps:\n  - {name: a, run: x, model: n}\n")
    answer = models(found, element(found, "a"))
    assert (answer.provider, answer.model, answer.halves) == ("p", "n", ("execution", "step"))


def test_WF109_a_lone_key_is_void_beside_a_chain() -> None:
    assert chain(CHAIN, ", model: n") == ([("c1", "d1"), ("c2", "d2")], "execution", "model")
    assert chain(PAIR, ", model: n")[2] is None


def test_2_9_embeddings_resolve_each_half_on_its_own() -> None:
    found = document(CHAIN + "steps:\n  - {name: a, provider: q, embeddings: {input: x, model: e}}\n")
    assert models(found, element(found, "a")).chain == (Target("q", "e"),)


def test_the_workflow_itself() -> None:
    assert execution_models(document(CHAIN)).chain[0] == Target("c1", "d1")
    assert execution_models(document(PAIR)).chain == (Target("p", "m"),)
    half = execution_models(document("execution: {model: m}\n"))
    assert (half.chain, half.provider, half.model) == ((), None, "m")


def test_WB_117_numbers_come_from_the_nearest_place_zero_included() -> None:
    body = (
        "execution: {temperature: 0.3, max_tokens: 100, timeout: 1m, servers: [s], logging: debug}\n"
        "steps:\n  - {name: a, run: x, temperature: 0, servers: []}\n  - {name: b, run: x}\n"
    )
    found = document(body)
    one, two = (effective(found, element(found, name)) for name in "ab")
    assert (one.temperature.value, one.temperature.source) == (0, "step")
    assert (two.temperature.value, two.temperature.source) == (0.3, "execution")
    assert (one.servers.value, one.servers.source) == ((), "step")
    assert (two.servers.value, two.servers.source) == (("s",), "execution")
    assert two.max_tokens[:2] == (100, "execution")
    assert two.timeout[:2] == (60, "execution")
    assert two.logging.value == "debug"
    assert two.temperature.field is not None


def test_without_a_word_the_built_in_values_count() -> None:
    found = document("steps:\n  - {name: a, run: x}\n")
    one = effective(found, element(found, "a"))
    assert (one.temperature.value, one.max_tokens.value, one.timeout.value) == (0.7, None, None)
    assert (one.max_iterations.value, one.on_failure.value, one.max_retries.value) == (10, "halt", 0)
    assert one.servers == ((), "built-in", None)


def test_a_faulty_value_does_not_count() -> None:
    found = document("execution: {temperature: 0.2}\nsteps:\n  - {name: a, run: x, temperature: hot}\n")
    assert effective(found, element(found, "a")).temperature[:2] == (0.2, "execution")


def test_4_8_a_step_fails_as_execution_says_and_a_loop_never_does() -> None:
    body = (
        "execution: {on_error: continue}\nsteps:\n  - {name: a, run: x}\n  - {name: b, run: x, on_failure: retry}\n"
        "  - {name: c, loop: {workflow: w2, on_failure: retry, max_retries: 1}}\n"
        "loops:\n  - {name: l, workflow: w2}\n"
    )
    found = document(body)
    kinds = {e.name: effective(found, e) for e in found.elements}
    assert {name: one.on_failure.value for name, one in kinds.items()} == {
        "a": "continue",
        "b": "retry",
        "c": "retry",
        "l": "halt",
    }
    assert (kinds["b"].max_retries.value, kinds["c"].max_retries.value) == (3, 1)
