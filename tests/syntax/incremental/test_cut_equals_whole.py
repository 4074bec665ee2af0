"""The promise of the reader: cutting a document and editing it piece by piece changes nothing."""

from __future__ import annotations

import random

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from loop_ls.syntax.tree import Tree, read_yaml
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span
from tests.syntax.flat import flat_content, flat_tree, flat_whole
from tests.syntax.odd_lines import document, insertion, mutated

WORKFLOW = """\
# a remark
$schema: workflow/v2.0
name: demo
execution: {provider: ollama, model: llama3.2}
env:
  TONE: "dry
    and short"
steps:
  # the first one
  - name: fetch
    run: |
      Fetch {{input}}

      - and nothing else
  - name: judge
    needs: [fetch]
    run: >-
      Judge
      {{fetch}}
loops:
- name: again
  workflow: demo
  with: {previous: "{{loop.last.output}}"}
  until: 'It''s done'
"""

names = st.sampled_from(["name", "run", "steps", "loops", "env", "with", "x-1", "'quoted'", '"st\\u0065ps"'])
plain = st.sampled_from(["x", "a b", "0.5", "{{x}} y", "it's", "a#b", "ü", "http://x/y", "- no item", "x\n   more"])
quoted = st.sampled_from(['"a"', "''", '"{{x}}: \\u003d"', '"two\n\n  lines"', "'it''s'", '"at the\nmargin"'])
scalars = st.one_of(quoted, st.sampled_from(["x", "0.5", "a b", "~", "2024-01-01", "yes", "x y#z"]))


def _flow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    items = st.lists(inner, max_size=3)
    return st.one_of(
        items.map(lambda parts: "[" + ", ".join(parts) + "]"),
        items.map(lambda parts: "{" + ", ".join(f"k{n}: {part}" for n, part in enumerate(parts)) + "}"),
        items.map(lambda parts: "[\n  " + ",\n".join(parts) + "\n]"),
    )


flows = st.recursive(scalars, _flow, max_leaves=5)


@st.composite
def values(draw: st.DrawFn, indent: int, depth: int) -> str:
    """What may follow a key at `indent`, its colon included."""
    kind = draw(st.sampled_from(["plain", "flow", "block", "nothing", "map", "list", "flush list"]))
    deeper = indent + draw(st.sampled_from([2, 2, 4, 1]))
    if kind == "plain":
        return " " + draw(st.one_of(plain, quoted)).replace("\n ", "\n" + " " * deeper)
    if kind == "flow":
        return " " + draw(flows)
    if kind == "block":
        header = draw(st.sampled_from(["|", ">", "|-", ">+", "|+ # kept"]))
        rows = draw(st.lists(st.sampled_from(["text", "- dash", "key: value", "", "  deeper", "# none"]), max_size=4))
        return f" {header}\n" + "\n".join(" " * deeper + row if row else "" for row in ["first", *rows])
    if kind == "nothing" or depth == 0:
        return draw(st.sampled_from(["", " # nothing", " ~"]))
    if kind == "map":
        return "\n" + draw(mappings(deeper, depth - 1))
    return "\n" + draw(lists(indent if kind == "flush list" else deeper, depth - 1))


@st.composite
def mappings(draw: st.DrawFn, indent: int, depth: int) -> str:
    entries = draw(st.lists(names, min_size=1, max_size=4))
    return "\n".join(" " * indent + name + ":" + draw(values(indent, depth)) for name in entries)


@st.composite
def lists(draw: st.DrawFn, indent: int, depth: int) -> str:
    rows = []
    for _ in range(draw(st.integers(1, 3))):
        if depth and draw(st.booleans()):
            rows.append(" " * indent + "- " + draw(mappings(indent + 2, depth - 1)).lstrip(" "))
        else:
            rows.append(
                " " * indent + draw(st.sampled_from(["- x", "-", "- [a]", '- "q"', "- |\n" + " " * indent + "  t"]))
            )
    return "\n".join(rows)


@st.composite
def documents(draw: st.DrawFn) -> str:
    head = draw(st.sampled_from(["", "", "# remark\n", "---\n", "\n\n", "%YAML 1.1\n---\n"]))
    tail = draw(st.sampled_from(["\n", "", "\n\n# end\n", "\n---\nsecond: 1\n", "\n...\n"]))
    return head + draw(mappings(0, 3)) + tail


relaxed = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


@relaxed
@given(documents())
@example(WORKFLOW)
@example(WORKFLOW.replace("\n", "\r\n"))
def test_a_cut_document_equals_the_whole_one(text: str) -> None:
    whole = flat_whole(text)
    assume(whole is not None)
    assert flat_content(read_yaml(Text.of(text))) == whole


@relaxed
@given(st.integers(0, 2**32))
def test_so_does_every_odd_text_that_libyaml_takes(seed: int) -> None:
    text = document(random.Random(seed))
    whole = flat_whole(text)
    assume(whole is not None)
    assert flat_content(read_yaml(Text.of(text))) == whole


@relaxed
@given(documents(), st.integers(0, 2**32), st.integers(1, 6))
@example(WORKFLOW, 7, 40)
def test_edits_lead_to_the_tree_that_reading_afresh_gives(text: str, seed: int, times: int) -> None:
    rng = random.Random(seed)
    tree = read_yaml(Text.of(mutated(text, rng, rng.randrange(3))))
    for _ in range(times):
        tree = _edited(tree, rng)
        assume(not str(tree.text).startswith("\ufeff"))  # typed, it is no byte order mark
        assert flat_tree(tree) == flat_tree(read_yaml(Text.of(str(tree.text))))


def _edited(tree: Tree, rng: random.Random) -> Tree:
    last = len(tree.text.lines) - 1
    places = sorted(rng.randint(0, last) for _ in range(2))
    if rng.random() < 0.7:
        places[1] = places[0]
    start, end = sorted(Position(at, rng.randint(0, len(tree.text.line(at)))) for at in places)
    return tree.edit(Span(start, end if rng.random() < 0.5 else start), insertion(rng))


@relaxed
@given(st.text(max_size=60))
def test_any_text_gives_a_tree(text: str) -> None:
    tree = read_yaml(Text.of(text))
    assert sum(len(lines) for lines in {id(p.lines): p.lines for p in tree.pieces}.values()) <= len(tree.text.lines)
    for piece in tree.pieces:
        for fault in piece.faults:
            assert fault.span.start <= fault.span.end
            assert 0 <= fault.span.start.line < len(piece.lines)
