"""The values of an assistant file, as the engine runs them. See `formats.assistant.read`."""

from __future__ import annotations

from loop_ls.formats.assistant.keys import CAP_ONLY, DEFAULT_ITERATIONS
from loop_ls.text.record import equal_record


@equal_record
class Criteria:
    """`type` may be a word that nobody knows: it never ends the loop."""

    type: str = CAP_ONLY
    value: str = ""
    argv: tuple[str, ...] | None = None
    timeout_seconds: float = 60.0
    cwd: str | None = None
    include_output: bool = False
    last_line: bool = False
    in_a_row: int = 1


@equal_record
class Retry:
    attempts: int = 0
    backoff_seconds: float = 0.0


@equal_record
class Assistant:
    """`criteria` is None where the file has none: the loop runs to its last iteration."""

    id: str
    name: str
    persona: str
    description: str = ""
    purpose: str | None = None
    model: str | None = None
    provider: str = "claude-code"
    permission_mode: str = "default"
    allowed_tools: tuple[str, ...] = ()
    memory_enabled: bool = False
    max_budget_usd: float | None = None
    loop_enabled: bool = False
    criteria: Criteria | None = None
    max_iterations: int = DEFAULT_ITERATIONS
    approval_timeout_seconds: float | None = None
    max_total_budget_usd: float | None = None
    max_duration_seconds: float | None = None
    stall_after: int | None = None
    retry: Retry | None = None
    isolate: str | None = None
    skills: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    memory: str | None = None
