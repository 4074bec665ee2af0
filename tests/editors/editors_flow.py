"""The workflow that the editors open, and the folder that it lies in."""

from __future__ import annotations

from pathlib import Path

WORKFLOW = """\
$schema: "workflow/v2.0"
name: haiku
version: 1.0.0
description: Write a poem until the critic has nothing left to say.

execution:
  provider: scripted
  model: poet

steps:
  - name: compose
    loop:
      workflow: one_draft
      with:
        subject: frogs
        before: "{{loop.last.output}}"
      max_iterations: 5
      until: "{{loop.output}} says ACCEPTED"
  - name: title
    needs: [compose]
    run: "A title for {{compose}}"
"""

CALLEE = """\
$schema: "workflow/v2.0"
name: one_draft
version: 1.0.0
description: A draft.
execution:
  provider: scripted
  model: poet
steps:
  - name: draft
    run: "Write a haiku about {{subject}}. Say ACCEPTED when nothing is left to do. Before: {{before}}"
"""

ANSWERS = """\
answers:
  - when: {purpose: judge}
    say: ["NO", "YES"]
  - say: "old pond"
"""

SETTINGS = "providers:\n  scripted:\n    kind: scripted\n"


def write_flow(folder: Path) -> Path:
    """The file to open."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("haiku.yaml", WORKFLOW),
        ("one_draft.yaml", CALLEE),
        ("haiku.answers.yaml", ANSWERS),
        (".loop-ls.yaml", SETTINGS),
    ):
        (folder / name).write_text(text)
    return folder / "haiku.yaml"


HELPER = """\
name: Helper
persona: You write short poems.
provider: openai
model: poet
loopEnabled: true
loopCriteria: {type: manual, value: ""}
maxIterations: 3
"""

LINES = """\
answers:
  - say: ["old pond", "a frog leaps in", "the sound of water"]
"""


def write_helper(folder: Path, revise: bool = False) -> Path:
    """An assistant that asks a person after each iteration; with `revise`, for changes too."""
    folder.mkdir(parents=True, exist_ok=True)
    wish = "assistants: {revise: true}\n" if revise else ""
    for name, text in (
        ("helper.assistant.yaml", HELPER),
        ("helper.assistant.answers.yaml", LINES),
        (".loop-ls.yaml", f"providers:\n  openai: {{kind: scripted}}\n{wish}"),
    ):
        (folder / name).write_text(text)
    return folder / "helper.assistant.yaml"
