"""A rename looks for braces without quotes only in steps that have a value of that shape."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from loop_ls.features.lookup import bare_braces
from loop_ls.index.document import Document
from loop_ls.index.element import Element, Use
from loop_ls.text.position import Position

HEAD = "$schema: workflow/v2.0\nname: x\nversion: 1.0.0\nexecution: {provider: ollama, model: m}\nsteps:\n"
TEXTS = "".join(f"  - name: s{n}\n    run: |\n      Before: {{{{input}}}}\n" for n in range(100))


def test_no_text_is_searched_for_braces_that_lack_their_quotes(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    plain = bare_braces.use_in_bare_braces

    def counted(lines: Sequence[str], element: Element, at: Position) -> Use | None:
        looked.append(element.name)
        return plain(lines, element, at)

    monkeypatch.setattr(bare_braces, "use_in_bare_braces", counted)
    document = Document.open("file:///w/x.yaml", f"{HEAD}{TEXTS}  - name: last\n    run: {{{{ s1 }}}}\n")
    assert [(element.name, use.name) for element, use in bare_braces.bare_uses(document)] == [("last", "s1")]
    assert set(looked) == {"last"}
