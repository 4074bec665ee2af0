"""Mappings read against their shapes."""

from loop_ls.formats.common.typed_mapping import PlacedText
from loop_ls.formats.workflow.keys import CONSENSUS, EXECUTION, LOOP, STEP
from tests.formats.reading import block


def test_values_have_the_type_of_their_key() -> None:
    found = block(STEP, "name: a\nrun: hello\nneeds: [b]\ntemperature: 0\ntimeout: 1m\nmax_retries: 2\nno_color: on")
    assert found.text("run") == "hello"
    assert [word.text for word in found.words("needs")] == ["b"]
    assert found.number("temperature") == 0
    assert found.number("timeout") == 60
    assert found.integer("max_retries") == 2
    assert found.flag("no_color") is True


def test_an_accessor_answers_none_for_another_type() -> None:
    found = block(STEP, "name: a\nparallel: true\nno_color: true\nneeds: x")
    assert found.integer("no_color") is None
    assert found.number("name") is None
    assert found.words("needs") == ()


def test_blocks_inside_blocks_are_typed_too() -> None:
    found = block(STEP, "name: a\nloop:\n  workflow: w\n  max_iterations: 3\n  with: {x: 1, y: [1]}")
    loop = found.block("loop")
    assert loop is not None
    assert loop.integer("max_iterations") == 3
    assert [(pair.name, pair.text) for pair in loop.pairs("with")] == [("x", "1"), ("y", None)]
    assert [inner.shape.name for inner in found.walk()] == ["step", "step loop"]


def test_entries_of_a_list_of_blocks() -> None:
    found = block(CONSENSUS, "prompt: p\nexecutions:\n  - {provider: a, model: b}\n  - nonsense\n  - {provider: c}")
    assert [one.text("provider") for one in found.blocks("executions")] == ["a", "c"]
    assert [fault.kind for fault in found.fields["executions"].faults] == ["type"]


def test_of_a_repeated_key_the_first_counts() -> None:
    found = block(STEP, "name: a\nrun: one\nrun: two")
    assert found.text("run") == "one"
    assert [(r.first.key.span.start.line, r.later.key.span.start.line) for r in found.repeated] == [(2, 3)]


def test_a_merged_key_is_no_repetition_and_never_wins() -> None:
    found = block(STEP, "name: a\n<<: {name: b, run: merged}\n")
    assert found.text("name") == "a"
    assert found.text("run") == "merged"
    assert found.repeated == ()


def test_WF006_an_unknown_key_carries_advice_or_the_nearest_key() -> None:
    found = block(LOOP, "name: a\nmax_iteration: 3\nuntill: x\nzzz: 1")
    meant = {unknown.entry.key.text: unknown.meant for unknown in found.unknown}
    assert meant == {"max_iteration": ("max_iterations",), "untill": ("until",), "zzz": ()}
    assert found.unknown[0].advice is not None


def test_WF006_the_key_that_was_meant_counts_as_present() -> None:
    found = block(LOOP, "name: a\nmax_iteration: 3")
    assert found.has("max_iterations")
    assert not found.writes("max_iterations")
    assert found.meant("max_iterations")
    assert not found.meant("until")


def test_an_alias_is_marked_where_it_stands_and_read_where_it_points() -> None:
    found = block(STEP, "name: &n fetch\nneeds: [*n]\nif: *n")
    word = found.words("needs")[0]
    assert isinstance(word, PlacedText)
    assert word.text == "fetch"
    assert word.span.start.line == 2
    condition = found.fields["if"]
    assert condition.value == "fetch"
    assert condition.span.start.line == 3
    assert condition.scalar is not None
    assert condition.scalar.span.start.line == 1


def test_constants_are_texts_and_nothing_deeper() -> None:
    from loop_ls.formats.workflow.keys import WORKFLOW

    found = block(WORKFLOW, "env:\n  A: 1.0\n  B:\n  C: {d: e}")
    assert [(pair.name, pair.text) for pair in found.pairs("env")] == [("A", "1.0"), ("B", ""), ("C", None)]
    assert [fault.kind for fault in found.fields["env"].faults] == ["type"]


def test_an_empty_value_is_absent_where_no_text_is_expected() -> None:
    found = block(EXECUTION, "servers:\nproviders: ~\nlogging:")
    assert found.fields["servers"].empty
    assert found.fields["providers"].value is None
    assert found.text("logging") == ""
