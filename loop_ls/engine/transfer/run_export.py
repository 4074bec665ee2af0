"""One run as one JSON object, to keep it, to show it elsewhere, to replay it there: out of a journal and
into one. What looks like a key is masked on its way out; nothing that comes in is ever run by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from pydantic import ValidationError

from loop_ls.contract.facts.kinds import Cancelled, readable
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.redaction import redact
from loop_ls.engine.events import Event, RunState
from loop_ls.engine.journal import Journal
from loop_ls.engine.journal.serialization import plain, plain_text
from loop_ls.text.hash import hash_of
from loop_ls.text.json_value import JsonObject, as_object

KIND, VERSION = "loop-ls run", 1
PAGE = 1000
_NOTHING = (None, None, None)


def exported(journal: Journal, run_id: str) -> JsonObject:
    """`{kind, version, runId, facts: [{at, kind, body}], answers: {key: answer}, texts: {hash: text}}`.
    Reads the journal: not for the loop's own thread."""
    facts: list[Event] = []
    more = True
    while more:
        page, more = journal.facts_now(run_id, facts[-1].seq if facts else 0, PAGE)
        facts += page
    answered, _ = journal.storage.keys(run_id)
    names = map(str, as_object(facts[0].body.get("files")).values()) if facts else ()
    found = _masked(
        {
            "kind": KIND,
            "version": VERSION,
            "runId": run_id,
            "facts": [{"at": event.at, "kind": event.kind, "body": event.body} for event in facts],
            "answers": {key: journal.recall(run_id, key) for key in sorted(answered)},
        }
    )
    # Texts are named by their hash, which a mask would break: one with a key in it stays at home.
    texts = {name: journal.storage.text(name) for name in names}
    kept = {name: text for name, text in texts.items() if redact(text) == text}
    return {**cast("JsonObject", found), "texts": kept}


def _masked(value: object) -> object:
    match value:
        case str():
            return redact(value)
        case dict():
            return {key: _masked(item) for key, item in value.items()}
        case list():
            return [_masked(item) for item in value]
        case _:
            return value


class ImportedRecord:
    """A run that comes from elsewhere, read and found whole. Raises `Refused` while it is made."""

    def __init__(self, document: object, run_id: str) -> None:
        if not isinstance(document, Mapping) or document.get("kind") != KIND:
            raise _refused("it is not an exported run")
        if document.get("version") != VERSION:
            raise _refused(f"it has version {document.get('version')}, but this version of loop-ls supports {VERSION}")
        self.run_id = run_id
        self.facts = _facts(document.get("facts"))
        self.answers = _answers(document.get("answers"))
        self.texts = _texts(document.get("texts"))
        self.state = self._folded()
        self._close()

    def _folded(self) -> RunState:
        """Everybody who lists runs reads what came in: what cannot be shown must not get in."""
        from loop_ls.engine.transfer.import_schema import ImportedStart

        state = RunState()
        for seq, (at, kind, body) in enumerate(self.facts, 1):
            event = Event(self.run_id, seq, at, kind, body)
            try:
                if seq == 1:
                    ImportedStart.model_validate(body)
                readable(kind, body)
                event.wire()
                state = state.after(event)
            except ValidationError as problem:
                field = ".".join(map(str, problem.errors()[0]["loc"]))
                raise _refused(f"`{field}` of event {seq} (`{kind}`) cannot be read") from None
            except (AttributeError, KeyError, TypeError, ArithmeticError, ValueError, OSError):
                raise _refused(f"event {seq} (`{kind}`) cannot be read") from None
        return state

    def _close(self) -> None:
        """A run that has not ended ends here: nothing goes on that came by a file."""
        if not self.state.ended:
            at = self.facts[-1][0]
            kind, body = Cancelled(
                cause="shutdown", total_iterations=self.state.iteration, last_output=self.state.last_output
            ).fact()
            self.facts.append((at, kind, body))
            self.state = self.state.after(Event(self.run_id, len(self.facts), at, kind, body))


def _facts(given: object) -> list[tuple[float, str, JsonObject]]:
    if not isinstance(given, list) or not given:
        raise _refused("it has no events")
    found = []
    for number, each in enumerate(given, 1):
        kind, body, at = (each.get(name) for name in ("kind", "body", "at")) if isinstance(each, Mapping) else _NOTHING
        if not (
            isinstance(body, dict)
            and isinstance(at, int | float)
            and not isinstance(at, bool)
            and isinstance(kind, str)
        ):
            raise _refused(f"its event {number} cannot be read")
        found.append((float(at), kind, plain(body)))
    if found[0][1] != "run_started" or not {"format", "name", "path"} <= found[0][2].keys():
        raise _refused("its first event is not the start of a run")
    if sum(kind == "run_started" for _, kind, _ in found) > 1:  # the last one would say whose it is, and from where
        raise _refused("it has more than one start")
    found[0][2]["imported"] = True
    return found


def _answers(given: object) -> JsonObject:
    if not isinstance(given, Mapping) or not all(isinstance(value, Mapping) for value in given.values()):
        raise _refused("its answers cannot be read")
    return {str(key): plain(dict(value)) for key, value in given.items()}


def _texts(given: object) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise _refused("its texts cannot be read")
    for name, text in given.items():
        if not isinstance(text, str) or plain_text(text) != text or hash_of(text) != name:
            raise _refused(f"its text {name} was changed")
    return dict(given)


def _refused(told: str) -> Refused:
    return Refused("bad_argument", f"The run cannot be imported: {told}.", "Create one with `loop-ls runs export ID`.")


def same_run(ours: RunState, theirs: RunState) -> bool:
    """Whether both are one run: what happened first and last is the same."""
    return (ours.started_at, ours.ended_at, ours.name) == (theirs.started_at, theirs.ended_at, theirs.name)
