"""Several lists of hits become one: by ranks, or by scores."""

from __future__ import annotations

from collections.abc import Iterable

from loop_ls.engine.retrieval.values import Found, Hit, Result

#: The usual constant of reciprocal rank fusion: how much less a later rank counts.
RANKS = 60


def fused(lists: Iterable[Found], method: str) -> list[Result]:
    """The documents of all lists, each once, the best first; equal ones in the order they were found.
    A method that nobody knows counts as `weighted`."""
    every = list(lists)
    hits: dict[str, Hit] = {}
    scores: dict[str, dict[str, float]] = {}
    gained: dict[str, list[tuple[float, float]]] = {}  # weight, and what counts under it
    for found in every:
        weight = found.strategy.weight
        for rank, hit in enumerate(found.hits, 1):
            hits.setdefault(hit.key, hit)
            own = scores.setdefault(hit.key, {})
            own[found.strategy.name] = max(hit.score, own.get(found.strategy.name, hit.score))
            counts = 1 / (RANKS + rank) if method == "rrf" else hit.score
            gained.setdefault(hit.key, []).append((weight, counts))
    found_ = [Result(hits[key], _score(gained[key], method), scores[key]) for key in hits]
    return sorted(found_, key=lambda result: -result.score)


def _score(gained: list[tuple[float, float]], method: str) -> float:
    weighted = [weight * counts for weight, counts in gained]
    match method.lower():
        case "max":
            return max(weighted)
        case "avg" | "average":
            return sum(weighted) / len(weighted)
        case _:
            return sum(weighted)


def as_text(query: str, results: Iterable[Result]) -> str:
    """Results for people and models that read no JSON."""
    every = list(results)
    lines = [f"Query: {query}", f"Results: {len(every)}"]
    for number, result in enumerate(every, 1):
        lines += ["", f"--- Result {number} (score: {result.score:.4f}) ---", f"ID: {result.hit.id}"]
        lines += [f"{name}: {value}" for name, value in result.hit.text.items()]
    return "\n".join(lines)
