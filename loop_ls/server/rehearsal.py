"""Checks a tiny workflow once, so that the first real one finds rules imported and tables built."""

from __future__ import annotations

import logging

from loop_ls.index.document import Document
from loop_ls.index.roots import Roots
from loop_ls.index.workspace import Workspace
from loop_ls.rules.check import Checker

logger = logging.getLogger(__name__)

_URI = "untitled:rehearsal.yaml"
_TEXT = """\
$schema: workflow/v2.0
name: rehearsal
version: 1.0.0
description: Never shown
execution: {provider: ollama, model: llama3.2}
steps:
  - name: write
    run: "Write about {{input}}"
loops:
  - {name: refine, workflow: rehearsal, with: {x: "{{loop.last.output}}"}, max_iterations: 3, until: It says DONE}
"""


def rehearse() -> None:
    """Costs nothing in the end: all of it would be paid by the first document."""
    try:
        document = Document.open(_URI, _TEXT)
        Checker().findings(Workspace.of(Roots(_URI), [document]), document)
    except Exception:
        logger.exception("The rehearsal failed; documents will tell")
