"""Small workflow files that the server's tests open."""

from __future__ import annotations

HEAD = """\
$schema: workflow/v2.0
name: {name}
version: 1.0.0
description: A flow of the tests
execution: {{provider: ollama, model: llama3.2}}
"""

#: Line 6 names the loop, line 10 has its condition.
LOOP = (
    HEAD.format(name="flow")
    + """\
loops:
  - name: refine
    workflow: draft
    with: {topic: "{{input}}", before: "{{loop.last.output}}"}
    max_iterations: 5
    until: The draft names three risks
"""
)
NAME_LINE, UNTIL_LINE = 6, 10

DRAFT = (
    HEAD.format(name="draft")
    + """\
steps:
  - name: write
    run: "Write about {{topic}}. Name three risks. Improve on: {{before}}"
"""
)

#: `until` contains the text that it judges: WF702.
INTERPOLATED = LOOP.replace("The draft names three risks", '"The output {{loop.output}} names three risks"')
