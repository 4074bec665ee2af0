"""Values of a settings file come and go without moving anything else."""

from __future__ import annotations

import pytest

from loop_ls.features.actions.settings_edits import NoPlace, with_value, without_value
from loop_ls.formats.settings.enhance import is_enabled
from loop_ls.formats.settings.model import read_settings

FILE = """\
# of this project
providers:
  acme: {kind: openai}   # ours
enhance:
  maxRounds: 4  # enough
  workflows:
    other:
      enabled: true

rules: {WF301: off}
"""
SWITCH = ("enhance", "workflows", "report", "enabled")


def test_a_value_is_added_below_the_mappings_that_are_there() -> None:
    text = with_value(FILE, SWITCH, True)
    assert text == FILE.replace("      enabled: true\n", "      enabled: true\n    report:\n      enabled: true\n")


def test_mappings_on_the_way_are_added() -> None:
    assert with_value("", SWITCH, True) == "enhance:\n  workflows:\n    report:\n      enabled: true\n"
    assert with_value("rules: {}", SWITCH, True).startswith("rules: {}\nenhance:\n  workflows:\n")
    assert with_value("enhance:\n", ("enhance", "maxRounds"), 2) == "enhance:\n  maxRounds: 2\n"


def test_a_value_is_replaced() -> None:
    assert with_value(FILE, ("enhance", "maxRounds"), 6) == FILE.replace("maxRounds: 4", "maxRounds: 6")


def test_flow_style_stays() -> None:
    text = "enhance: {maxRounds: 3}\n"
    assert with_value(text, SWITCH, True) == "enhance: {maxRounds: 3, workflows: {report: {enabled: true}}}\n"


def test_a_value_goes_with_the_mappings_that_are_empty_without_it() -> None:
    text = with_value(FILE, SWITCH, True)
    assert without_value(text, SWITCH) == FILE
    assert without_value(FILE, ("enhance", "workflows", "other", "enabled")) == FILE.replace(
        "  workflows:\n    other:\n      enabled: true\n", ""
    )
    assert without_value(FILE, SWITCH) == FILE


def test_line_ends_stay() -> None:
    text = with_value(FILE.replace("\n", "\r\n"), SWITCH, True)
    assert text == with_value(FILE, SWITCH, True).replace("\n", "\r\n")


def test_what_is_no_mapping_is_left_alone() -> None:
    with pytest.raises(NoPlace):
        with_value("enhance: on\n", SWITCH, True)


@pytest.mark.parametrize("name", ["<<", "=", "a: b", "yes", "'", "12", "ünï", "x #y", "~"])
@pytest.mark.parametrize("before", ["", FILE, "enhance: {workflows: {}}\n"])
def test_the_switch_of_a_workflow_with_any_name_is_read_back_and_taken_out(name: str, before: str) -> None:
    path = ("enhance", "workflows", name, "enabled")
    text = with_value(before, path, True)
    section = read_settings(text)[0].raw["enhance"]
    assert is_enabled(section, name)
    assert section["workflows"].get("other") == ({"enabled": True} if before == FILE else None)
    assert not is_enabled(read_settings(without_value(text, path))[0].raw.get("enhance"), name)


def test_a_workflow_may_be_called_like_a_merge_key() -> None:
    path = ["enhance", "workflows", "<<", "enabled"]
    for start in (
        "",
        "enhance:\n  workflows:\n    a: {enabled: true}\n",
        "enhance: {workflows: {a: {enabled: true}}}\n",
    ):
        on = with_value(start, path, True)
        assert "<<" in read_settings(on)[0].enhanced
        assert with_value(on, path, True) == on
        assert without_value(on, path) == start
