"""Keys that are accepted and do nothing: whoever writes one is told so."""

from __future__ import annotations

import re
from pathlib import Path

from tests.wired.commands import Commands
from tests.wired.declared import keys

IDLE = {name: key for name, key in keys().items() if key.idle}
WORKFLOW = """\
$schema: workflow/v2.0
name: idle
version: 1.0.0
execution: {provider: ollama, model: m, no_color: true}
steps:
  - {name: a, run: x, no_color: true, logging: debug, input: y}
  - name: b
    consensus:
      prompt: q
      require: majority
      allow_partial: true
      executions: [{provider: ollama, model: m}, {provider: ollama, model: n}]
  - {name: c, rag: {query: q, server: s, servers: [s], query_vector: [1], query_variants: 2}}
  - {name: d, embeddings: {input: x, output_format: csv}}
"""


def test_a_key_without_effect_is_said_to_have_none(tmp_path: Path) -> None:
    (tmp_path / "idle.yaml").write_text(WORKFLOW)
    said = Commands(tmp_path)("check", "--enable", "pedantic", "--format", "json", ".").out
    told = set(re.findall(r"`(\w+)` has no effect (?:on a|in) `?(\w+)", said))
    wanted = {tuple(reversed(name.removeprefix("workflow: ").split("."))) for name in IDLE if name.startswith("work")}
    assert told == wanted
    assert len(wanted) > 5
