"""A `rag` step: one question to a store, its results as text and as parts."""

from __future__ import annotations

import json

from loop_ls.contract.facts.kinds import Warned
from loop_ls.engine.bodies.context import Finished
from loop_ls.engine.bodies.steps import Try
from loop_ls.engine.context.interpolation import check_known, interpolate
from loop_ls.engine.core.ports import EmbedRequest, Failure
from loop_ls.engine.model_calls.embed import embed
from loop_ls.engine.retrieval import Found, Query, Searches, Store, as_text, expanded, fused, read_store, searches
from loop_ls.engine.retrieval.values import Result
from loop_ls.formats.workflow.mode_keys import RAG
from loop_ls.formats.workflow.model import Rag
from loop_ls.text.json_value import JsonObject, int_field

TOP_K = 5
FUSION = "rrf"


async def run_rag(attempt: Try, mode: Rag) -> Finished:
    """Raises `Failure`: an unknown name in the question fails the step before any search (WB_014)."""
    step, frame, recorder, inner = attempt.step, attempt.frame, attempt.frame.recorder, attempt.inner
    rendered = interpolate(mode.query, attempt.scope)
    check_known(RAG.keys["query"], step.name, rendered.unknown)
    if not rendered.text.strip():
        raise Failure("empty", f"`query` of `{step.name}` is empty", "set what to search for")
    await recorder.record(inner.part("started"), [attempt.started()])
    store = _store(attempt, mode)
    questions = await _questions(attempt, mode, rendered.text)
    lists = await _searched(attempt, mode, store, questions)
    method = mode.fusion or str(frame.context.rag.get("fusion") or FUSION)
    results = fused(lists, method)[: _top_k(attempt, mode)]
    answer = _answer(rendered.text, questions[1:], results, method)
    output = _formatted(mode, rendered.text, answer, results)
    await recorder.record(inner.part("completed"), [attempt.completed(output)])
    parts = {"results": _compact(answer["results"]), "total_results": str(len(results)), "fusion_method": method}
    return Finished(step.name, output, parts={f"{step.name}.{name}": value for name, value in parts.items()})


class _Every:
    """In a run that only plays every server is there."""

    def __contains__(self, name: object) -> bool:
        return True


def _store(attempt: Try, mode: Rag) -> Store:
    """The store that the step names, else the configured one (WB_122)."""
    context = attempt.frame.context
    known = context.sessions.known if context.sessions else _Every()
    return read_store(context.rag, known, mode.server, attempt.step.name)


async def _questions(attempt: Try, mode: Rag, query: str) -> list[str]:
    """The question, and what else it may be called where that is wanted and configured."""
    rag, recorder = attempt.frame.context.rag, attempt.frame.recorder
    if not mode.expand_query:
        return [query]
    if not (rag.get("synonyms") or rag.get("acronyms")):
        told = (
            f"`{attempt.step.name}` expands its query, but `synonyms` and `acronyms` are not set under `rag` "
            "in the settings"
        )
        fact = Warned(code="no_expansion", message=told).fact(attempt.place)
        await recorder.record(attempt.inner.part("expansion"), [fact])
        return [query]
    files = attempt.frame.context.files

    async def read() -> list[str]:
        return expanded(query, rag, lambda path: files.read(path, "", "word list"))

    return await recorder.call(attempt.inner.part("expand"), read)


async def _searched(attempt: Try, mode: Rag, store: Store, questions: list[str]) -> list[Found]:
    """One list of results for each question and strategy. What one search found is recorded at once."""
    wanted = searches(store, mode.strategies, attempt.step.name)
    vectors = await _vectors(attempt, store, questions)
    execution = attempt.frame.workflow.execution
    limit = execution.timeout if attempt.step.timeout is None else attempt.step.timeout
    top_k, found = _top_k(attempt, mode), list[Found]()
    context = attempt.frame.context
    does = Searches(context.sessions, context.environment, limit)
    for number, question in enumerate(questions, 1):
        for strategy in wanted:
            query = Query(question, vectors[number - 1], top_k, strategy)

            async def search(query: Query = query) -> list[JsonObject]:
                return [hit.wire() for hit in await does.search(store, query)]

            key = attempt.inner.part(f"search{number}.{strategy.name}")
            hits = await attempt.frame.recorder.call(key, search)
            found.append(Found.read(strategy, hits))
    return found


async def _vectors(attempt: Try, store: Store, questions: list[str]) -> list[list[float] | None]:
    """Vectors of the questions, where the store is searched with some."""
    if not store.provider:
        return [None for _ in questions]
    context, inner = attempt.frame.context, attempt.inner
    request = EmbedRequest(
        store.provider,
        tuple(questions),
        model=store.model,
        dimensions=store.dimensions,
        purpose="rag",
        place=attempt.place.key,
        attempts=1 if attempt.retried else None,
    )
    made = await embed(request, attempt.place, inner.part("embed"), context.models, attempt.frame.recorder)
    return [vector if isinstance(vector, list) else None for vector in made.vectors]


def _top_k(attempt: Try, mode: Rag) -> int:
    """0 means the same as nothing."""
    return mode.top_k or int_field(attempt.frame.context.rag, "topK") or TOP_K


def _answer(query: str, more: list[str], results: list[Result], method: str) -> JsonObject:
    answer: JsonObject = {"query": query, **({"expanded_query": more} if more else {})}
    listed = [result.wire() for result in results]
    return answer | {"results": listed, "fusion": method, "total_results": len(results)}


def _formatted(mode: Rag, query: str, answer: JsonObject, results: list[Result]) -> str:
    match mode.output_format:
        case "json":
            return json.dumps(answer, ensure_ascii=False, indent=2)
        case "compact":
            return _compact(answer)
        case "text":
            return as_text(query, results)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
