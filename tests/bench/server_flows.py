"""Long workflow files for the latency bench: prompts, needs and loops in the proportions of real ones."""

from __future__ import annotations

HEAD = """\
$schema: workflow/v2.0
name: {name}
version: 1.0.0
description: A long flow
execution:
  provider: ollama
  model: llama3.2
  temperature: 0.3
env:
  TONE: calm
steps:
"""
STEP = """\
  - name: step_{n}
    needs: [{needs}]
    temperature: 0.{digit}
    timeout: 90s
    run: |
      Read what came before and write the next part in a {{{{env.TONE}}}} tone.

      Subject: {{{{input}}}}
      Before: {{{{{before}}}}}

      Keep it short, keep every number, and end with one line that says DONE.
      Nothing that was decided above may be changed without a reason.
"""
LOOP = """\
  - name: loop_{n}
    workflow: {callee}
    with:
      draft: "{{{{step_{n}}}}}"
      before: "{{{{loop.last.output}}}}"
    max_iterations: 4
    until: The draft says DONE
"""
STEP_LINES, LOOP_LINES = STEP.count("\n"), LOOP.count("\n")


def flow(lines: int, name: str = "long_flow", callee: str = "callee") -> str:
    """About so many lines: one loop for ten steps."""
    loops = max(1, lines // (10 * STEP_LINES + LOOP_LINES))
    steps = max(2, (lines - HEAD.count("\n") - 1 - loops * LOOP_LINES) // STEP_LINES)
    parts = [HEAD.format(name=name)]
    looped = [n * ((steps - 1) // loops) for n in range(loops)]
    for n in range(steps):
        before = f"loop_{n - 1}" if n - 1 in looped else f"step_{n - 1}" if n else "input"
        needs = ", ".join(
            [*([before] if before.startswith("loop_") else []), *(f"step_{k}" for k in (n - 1, n - 7) if k >= 0)]
        )
        parts.append(STEP.format(n=n, needs=needs, digit=n % 9 + 1, before=before))
    parts.append("loops:\n")
    parts += [LOOP.format(n=n, callee=callee) for n in looped]
    return "".join(parts)


def callee(name: str = "callee") -> str:
    write = "  - name: write\n    run: In a {{env.TONE}} tone, improve {{draft}} after {{before}}. Say DONE.\n"
    return HEAD.format(name=name) + write


def place(text: str, wanted: str, middle: float = 0.5) -> tuple[int, int]:
    """Line and column of the end of a line that starts (without blanks) with `wanted`, near the middle."""
    lines = text.splitlines()
    start = int(len(lines) * middle)
    for line in [*range(start, len(lines)), *range(start)]:
        if lines[line].strip().startswith(wanted):
            return line, len(lines[line])
    raise LookupError(wanted)
