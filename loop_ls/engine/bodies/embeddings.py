"""An `embeddings` step: texts or a file, cut into chunks, a vector for each.

The result is JSON; with `output_file` it goes there, and the step says so in one line.
"""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import PurePosixPath

from loop_ls.contract.facts.payload import Fact
from loop_ls.engine.bodies.chunks import Chunk, chunks
from loop_ls.engine.bodies.context import Finished
from loop_ls.engine.bodies.steps import Try
from loop_ls.engine.context.interpolation import interpolate
from loop_ls.engine.context.model_targets import embedding_target
from loop_ls.engine.core.ports import EmbedRequest, Failure
from loop_ls.engine.model_calls.embed import Embedded, embed
from loop_ls.formats.workflow.model import Embeddings
from loop_ls.text.json_value import JsonObject


async def run_embeddings(attempt: Try, mode: Embeddings) -> Finished:
    """Raises `Failure`."""
    step, frame, recorder, inner = attempt.step, attempt.frame, attempt.frame.recorder, attempt.inner
    text, warnings = await _text(attempt, mode)
    cut = chunks(text, mode.chunk_strategy, mode.max_chunk_size, mode.overlap)
    if not cut:
        raise Failure("empty", f"`{step.name}` has no text to embed", "set `input` or `input_file`")
    target = embedding_target(mode, step, frame.workflow.execution)
    if target is None:
        raise Failure("provider_unavailable", f"`{step.name}` has no embedding provider", "add `provider`")
    execution = frame.workflow.execution
    request = EmbedRequest(
        target.provider,
        tuple(chunk.text for chunk in cut),
        model=mode.model or step.model or "",
        otherwise=target.model,
        dimensions=mode.dimensions,
        encoding=mode.encoding_format,
        timeout=execution.timeout if step.timeout is None else step.timeout,
        place=attempt.place.key,
        attempts=1 if attempt.retried else None,
    )
    before = [attempt.started(), *warnings]
    found = await embed(request, attempt.place, inner.part("embed"), frame.context.models, recorder, before)
    output = json.dumps(_described(mode, cut, found), ensure_ascii=False)
    if mode.output_file:
        output = await _written(attempt, mode.output_file, output, found)
    await recorder.record(inner.part("completed"), [attempt.completed(output)])
    return Finished(step.name, output)


async def _text(attempt: Try, mode: Embeddings) -> tuple[str, list[Fact]]:
    """The text, the file's before the one in place; unknown names stay as they are written (WB_014)."""
    name, first = f"`{attempt.step.name}`", attempt.attempt == 1
    if mode.input_file:
        path = interpolate(mode.input_file, attempt.scope)
        warnings = attempt.unknown(path.unknown, name) if first else []

        async def read() -> str:
            return await asyncio.to_thread(
                attempt.frame.context.files.read, path.text.strip(), _folder(attempt), _INPUT
            )

        return await attempt.frame.recorder.call(attempt.inner.part("input"), read), warnings
    rendered = [interpolate(text, attempt.scope) for text in mode.input or ()]
    unknown = list(dict.fromkeys(each for one in rendered for each in one.unknown))
    return "\n\n".join(one.text for one in rendered), attempt.unknown(unknown, name) if first else []


async def _written(attempt: Try, written: str, output: str, found: Embedded) -> str:
    path = interpolate(written, attempt.scope)
    if path.unknown:
        facts = attempt.unknown(path.unknown, f"`output_file` of `{attempt.step.name}`")
        await attempt.frame.recorder.record(attempt.inner.part("output_file"), facts)

    async def write() -> str:
        files = attempt.frame.context.files
        place = path.text.strip(), _folder(attempt)
        return await asyncio.to_thread(files.write, *place, output + "\n", "output file", _VECTORS)

    shown = await attempt.frame.recorder.call(attempt.inner.part("write"), write)
    count = len(found.vectors)
    return f"{count} vector{'' if count == 1 else 's'} of {found.provider}/{found.model} written to {shown}"


_INPUT = "input file"


#: How a file of such a step begins: only such a file is replaced.
_VECTORS = re.compile(r'\{"provider": "(?:[^"\\]|\\.)*", "model": "(?:[^"\\]|\\.)*", "dimensions": (?:\d+|null), "')


def _folder(attempt: Try) -> str:
    return str(PurePosixPath(attempt.frame.place.file).parent)


def _described(mode: Embeddings, cut: list[Chunk], found: Embedded) -> JsonObject:
    first = found.vectors[0]
    dimensions = len(first) if isinstance(first, list) else mode.dimensions
    whole: JsonObject = {"provider": found.provider, "model": found.model, "dimensions": dimensions}
    if not mode.include_metadata:
        return whole | {"embeddings": [{"vector": vector} for vector in found.vectors]}
    each = [
        {"vector": vector, "chunk": _chunk(number, chunk)}
        for number, (vector, chunk) in enumerate(zip(found.vectors, cut, strict=True))
    ]
    return whole | {"total_chunks": len(cut), "embeddings": each}


def _chunk(number: int, chunk: Chunk) -> JsonObject:
    return {
        "text": chunk.text,
        "index": number,
        "start_pos": chunk.start,
        "end_pos": chunk.end,
        "token_count": chunk.tokens,
    }
