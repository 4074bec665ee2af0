"""Double braces while they are being typed."""

from __future__ import annotations

import pytest

from loop_ls.features.complete.island import braces_at


def completed(text: str, name: str = "NEW") -> str | None:
    """The line after accepting `name` at `|`."""
    column = text.index("|")
    line = text.replace("|", "")
    found = braces_at(line, column)
    if found is None:
        return None
    assert found.start <= column <= found.end
    return line[: found.start] + found.before + name + found.after + line[found.end :]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("run: {{|}}", "run: {{NEW}}"),
        ("run: {{lo|}}", "run: {{NEW}}"),
        ("run: {{lo|op.x}}", "run: {{NEW}}"),
        ("run: {{ lo| }}", "run: {{ NEW }}"),
        ("run: {{lo|", "run: {{NEW}}"),
        ("run: {{|", "run: {{NEW}}"),
        ("run: {{lo|}", "run: {{NEW}}"),
        ('run: "a {{lo|"', 'run: "a {{NEW}}"'),
        ('run: "a {{lo| and more"', 'run: "a {{NEW}} and more"'),
        ("run: {{a}} {{|", "run: {{a}} {{NEW}}"),
        ("run: {{| {{b}}", "run: {{NEW}} {{b}}"),
        ("run: {|", "run: {{NEW}}"),
        ("run: {|}", "run: {{NEW}}"),
        ('{"a": {{|}}}', '{"a": {{NEW}}}'),
        ("if: ${{ a| == 'x' }}", "if: ${{ NEW == 'x' }}"),
        ("if: ${{ |", "if: ${{ NEW }}"),
        ("run: {{überbl|}}", "run: {{NEW}}"),
        ("run: {{step.dr|}}", "run: {{NEW}}"),
    ],
)
def test_the_word_is_replaced_and_missing_braces_are_added(text: str, after: str) -> None:
    assert completed(text) == after


@pytest.mark.parametrize(
    "text",
    ["run: |{{a}}", "run: {{a}}|", "run: a |", "run: {{a b|}}", "if: ${{ a == 'x|' }}", "run: {{a ? b|}}", "", "|"],
)
def test_elsewhere_there_are_none(text: str) -> None:
    assert completed(text if "|" in text else "|" + text) is None
