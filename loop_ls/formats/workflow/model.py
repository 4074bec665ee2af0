"""The values of a workflow file (`workflow/v2.0`), as the engine runs them.

Plain values without places: tools that mark text use blocks (`formats.common.typed_mapping`) instead. Durations
are seconds. Absent values are None, so that inheritance can be told from a
written default. Reading a text into these values is `formats.read_workflow`.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from loop_ls.formats.common.target import Target as Target
from loop_ls.text.record import equal_record

#: An argument as written in `with`: text is interpolated, everything else becomes compact JSON.
Argument = str | bool | int | float | None | list["Argument"] | dict[str, "Argument"]

OnFailure = Literal["halt", "continue", "retry"]
OnError = Literal["cancel_all", "complete_running", "continue", "halt"]


@equal_record
class Execution:
    """Defaults for every step."""

    provider: str | None = None
    model: str | None = None
    providers: tuple[Target, ...] = ()
    servers: tuple[str, ...] | None = None
    skills: tuple[str, ...] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float | None = None
    max_iterations: int | None = None
    parallel: bool = False
    max_workers: int | None = None
    on_error: OnError | None = None
    logging: str | None = None


@equal_record
class Template:
    """A single call of another workflow."""

    name: str
    arguments: dict[str, Argument] | None = None


@equal_record
class ConsensusExecution:
    provider: str
    model: str
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float | None = None


@equal_record
class Consensus:
    """Several models, one question."""

    prompt: str
    executions: tuple[ConsensusExecution, ...]
    require: Literal["unanimous", "2/3", "majority"]
    timeout: float | None = None


@equal_record
class Rag:
    """A search in a vector store."""

    query: str
    server: str | None = None
    strategies: tuple[str, ...] = ()
    top_k: int | None = None
    fusion: str | None = None
    expand_query: bool = False
    output_format: Literal["json", "compact", "text"] = "json"


@equal_record
class Embeddings:
    """Vectors for texts."""

    input: tuple[str, ...] | None = None
    input_file: str | None = None
    provider: str | None = None
    model: str | None = None
    chunk_strategy: Literal["sentence", "paragraph", "fixed"] = "sentence"
    max_chunk_size: int = 512
    overlap: int = 0
    dimensions: int | None = None
    encoding_format: Literal["float", "base64"] = "float"
    include_metadata: bool = True
    output_file: str | None = None


@equal_record
class Loop:
    """Repeated calls of another workflow. A step-level loop takes the name of its step."""

    name: str
    workflow: str
    max_iterations: int
    mode: Literal["refine", "iterate"] = "refine"
    items: str | None = None
    arguments: dict[str, Argument] | None = None
    until: str | None = None
    on_failure: OnFailure | None = None
    max_retries: int | None = None
    retry_delay: float | None = None
    min_success_rate: float = 0.0
    timeout_per_item: float | None = None
    total_timeout: float | None = None
    accumulate: str | None = None
    parallel: bool = False
    max_workers: int | None = None


Mode = str | Template | Consensus | Rag | Embeddings | Loop


@equal_record
class Step:
    """One step. `mode` is the text of `run`, or the value of the one mode key it has."""

    name: str
    mode: Mode
    needs: tuple[str, ...] = ()
    condition: str | None = None
    execution_order: int | None = None
    provider: str | None = None
    model: str | None = None
    providers: tuple[Target, ...] = ()
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float | None = None
    max_iterations: int | None = None
    servers: tuple[str, ...] | None = None
    skills: tuple[str, ...] | None = None
    on_failure: OnFailure | None = None
    max_retries: int | None = None


Element = Step | Loop


@equal_record
class Workflow:
    """A whole file. `elements` are steps and top-level loops in the order of the file (repeated
    `steps` and `loops` blocks joined, D15), so an element's index is its document position."""

    name: str
    version: str
    description: str = ""
    execution: Execution = field(default_factory=Execution)
    env: dict[str, str] = field(default_factory=dict)
    elements: tuple[Element, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(e for e in self.elements if isinstance(e, Step))

    @property
    def loops(self) -> tuple[Loop, ...]:
        return tuple(e for e in self.elements if isinstance(e, Loop))
