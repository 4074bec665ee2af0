"""What a search is about, as plain values: a store, a way to look into it, a question, and what was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from loop_ls.text.json_value import Json, from_fields


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to look into a store. Without a `column` the store decides."""

    name: str = "default"
    column: str = ""
    weight: float = 1.0
    threshold: float = 0.0


@dataclass(frozen=True, slots=True)
class Store:
    """Where to search. `server` (with `tool`) or `database`, a variable that holds its address, is set.
    `provider` and `model` make the vector of a question; without them the store gets its text."""

    name: str
    server: str = ""
    tool: str = ""
    database: str = ""
    table: str = ""
    id_column: str = "id"
    text_columns: tuple[str, ...] = ()
    metadata_columns: tuple[str, ...] = ()
    provider: str = ""
    model: str = ""
    dimensions: int | None = None
    strategies: tuple[Strategy, ...] = (Strategy(),)

    @property
    def written(self) -> str:
        """The address of a database as it may be shown: the variable that holds it."""
        return f"${{{self.database}}}"


@dataclass(frozen=True, slots=True)
class Query:
    """One question in one way."""

    text: str
    vector: list[float] | None
    top_k: int
    strategy: Strategy = Strategy()


@dataclass(frozen=True, slots=True)
class Hit:
    """One document that was found; a higher `score` is nearer."""

    id: str
    score: float
    text: Mapping[str, Json] = field(default_factory=dict)
    metadata: Mapping[str, Json] = field(default_factory=dict)

    def wire(self) -> dict[str, Json]:
        return {"id": self.id, "score": self.score, "text": dict(self.text), "metadata": dict(self.metadata)}

    @property
    def key(self) -> str:
        """What makes it the same document in another list."""
        return self.id or repr(sorted(self.text.items(), key=str))


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of one question in one way, the best first."""

    strategy: Strategy
    hits: tuple[Hit, ...]

    @staticmethod
    def read(strategy: Strategy, written: Iterable[Mapping[str, Json]]) -> Found:
        hits = (from_fields(Hit, each) for each in written)
        kept = [hit for hit in hits if hit.score >= strategy.threshold or not strategy.threshold]
        return Found(strategy, tuple(sorted(kept, key=lambda hit: -hit.score)))


@dataclass(frozen=True, slots=True)
class Result:
    """A document in the final list, with its score by each strategy that found it."""

    hit: Hit
    score: float
    scores: Mapping[str, float]

    def wire(self) -> dict[str, Json]:
        return {
            "id": self.hit.id,
            "text": dict(self.hit.text),
            "metadata": dict(self.hit.metadata),
            "combined_score": round(self.score, 6),
            "component_scores": {name: round(score, 6) for name, score in self.scores.items()},
            "source": next(iter(self.scores), ""),
        }
