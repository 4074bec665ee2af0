"""WF702: the proposed condition reads like a sentence."""

from __future__ import annotations

import re

import pytest

from loop_ls.rules.until.without_variable import without_variable


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("The output {{loop.output}} is correct", None),  # WF701
        ("{{polish}} is good", None),  # WF701
        ("{{loop.output}} == 'PASS'", "The output is 'PASS'"),
        ("The draft\n{{loop.output}} \nhas a title", "The draft\nhas a title"),
        ('The output "{{loop.output}}" names a town', "The output names a town"),
        ("The text: {{loop.output}} has a title", "The text has a title"),
        ("{{loop.output}} contains PASS", "The output contains PASS"),
        ("{{ loop.last.output }} differs from the reply", None),
        ("{{loop.last.output}} contains PASS", "The output contains PASS"),
        ("The output contains {{loop.output}}", None),
        ("The score in {{loop.output}} is above 90", "The score in the output is above 90"),
        ("It is shorter than {{loop.last.output}}.", None),
        ("Iteration {{loop.iteration}} of 5 reached", None),
        ("{{loop.history}} shows three", None),
        ("{{loop.output}}", None),
        ("The draft ({{polish}}) has a title", "The draft has a title"),
        ("The draft `({{polish}})` has a title", "The draft has a title"),
        ("({{polish}} has a title)", "(the output has a title)"),
        ("{{polish}}, has a title", "The output, has a title"),
        ("{{polish}}has a title", "The output has a title"),
        ("{{step.polish}} has a title", "The output has a title"),
        ("${{polish}} has a title", "The output has a title"),
        ("The title stands in ${{polish}}", "The title stands in the output"),
        ("The title stands in ({{polish}}", "The title stands in (the output"),
        ("The title stands in ({{polish}}]", "The title stands in (the output]"),
        ("The title stands in {{polish}})", "The title stands in the output)"),
        ("The title of the draft: {{polish}}", "The title of the draft"),
        ("The title stands in {{polish}}, too", "The title stands in the output, too"),
        ("The title stands in {{polish}} === 'x'", "The title stands in the output is 'x'"),
        ("The title is as it is in {{polish}}  today", "The title is as it is in the output today"),
        ("The draft\n{{loop.output}}\nhas a title", "The draft\nhas a title"),
        ("The draft {{loop.output}}\nhas a title", "The draft\nhas a title"),
        ("The draft:\n{{loop.output}} has a title", "The draft:\nhas a title"),
        ("In\n{{loop.output}} is a title", "In\nthe output is a title"),
        ("{{loop.last.output}}.", None),
        ("({{loop.last.output}}) contains PASS", "The output contains PASS"),
        ("There {{loop.last.output}} contains PASS", None),
        ("({{loop.output}})", None),
        (
            "{{loop.output}} is fine and it has a title and it is short",
            "The output is fine and it has a title and it is short",
        ),
    ],
)
def test_WF702_condition_without_the_variable(condition: str, expected: str | None) -> None:
    match = re.search(r"\{\{\s*([\w.]+)\s*\}\}", condition)
    assert match is not None
    assert without_variable(condition, *match.span(), match[1]) == expected
