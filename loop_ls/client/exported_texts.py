"""The texts of an exported enhance loop: those that its first round ran, and the hashes of those it left behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from loop_ls.contract.endings import ENDED
from loop_ls.contract.run_view.rounds import listed
from loop_ls.text.hash import text_hash
from loop_ls.text.json_value import Json, JsonObject, as_object


class FirstText(NamedTuple):
    """Of one file. `left` is the hash of the last text that the loop wrote there, None where it wrote none."""

    path: Path
    text: str
    left: str | None

    def is_known(self, text: str) -> bool:
        """Whether the loop left this text there, or began with it."""
        return text == self.text or text_hash(text) == self.left


class FirstTexts(NamedTuple):
    """The workflow first, then the further files that the loop was allowed to change; `ended`: it is over;
    `imported`: it ran elsewhere."""

    files: tuple[FirstText, ...]
    ended: bool
    imported: bool

    def refusal(self, now: Mapping[FirstText, str | None]) -> str:
        """Why these texts are not restored over those that the files hold `now`; empty where nothing is in the way."""
        if self.imported:
            return "This run was imported: its files are those of another folder."
        if not self.ended:
            return "The loop is still running: stop it first."
        changed = [one for one, text in now.items() if text is not None and not one.is_known(text)]
        return f"{paths(changed)} changed after the loop, so nothing was restored." if changed else ""


def paths(files: Sequence[FirstText]) -> str:
    *first, last = [str(one.path) for one in files]
    return f"{', '.join(first)} and {last} were" if first else f"{last} was"


def first_texts(run: Mapping[str, Json]) -> FirstTexts | None:
    """None where the record does not hold one of the texts."""
    facts = listed(run.get("facts") or run.get("events"))
    body = next((_body(fact) for fact in facts if fact.get("kind") == "run_started"), {})
    primary, names = str(body.get("path")), as_object(body.get("files"))
    others = as_object(body.get("plan")).get("files")
    paths = [primary, *map(str, others if isinstance(others, list) else [])]
    texts = [as_object(run.get("texts")).get(str(names.get(path))) for path in paths]
    left = dict(_left(facts, primary))
    root = Path(str(body.get("root") or ""))
    files = [
        FirstText(root / path, text, left.get(path))
        for path, text in zip(paths, texts, strict=True)
        if isinstance(text, str)
    ]
    if len(files) < len(paths):
        return None
    ended = any(fact.get("kind") in ENDED for fact in facts)
    return FirstTexts(tuple(files), ended, bool(body.get("imported")))


def _left(facts: list[JsonObject], primary: str) -> Iterator[tuple[str, str]]:
    """The hash of each file after each edit that is there; the last one of a file counts."""
    sent: dict[str, list[JsonObject]] = {}
    for fact in facts:
        said = _body(fact)
        plan = str(said.get("planId"))
        if fact.get("kind") == "edit_sent":
            sent[plan] = listed(said.get("files"))
        elif fact.get("kind") == "edit_acknowledged":
            alone: list[JsonObject] = [{"path": primary, "textSha256": said.get("textSha256")}]
            yield from ((str(one.get("path")), str(one.get("textSha256"))) for one in sent.get(plan) or alone)


def _body(fact: JsonObject) -> Mapping[str, Json]:
    """What a fact says, in a record of today or of before."""
    return as_object(fact.get("body")) or fact
