"""A workflow of three steps that fails until rounds have mended it, for every editor and the command line."""

from __future__ import annotations

from pathlib import Path

BROKEN = """\
# A report in three steps.
$schema: "workflow/v2.0"
name: report
version: 1.0.0
execution: {provider: scripted, model: writer}   # one model for all

steps:
  # the first words
  - name: draft
    run: "Write about the sea."

  - name: review   # refused without a tone
    needs: [draft]
    run: Review {{draft}}
    on_failure: halt

  # the last step
  - name: publish
    needs: [review]
    run: 'Publish {{review}}'
"""

#: Two changes, in two places: one undo takes back both.
MENDED = BROKEN.replace("run: Review {{draft}}", "run: Review {{draft}} kindly").replace(
    "    run: 'Publish {{review}}'\n", "    run: 'Publish {{review}}'\n    max_retries: 2\n"
)

ANSWERS = """\
delay: 0.5
price: {input: 30, output: 150}
answers:
  - when: {purpose: planner}
    say: |
      {"rationale": "The review is refused because nobody said in what tone it is wanted.",
       "ops": [{"op": "set_instructions", "target": "review", "run": "Review {{draft}} kindly", "reason": "a tone"},
               {"op": "set_retries", "target": "publish", "max_retries": 2, "reason": "it is the last step"}]}
  - when: {step: review, contains: kindly}
    say: A good review.
  - when: {step: review}
    say: {fail: bad_answer}
  - say: fine
"""

SETTINGS = "# of this project\nproviders:\n  scripted: {kind: scripted}   # no key\n"


def write_rounds(folder: Path) -> Path:
    """The file to open."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("report.yaml", BROKEN), ("report.answers.yaml", ANSWERS), (".loop-ls.yaml", SETTINGS)):
        (folder / name).write_text(text)
    return folder / "report.yaml"
