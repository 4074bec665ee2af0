"""JSON types, placeholders, command lines, secrets, roles: the small readings that rules and engine share."""

from __future__ import annotations

import pytest

from loop_ls.formats.common.json_types import flag, is_blank, kind_of, number, numeric_text, text_of, unquoted, whole
from loop_ls.formats.common.key_table import Key, Type
from loop_ls.formats.common.secret import is_secret, is_variable_name, names_secret, takes_from_environment
from loop_ls.formats.common.shell_words import has_quotes, program, shell_syntax
from loop_ls.formats.role_loop.placeholders import Filled, fill
from loop_ls.formats.role_loop.roles import known_roles
from loop_ls.syntax.nodes import Node
from loop_ls.syntax.tree import read_yaml
from loop_ls.text.lines import Text


def value(written: str) -> Node | None:
    return read_yaml(Text.of(f"it: {written}\n")).pieces[0].node


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        *(("5", "number"), ("2.5", "number"), ("1e3", "number"), ("true", "true or false"), ("null", "null")),
        *(("", "null"), ("'5'", "text"), ("words", "text"), ("yes", "text"), ("[]", "list"), ("{}", "object")),
    ],
)
def test_kinds(written: str, kind: str) -> None:
    assert kind_of(value(written)) == kind


def test_values() -> None:
    assert text_of(value("'5'")) == "5"
    assert text_of(value("5")) is None
    assert [whole(value(one)) for one in ("5", "-5", "5.0", "1e3", "true", "'5'")] == [5, -5, None, None, None, None]
    assert number(value("2.5")) == 2.5
    assert [flag(value(one)) for one in ("true", "false", "'true'")] == [True, False, None]
    assert [is_blank(value(one)) for one in ("", "' '", "a", "5")] == [True, True, False, False]
    assert [numeric_text(one) for one in ("5", " 7 ", "5.0", "x")] == [5, 7, None, None]


def test_quotes_that_are_too_many() -> None:
    assert unquoted(Key("n", Type.INTEGER, ""), value("'5'")) == "5"
    assert unquoted(Key("n", Type.INTEGER, ""), value("'x'")) is None
    assert unquoted(Key("n", Type.BOOLEAN, ""), value("'true'")) == "true"
    assert unquoted(Key("n", Type.TEXT, ""), value("'5'")) is None


def test_placeholders_are_filled_in_once_and_exactly() -> None:
    values = {"a": "{{b}}", "b": "x", "c": None}
    assert fill("{{a}}-{{b}}", values) == Filled("{{b}}-x", ("a", "b"))
    assert fill("{{ a }} {{A}} {{z}}", values) == Filled("{{ a }} {{A}} {{z}}")
    assert fill("{{c}}", values) == Filled("{{c}}", ("c",), True)


@pytest.mark.parametrize("command", ["npm test", "sh a=b", "git HEAD~1", "grep x$", "curl http://a/?b=c", "a 'x|y'"])
def test_words_that_need_no_shell(command: str) -> None:
    assert shell_syntax(command) is None


@pytest.mark.parametrize("command", ["a && b", "a|b", "a;b", "a>b", "A=1 b", "a $X", "a *.py", "~/a", "a `b`", "a &"])
def test_words_that_need_one(command: str) -> None:
    assert shell_syntax(command)


def test_the_program_of_a_command() -> None:
    assert program("./run.sh --fast") == "./run.sh"
    assert program("A=1 sh") is None
    assert program("") is None
    assert has_quotes("a 'b'")


def test_secrets() -> None:
    assert all(map(names_secret, ("apiKey", "api_key", "GITHUB_TOKEN", "password")))
    assert not any(map(names_secret, ("apiKeyEnv", "maxTokens", "key", "TOKEN_LIMIT")))
    assert is_secret("sk-abcdefghijklmnopqrst")
    assert not is_secret("OPENAI_API_KEY")
    assert takes_from_environment("Bearer ${TOKEN}")
    assert is_variable_name("OPENAI_API_KEY")
    assert not is_variable_name("abc")


def test_roles_of_a_project_join_the_built_in_ones() -> None:
    roles = known_roles(
        {"critic": {"access": "minimal", "instructions": "You judge.\nHard."}, "coder": {"maxSteps": 9}}
    )
    assert (roles["critic"].access, roles["critic"].text) == ("minimal", "You judge.")
    assert (roles["coder"].access, roles["coder"].steps) == ("full", 9)
    assert roles["plan"].access == "readonly"
