"""A record that came from elsewhere says what it likes in every field: no terminal obeys it, and no line is forged."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from loop_ls.text.json_value import Json
from tests.cli.conftest import CliProject

HOSTILE = "\x1b]0;title\x07\x1b[31mred\x9b32m\u202egnp.\u2066\r\x08\x7f"
#: What others look up by; a record with other values is another record, or none.
KEPT = frozenset(
    {"kind", "place", "at", "format", "path", "uri", "root", "origin", "status", "type", "purpose", "verdict"}
)


def hostile(value: Json, name: str = "") -> Json:
    match value:
        case dict():
            return {key: hostile(each, key) for key, each in value.items()}
        case list():
            return [hostile(each, name) for each in value]
        case str() if value and name not in KEPT:
            return value + HOSTILE
        case _:
            return value


@pytest.fixture(scope="module")
def runs(shared: CliProject) -> tuple[str, str]:
    """A run, and the same as a stranger tells it."""
    done = shared.call("run", "develop.yaml", "--input", "ships", "--json")
    own = str(json.loads(done.stdout)["runId"])
    document = json.loads(shared.call("runs", "export", own).stdout)
    document["runId"] = "stranger1"
    for fact in document["facts"]:
        files = fact["body"].get("files")
        fact["body"] = hostile(fact["body"])
        if files is not None:
            fact["body"]["files"] = files
    file = Path(shared.root, "stranger.json")
    file.write_text(json.dumps(document))
    taken = shared.call("runs", "import", str(file), "--json")
    assert json.loads(taken.stdout)["ok"], taken.stdout
    return own, "stranger1"


@pytest.mark.parametrize(
    "words",
    [
        *("show", "show --full", "report", "status", "events", "changes", "compare OWN", "compare OWN --full"),
        *("diff 1 2", "", "fork", "replay", "resume", "apply"),
    ],
)
def test_no_word_of_a_record_is_obeyed(shared: CliProject, runs: tuple[str, str], words: str) -> None:
    own, strange = runs
    verb, *more = words.split() or [""]
    called = ["runs", *([verb, strange] if verb else []), *(own if each == "OWN" else each for each in more)]
    done = shared.call(*called)
    printed = done.stdout + done.stderr
    assert printed.strip()
    obeyed = {sign for sign in printed if unicodedata.category(sign) in ("Cc", "Cf") and sign != "\n"}
    assert obeyed == set(), printed
    if verb in ("show", "report", "status"):
        assert "\ufffd" in printed, "it was shown at all"
