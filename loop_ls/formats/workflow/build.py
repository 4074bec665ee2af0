"""Blocks without faults to the values that run (`formats.workflow.model`)."""

from __future__ import annotations

from typing import Any, Literal, cast

from loop_ls.formats.common.plain_value import plain
from loop_ls.formats.common.typed_mapping import Block, PlacedText
from loop_ls.formats.workflow.model import (
    Argument,
    Consensus,
    ConsensusExecution,
    Embeddings,
    Execution,
    Loop,
    Mode,
    OnError,
    OnFailure,
    Rag,
    Step,
    Target,
    Template,
)


def execution_of(block: Block) -> Execution:
    return Execution(
        provider=block.text("provider"),
        model=block.text("model"),
        providers=_targets(block),
        servers=_texts(block, "servers"),
        skills=_texts(block, "skills"),
        temperature=block.number("temperature"),
        max_tokens=block.integer("max_tokens"),
        timeout=block.number("timeout"),
        max_iterations=block.integer("max_iterations"),
        parallel=block.flag("parallel") or False,
        max_workers=block.integer("max_workers"),
        on_error=cast(OnError | None, block.text("on_error") or None),
        logging=block.text("logging"),
    )


def step_of(block: Block) -> Step:
    name = block.text("name") or ""
    return Step(
        name=name,
        mode=_mode(block, name),
        needs=tuple(word.text for word in block.words("needs")),
        condition=block.text("if"),
        execution_order=block.integer("execution_order"),
        provider=block.text("provider"),
        model=block.text("model"),
        providers=_targets(block),
        temperature=block.number("temperature"),
        max_tokens=block.integer("max_tokens"),
        timeout=block.number("timeout"),
        max_iterations=block.integer("max_iterations"),
        servers=_texts(block, "servers"),
        skills=_texts(block, "skills"),
        on_failure=_on_failure(block),
        max_retries=block.integer("max_retries"),
    )


def loop_of(block: Block, name: str) -> Loop:
    """A loop at top level, or inside the step `name`."""
    return Loop(
        name=name,
        workflow=block.text("workflow") or "",
        max_iterations=block.integer("max_iterations") or 1,
        mode="iterate" if block.text("mode") == "iterate" else "refine",
        items=block.text("items"),
        arguments=_arguments(block),
        until=block.text("until"),
        on_failure=_on_failure(block),
        max_retries=block.integer("max_retries"),
        retry_delay=block.number("retry_delay"),
        min_success_rate=block.number("min_success_rate") or 0.0,
        timeout_per_item=block.number("timeout_per_item"),
        total_timeout=block.number("total_timeout"),
        accumulate=block.text("accumulate") or None,
        parallel=block.flag("parallel") or False,
        max_workers=block.integer("max_workers"),
    )


def _mode(block: Block, name: str) -> Mode:
    template, loop = block.block("template"), block.block("loop")
    consensus, rag, embeddings = block.block("consensus"), block.block("rag"), block.block("embeddings")
    if template is not None:
        return Template(template.text("name") or "", _arguments(template))
    if loop is not None:
        return loop_of(loop, name)
    if consensus is not None:
        return _consensus(consensus)
    if rag is not None:
        return _rag(rag)
    if embeddings is not None:
        return _embeddings(embeddings)
    return block.text("run") or ""


def _consensus(block: Block) -> Consensus:
    return Consensus(
        prompt=block.text("prompt") or "",
        executions=tuple(
            ConsensusExecution(
                provider=one.text("provider") or "",
                model=one.text("model") or "",
                temperature=one.number("temperature"),
                max_tokens=one.integer("max_tokens"),
                timeout=one.number("timeout"),
            )
            for one in block.blocks("executions")
        ),
        require=cast(Literal["unanimous", "2/3", "majority"], block.text("require")),
        timeout=block.number("timeout"),
    )


def _rag(block: Block) -> Rag:
    return Rag(
        query=block.text("query") or "",
        server=block.text("server") or None,
        strategies=_texts(block, "strategies") or (),
        top_k=block.integer("top_k"),
        fusion=block.text("fusion") or None,
        expand_query=block.flag("expand_query") or False,
        output_format=cast(Literal["json", "compact", "text"], block.text("output_format") or "json"),
    )


def _embeddings(block: Block) -> Embeddings:
    field = block.get("input")
    texts: Any = field.value if field is not None else None
    given = (
        (texts,) if isinstance(texts, str) else tuple(word.text for word in texts or () if isinstance(word, PlacedText))
    )
    return Embeddings(
        input=given or None,
        input_file=block.text("input_file") or None,
        provider=block.text("provider") or None,
        model=block.text("model") or None,
        chunk_strategy=cast(Literal["sentence", "paragraph", "fixed"], block.text("chunk_strategy") or "sentence"),
        max_chunk_size=_or(block.integer("max_chunk_size"), 512),
        overlap=_or(block.integer("overlap"), 0),
        dimensions=block.integer("dimensions"),
        encoding_format=cast(Literal["float", "base64"], block.text("encoding_format") or "float"),
        include_metadata=block.flag("include_metadata") is not False,
        output_file=block.text("output_file") or None,
    )


def _arguments(block: Block) -> dict[str, Argument] | None:
    """Scalars keep their written form; lists and mappings become plain values."""
    field = block.get("with")
    if field is None or field.value is None:
        return None
    return {pair.name: plain(pair.node) if pair.text is None else pair.text for pair in block.pairs("with")}


def _targets(block: Block) -> tuple[Target, ...]:
    return tuple(Target(one.text("provider") or "", one.text("model") or "") for one in block.blocks("providers"))


def _texts(block: Block, name: str) -> tuple[str, ...] | None:
    field = block.get(name)
    return None if field is None or field.value is None else tuple(word.text for word in block.words(name))


def _on_failure(block: Block) -> OnFailure | None:
    return cast(OnFailure | None, block.text("on_failure") or None)


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
