"""A wrong command line is answered in one sentence that says what would be right; exit status 2."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.cli.main import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("runz", "loop-ls: `runz` is no command; did you mean `run`?"),
        ("runs pasue x", "loop-ls runs: `pasue` is no verb; did you mean `pause`?"),
        ("check --format yml", "loop-ls check: `yml` is no format; there are text, json, sarif, github, junit."),
        ("check --format", "loop-ls check: `--format` needs a value."),
        ("check --fail-on foo", "loop-ls check: `foo` is no value of `--fail-on`; there are error, warning,"),
        ("new lop x", "loop-ls new: `lop` is no kind; did you mean `loop`?"),
        ("runs delete", "loop-ls runs delete: `ID` is missing."),
        ("runs show a b", "loop-ls runs show: `b` is one word too many."),
        ("run --inptu x y", "loop-ls run: `--inptu` is no option of `loop-ls run`; did you mean `--input`?"),
        ("run --zzzzz", "loop-ls run: `--zzzzz` is no option of `loop-ls run`."),
        ("run x --max-iterations none", "loop-ls run: `--max-iterations`: `none` is no number from 1."),
        ("run --json=3 x", "loop-ls run: `--json` takes no value."),
        ("engine token create", "loop-ls engine token create: `--user` is missing."),
        ("engine token create --user a --role god", "loop-ls engine token create: `god` is no role; there are viewer,"),
        ("schema", "loop-ls schema: One of `FORMAT`, `--into` is missing."),
    ],
)
def test_one_sentence_and_what_would_be_right(words: str, said: str, capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    out, err = capsys.readouterr()
    first, second, *rest = err.splitlines()
    assert (ended.value.code, out, rest) == (2, "", [])
    assert first.startswith(said)
    assert second.endswith("--help shows what there is.")


def test_what_is_missing_is_listed_where_it_is_one_of_some(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["engine"])
    assert "`VERB` is missing; there are start, " in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([])
    assert "`COMMAND` is missing; there are check, fix, " in capsys.readouterr().err


def test_words_that_a_terminal_would_obey_are_shown_harmless(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["\x1b[31mruns"])
    assert "\x1b" not in capsys.readouterr().err
