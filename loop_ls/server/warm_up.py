"""Checks a tiny workflow once, so that the first real one finds rules imported and tables built."""

from __future__ import annotations

import logging

from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker

logger = logging.getLogger(__name__)

_URI = "untitled:rehearsal.yaml"
_TEXT = """\
$schema: workflow/v2.0
name: rehearsal
version: 1.0.0
description: Never shown
execution:
  provider: ollama
  model: llama3.2
steps:
  - name: write
    needs: []
    temperature: 0.3
    timeout: 90s
    run: |
      Write about {{input}}
loops:
  - name: refine
    workflow: rehearsal
    with:
      draft: "{{write}}"
      before: "{{loop.last.output}}"
    max_iterations: 3
    until: It says DONE
"""

#: As many as a long file has.
_STEPS = 60


def practise() -> None:
    """A longer one, for when nobody waits: code that has run often runs faster, and memory is at hand."""
    head, _, rest = _TEXT.partition("  - name: write\n")
    step, _, loop = rest.partition("loops:\n")
    steps = "".join(f"  - name: write{number or ''}\n{step}" for number in range(_STEPS))
    rehearse(f"{head}{steps}loops:\n{loop}")


def rehearse(text: str = _TEXT) -> None:
    """Costs nothing in the end: all of it would be paid by the first document."""
    try:
        document = Document.open(_URI, text)
        Checker().findings(Workspace.of(Roots(_URI), [document]), document)
    except Exception:
        logger.exception("Warm-up failed; the cause will show when a document is checked")
