"""A wrong command line is answered in one sentence that says what would be right; exit status 2."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.cli.main import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("runz", "loop-ls: Unknown command `runz`; did you mean `run`?"),
        ("runs pasue x", "loop-ls runs: Unknown command `pasue`; did you mean `pause`?"),
        ("check --format yml", "loop-ls check: Unknown format `yml`; expected text, json, sarif, github, junit."),
        ("check --format", "loop-ls check: `--format` needs a value."),
        ("check --fail-on foo", "loop-ls check: Unknown value `foo` for `--fail-on`; expected error, warning,"),
        ("new lop x", "loop-ls new: Unknown kind `lop`; did you mean `loop`?"),
        ("runs delete", "loop-ls runs delete: Missing `ID`."),
        ("runs show a b", "loop-ls runs show: Unexpected argument `b`."),
        ("run --inptu x y", "loop-ls run: Unknown option `--inptu`; did you mean `--input`?"),
        ("run --zzzzz", "loop-ls run: Unknown option `--zzzzz`."),
        ("run x --max-iterations none", "loop-ls run: `--max-iterations`: `none` is not a number from 1."),
        ("run x --model=", "loop-ls run: `--model`: it is empty; set a value, or omit the option."),
        ("run --json=3 x", "loop-ls run: `--json` does not take a value."),
        ("engine token create", "loop-ls engine token create: Missing `--user`."),
        (
            "engine token create --user a --role god",
            "loop-ls engine token create: Unknown role `god`; expected viewer,",
        ),
        ("schema", "loop-ls schema: One of `FORMAT`, `--into` is required."),
    ],
)
def test_one_sentence_and_what_would_be_right(words: str, said: str, capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    out, err = capsys.readouterr()
    first, second, *rest = err.splitlines()
    assert (ended.value.code, out, rest) == (2, "", [])
    assert first.startswith(said)
    assert second.endswith("--help`.")


def test_what_is_missing_is_listed_where_it_is_one_of_some(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["engine"])
    assert "Missing `VERB`; expected start, " in capsys.readouterr().err


def test_without_a_word_it_shows_what_there_is(capsys: Any) -> None:
    assert main([]) == 2
    assert "\n    check      Check loop files for problems\n" in capsys.readouterr().err


def test_words_that_a_terminal_would_obey_are_shown_harmless(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["\x1b[31mruns"])
    assert "\x1b" not in capsys.readouterr().err
