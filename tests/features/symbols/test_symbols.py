"""The outline: cheap to keep, and right in half-typed files."""

from __future__ import annotations

import textwrap

from loop_ls.features.answers import Placed
from loop_ls.features.symbols.document_symbols import symbols
from loop_ls.index.document import Document
from loop_ls.text.position import Position, Span

FLOW = """
    $schema: workflow/v2.0
    name: flow
    version: 1.0.0
    execution:
      provider: ollama
      model: llama3.2
    env:
      MIN: "8"
    steps:
      - name: draft
        run: "Draft {{input}}"
      - name: judge
        consensus:
          prompt: YES or NO
          executions:
            - {provider: openai, model: gpt-4o}
            - {provider: ollama, model: llama3.2}
          require: majority
    loops:
      - name: refine
        workflow: polish
        with:
          text: "{{draft}}"
        max_iterations: 3
        until: "The review says PASS"
        accumulate: drafts
    steps:
      - name: report
        needs: [refine]
        run: "Report {{refine}}"
"""


def opened(text: str) -> Document:
    return Document.open("file:///w/flow.yaml", textwrap.dedent(text).lstrip("\n"))


def tree(placed: tuple[Placed, ...], line: int = 0, depth: int = 0) -> list[str]:
    out = []
    for offset, symbol in placed:
        at = line + offset + symbol.name_span.start.line
        out.append(f"{'  ' * depth}{symbol.kind.value} {symbol.name} {symbol.detail} @{at + 1}".replace("  @", " @"))
        out += tree(symbol.children, line + offset, depth + 1)
    return out


def test_sections_elements_and_their_parts() -> None:
    assert tree(symbols(opened(FLOW))) == [
        "workflow flow workflow @2",
        "section execution @4",
        "  setting provider ollama @5",
        "  setting model llama3.2 @6",
        "section env @7",
        "  constant MIN 8 @8",
        "section steps 2 steps @9",
        "  step draft run @10",
        "  step judge consensus @12",
        "    setting openai gpt-4o @16",
        "    setting ollama llama3.2 @17",
        "section loops 1 loop @19",
        "  loop refine ↻ polish, ≤ 3 iterations @20",
        "    parameter text {{draft}} @23",
        "    variable drafts all outputs joined @26",
        "section steps 1 step @27",
        "  step report run @28",
    ]


def test_every_name_lies_within_its_symbol_and_every_symbol_within_its_parent() -> None:
    def check(placed: tuple[Placed, ...], line: int, outer: Span | None) -> None:
        for offset, symbol in placed:
            span, name = symbol.span.shift(line + offset), symbol.name_span.shift(line + offset)
            assert span.start <= name.start <= name.end <= span.end
            assert outer is None or (outer.start <= span.start and span.end <= outer.end), symbol.name
            check(symbol.children, line + offset, span)

    check(symbols(opened(FLOW)), 0, None)


def test_half_typed_text_keeps_its_outline() -> None:
    text = textwrap.dedent(FLOW).lstrip("\n").replace('run: "Draft {{input}}"', 'run: "Draft {{input}}\n    nee')
    names = [line.split()[1] for line in tree(symbols(Document.open("file:///w/flow.yaml", text)))]
    assert [n for n in ("draft", "judge", "refine", "report") if n in names] == ["draft", "judge", "refine", "report"]


def test_an_element_without_a_name_is_listed_too() -> None:
    lines = tree(symbols(opened("$schema: workflow/v2.0\nname: x\nsteps:\n  - run: hi\n")))
    assert "  step (unnamed step) run @4" in lines


def test_other_files_have_none() -> None:
    assert symbols(opened("a: 1\nsteps: []\n")) == ()


def test_UP_40_an_edit_makes_one_new_symbol() -> None:
    steps = "".join(f"  - name: s{i}\n    run: x\n" for i in range(2000))
    before = Document.open("file:///w/flow.yaml", f"$schema: workflow/v2.0\nname: x\nsteps:\n{steps}")
    after = before.edit(Span(Position(3 + 2000, 9), Position(3 + 2000, 10)), "\n\n    run: y")
    old, new = symbols(before)[-1].symbol.children, symbols(after)[-1].symbol.children
    fresh = [b for a, b in zip(old, new, strict=True) if a.symbol is not b.symbol]
    assert len(fresh) == 1
    assert new[-1].line == old[-1].line + 2
