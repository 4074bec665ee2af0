"""Role-loop definitions: what is marked, which rules meet, what is no fault."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.formats.settings.model import settings_of
from loop_ls.rules.engine.finding import Severity
from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import check_findings, findings_of
from tests.rules.role_loop.role_loops import PATH, check, codes, definition, found, source

JUDGED = {"type": "evaluation_bound", "value": {"criteria": "It stands", "max_review_rounds": 3}}
PAIR = [{"role": "coder", "prompt": "Build."}, {"role": "reviewer", "prompt": "Say APPROVED, or what is wrong."}]


def parameter(**changes: Any) -> dict[str, Any]:
    return {"name": "size", "description": "Size of it", "required": False, "default": "big"} | changes


SIZED = [{"role": "coder", "prompt": "Build it {{size}}."}]


def test_a_sound_definition_has_no_finding() -> None:
    assert check() == []


# -- syntax ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ('{"name": "build",}', ","),
        ('{"name": "build"\n "roles": []}', '"'),
        ("{'name': 'build'}", "'name'"),
        ('{"name": "build"} extra', "extra"),
        ('{"name": "build" // why\n}', "// why"),
        ("[]", "["),
        ('"build"', '"'),
        ("", ""),
    ],
)
def test_what_is_no_json_object_gets_one_finding_and_nothing_else(text: str, marked: str) -> None:
    assert found(text) == [("RL001", marked)]


def test_an_open_bracket_is_marked_where_reading_stops() -> None:
    [one] = findings_of(read_fixture('{\n  "name": "build",\n  "roles": [\n    {"role": "coder"}\n', PATH, False))[PATH]
    assert one.span.start.line >= 3


def test_a_byte_order_mark_is_no_fault() -> None:
    assert found("\ufeff" + source()) == []


# -- name, description, roles ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Build", "a b", "-a", "ä", "", 5, ["a"]])
def test_a_name_that_is_none_is_marked(name: Any) -> None:
    assert codes(name=name) == ["RL002"]


def test_missing_things_are_marked_at_the_brace_of_what_lacks_them() -> None:
    assert found("{}") == [(rule, "{") for rule in ("RL002", "RL004", "RL005", "RL010")]
    assert check(roles=[{}]) == [("RL006", "{"), ("RL008", "{")]


def test_a_misspelt_key_is_one_fault_not_two() -> None:
    assert codes(description=None, descripton="Builds") == ["RL022"]
    assert codes(roles=None, stages=PAIR) == ["RL022"]
    assert codes(roles=[{"role": "coder", "promt": "Build."}]) == ["RL022"]
    assert codes(termination_condition=None, termination={"type": "manual"}) == ["RL022"]


def test_twins_of_one_folder_see_each_other_and_those_of_others_do_not() -> None:
    check_findings(
        """
        #- loops/a.json
        {"name": "twin", "description": "A", "roles": [{"role": "coder", "prompt": "Build."}],
        #        ^^^^^^ error: RL003 b.json
         "termination_condition": {"type": "iteration_bound", "value": 2}}
        #- loops/b.json
        {"name": "twin", "description": "B", "roles": [{"role": "coder", "prompt": "Build."}],
        #        ^^^^^^ error: RL003 a.json
         "termination_condition": {"type": "iteration_bound", "value": 2}}
        #- other/loops/c.json
        {"name": "twin", "description": "C", "roles": [{"role": "coder", "prompt": "Build."}],
         "termination_condition": {"type": "iteration_bound", "value": 2}}
        """
    )


def test_role_falls_back_to_name_and_is_marked_there() -> None:
    assert check(roles=[{"name": "coder", "prompt": "Build."}]) == []
    assert check(roles=[{"name": "codr", "prompt": "Build."}]) == [("RL007", '"codr"')]
    assert check(roles=[{"role": "", "name": "coder", "prompt": "Build."}]) == [("RL006", '""')]


def test_letter_case_of_a_role_counts() -> None:
    assert codes(roles=[{"role": "Coder", "prompt": "Build."}]) == ["RL007"]


def test_roles_of_the_project_are_known() -> None:
    settings, _ = settings_of({"roles": {"builder": {"access": "full"}}})
    text = source(roles=[{"role": "builder", "prompt": "Build."}])
    assert found(text, settings=settings) == []
    judged = source(roles=[{"role": "builder", "prompt": "Say APPROVED."}], termination_condition=JUDGED)
    assert [rule for rule, _ in found(judged, settings=settings)] == ["RL019"]


def test_a_role_may_come_from_a_parameter() -> None:
    roles = [{"role": "{{who}}", "prompt": "Build."}]
    assert codes(roles=roles, parameters=[parameter(name="who", default="coder")]) == []
    assert codes(roles=roles, parameters=[parameter(name="who", required=True) | {"default": "coder"}]) == ["RL015"]
    assert codes(roles=roles, parameters=[parameter(name="who", default="nobody")]) == ["RL007"]


# -- order ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("orders", "marked"),
    [
        ([0, 1, 2], None),
        ([5, 6, 7], None),
        ([0, 2, 3], "2"),
        ([0, 1, 1], "1"),
        ([2, 1, 0], "1"),
        ([0, None, 5], None),
        ([3, 1, 9], "1"),
    ],
)
def test_order_is_told_once_at_the_first_number_that_does_not_go_up_by_one(
    orders: list[int | None], marked: str | None
) -> None:
    roles = [
        {"role": "coder", "prompt": "Build."} | ({"order": number} if number is not None else {}) for number in orders
    ]
    assert check(roles=roles) == ([("RL009", marked)] if marked else [])


# -- the end of a loop ----------------------------------------------------------------------------

ENDS = [
    ("sometimes", [("RL012", '"sometimes"')]),
    (None, [("RL010", "{")]),
    ({"type": "Manual"}, [("RL011", '"Manual"')]),
    ({"value": 3}, [("RL011", "{")]),
    ({"type": 3}, [("RL011", "3")]),
    ({"type": "manual"}, [("RL021", '"manual"')]),
    ({"type": "iteration_bound"}, [("RL012", "{")]),
    ({"type": "iteration_bound", "value": "4"}, []),
    ({"type": "iteration_bound", "value": "four"}, [("RL012", '"four"')]),
    ({"type": "iteration_bound", "value": 2.5}, [("RL012", "2.5")]),
    ({"type": "iteration_bound", "value": True}, [("RL012", "true")]),
    ({"type": "iteration_bound", "value": [3]}, [("RL012", "[")]),
    ({"type": "iteration_bound", "max_iterations": 4}, [("RL012", '"max_iterations"')]),
    ({"type": "evaluation_bound", "value": "It stands"}, []),
    ({"type": "evaluation_bound", "value": " "}, [("RL012", '" "')]),
    ({"type": "evaluation_bound", "value": {"criteria": ""}}, [("RL012", '""')]),
    ({"type": "evaluation_bound", "value": {"max_review_rounds": 3}}, [("RL012", "{")]),
    ({"type": "evaluation_bound", "value": {"criteria": "ok", "max_review_rounds": "3"}}, []),
    ({"type": "evaluation_bound", "value": {"criteria": "ok", "max_review_rounds": "a"}}, [("RL012", '"a"')]),
    ({"type": "evaluation_bound", "value": 3}, [("RL012", "3")]),
    ({"type": "goal_bound", "value": {"max_iterations": 3}}, []),
    ({"type": "goal_bound", "value": {"goal_prompt": "", "max_iterations": 3}}, []),
    ({"type": "goal_bound", "value": {"goal_prompt": 5, "max_iterations": 3}}, [("RL012", "5")]),
    ({"type": "goal_bound", "value": 3}, [("RL012", "3")]),
    ({"type": "time_bound", "value": "90"}, []),
    ({"type": "time_bound", "value": "2031-06-01"}, []),
    ({"type": "time_bound", "value": "soon"}, [("RL012", '"soon"')]),
    ({"type": "time_bound", "value": 0}, [("RL012", "0")]),
    ({"type": "time_bound", "value": 60, "hard": True}, []),
    ({"type": "time_bound", "value": 60, "hard": "true"}, [("RL023", '"true"')]),
    (
        {
            "type": "tool_bound",
            "value": {"tool": "count", "operator": ">=", "threshold": "9", "max_iterations": 3, "arguments": {}},
        },
        [],
    ),
    (
        {"type": "tool_bound", "value": {"tool": "count", "operator": "=>", "max_iterations": 3}},
        [("RL012", "{"), ("RL012", '"=>"')],
    ),
]


@pytest.mark.parametrize(("condition", "expected"), ENDS)
def test_a_termination_condition(condition: Any, expected: list[tuple[str, str]]) -> None:
    assert check(termination_condition=condition, roles=PAIR) == expected


def test_max_iterations_in_place_of_value_is_only_information() -> None:
    text = source(termination_condition={"type": "iteration_bound", "max_iterations": 4})
    [one] = findings_of(read_fixture(text, PATH, False))[PATH]
    assert one.severity is Severity.INFORMATION


def test_max_iterations_beside_another_type_is_read_by_nobody() -> None:
    condition = {"type": "time_bound", "value": 60, "max_iterations": 4}
    assert check(termination_condition=condition) == [("RL022", '"max_iterations"')]


# -- the judge ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "reported"),
    [
        ({"role": "reviewer", "prompt": "Approve it or say why not."}, False),
        ({"role": "reviewer", "prompt": "lgtm?"}, False),
        ({"role": "reviewer", "prompt": "Say whether it is acceptable."}, False),
        ({"role": "reviewer", "prompt": "Judge it."}, True),
        ({"role": "coder", "prompt": "Say APPROVED."}, True),
        ({"role": "orchestrator", "prompt": "Say APPROVED."}, True),
        ({"role": "explorer", "prompt": "Say APPROVED."}, False),
        ({"role": "reviewer", "prompt": "{{ask}}"}, False),
    ],
)
def test_RL019_asks_the_last_stage(last: dict[str, str], reported: bool) -> None:
    parameters = [parameter(name="ask", default="Say APPROVED.")] if "{{" in last["prompt"] else None
    roles = [{"role": "plan", "prompt": "Plan."}, last]
    expected = ["RL019"] if reported else []
    assert codes(roles=roles, termination_condition=JUDGED, parameters=parameters) == expected


def test_RL019_takes_the_last_one_by_order() -> None:
    roles = [PAIR[1] | {"order": 1}, PAIR[0] | {"order": 0}]
    assert codes(roles=roles, termination_condition=JUDGED) == ["RL009"]


def test_a_model_that_judges_needs_no_word_of_approval() -> None:
    roles = [PAIR[0], {"role": "reviewer", "prompt": "Judge it."}]
    assert codes(roles=roles, termination_condition=JUDGED, approval={"mode": "llm"}) == []
    assert codes(approval={"mode": "oracle"}) == ["RL023"]


# -- parameters and placeholders ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Size", "1st", "a-b", "", 4])
def test_a_parameter_name_that_is_none(name: Any) -> None:
    assert "RL013" in codes(parameters=[parameter(name=name)], roles=PAIR)


def test_defaults() -> None:
    assert check(parameters=[parameter(default=[1])], roles=SIZED) == [("RL015", "[")]
    assert check(parameters=[parameter(default=None)], roles=SIZED) == [("RL015", "null")]
    lacking = parameter()
    del lacking["default"]
    assert check(parameters=[lacking], roles=SIZED) == [("RL015", "{")]
    assert check(parameters=[parameter(required=True)], roles=SIZED) == [("RL015", '"default"')]


def test_a_description_of_a_parameter() -> None:
    assert check(parameters=[parameter(description=" ")], roles=SIZED) == [("RL016", '" "')]
    assert check(parameters=[{"name": "size"}], roles=SIZED) == [("RL016", "{")]


def test_a_parameter_is_used_wherever_its_placeholder_stands() -> None:
    assert codes(parameters=[parameter()]) == ["RL017"]
    assert codes(parameters=[parameter()], description="Builds it {{size}}") == []
    value = {"criteria": "It is {{size}}"}
    assert codes(parameters=[parameter()], roles=PAIR, termination_condition=JUDGED | {"value": value}) == []


@pytest.mark.parametrize("text", ["{{sise}}", "{{ size }}", "{{loop.iteration}}", "{{Size}}"])
def test_a_placeholder_that_nothing_fills_in_is_marked_at_its_first_brace(text: str) -> None:
    roles = [{"role": "coder", "prompt": f"A {{{{size}}}} and {text}."}]
    assert check(parameters=[parameter()], roles=roles) == [("RL018", text)]


def test_what_is_no_placeholder_stays_alone() -> None:
    prompt = 'Answer {"a": {"b": 1}} or {{"a": 1}} or {{}} or {{a + b}}.'
    assert codes(roles=[{"role": "coder", "prompt": prompt}]) == []


def test_words_about_a_parameter_are_not_filled_in() -> None:
    assert codes(parameters=[parameter(description="Put {{colour}} there")], roles=SIZED) == []
    assert codes(parameters=[parameter(default="{{colour}}")], roles=SIZED) == ["RL018"]


# -- artifacts, keys, types -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "fits"), [(0, True), (1, False), (2, False), (-1, False), (0.5, False), ("0", False)]
)
def test_an_artifact_comes_from_an_earlier_stage(index: Any, fits: bool) -> None:
    roles = [PAIR[1], PAIR[0] | {"requires_artifact_from": index}]
    assert codes(roles=roles) == ([] if fits else ["RL020"])


@pytest.mark.parametrize(
    ("key", "value", "fits"),
    [
        ("max_iterations", "9", True),
        ("max_iterations", None, True),
        ("max_iterations", 9.5, False),
        ("order", "1", False),
        ("order", 1, True),
        ("gate", 1, False),
        ("gate", "{{flag}}", True),
        ("skills", ["a", 1], False),
        ("skills", [], True),
        ("prompt", 3, False),
        ("artifact_required", True, True),
    ],
)
def test_types_of_a_stage(key: str, value: Any, fits: bool) -> None:
    roles = [{"role": "coder", "prompt": "Build {{flag}}."} | {key: value}]
    parameters = [parameter(name="flag", default=True)]
    found_ = [rule for rule in codes(roles=roles, parameters=parameters) if rule != "RL017"]
    assert found_ == ([] if fits else ["RL023"])


def test_keys_outside_the_tables() -> None:
    assert check(on_question="block") == [("RL022", '"on_question"')]
    assert check(version=3, max_rework_attempts="2", approval={"mode": "verdict_line"}) == []
    assert check(colour="red", approval={"mood": "good"}) == [("RL022", '"colour"'), ("RL022", '"mood"')]


def test_a_list_that_is_none() -> None:
    assert check(parameters={"size": "big"}) == [("RL023", "{")]
    assert check(parameters=["size"]) == [("RL023", '"size"')]
    assert check(roles="coder") == [("RL005", '"coder"')]


def test_the_file_is_recognised_by_its_folder() -> None:
    text = read_fixture(source(name="Bad Name"), "flows/build.json", head=False)
    assert findings_of(text) == {"flows/build.json": ()}
    assert definition()["name"] == "build"


def test_the_key_by_which_editors_find_a_schema_is_no_fault() -> None:
    assert found(source(**{"$schema": "https://example.org/role-loop.json"})) == []
    assert codes(**{"$shema": "x"}) == ["RL022"]


# -- clauses --------------------------------------------------------------------------------------


def titles(rule: str, **changes: Any) -> list[str]:
    """What is offered for the first finding of a rule."""
    found = findings_of(read_fixture(source(**changes), PATH, head=False))[PATH]
    return [fix.title for fix in next(one for one in found if one.rule == rule).fixes]


def test_RL012_a_number_moves_to_value_where_none_is_there() -> None:
    end = {"type": "iteration_bound", "max_iterations": 3}
    assert titles("RL012", termination_condition=end) == ["Change to `value`"]
    assert titles("RL012", termination_condition=end | {"value": 2}) == []
    assert titles("RL012", termination_condition={"type": "iteration_bound"}) == []


def test_what_has_a_wrong_type_is_not_empty_or_idle_as_well() -> None:
    assert codes(parameters=[parameter(description=5)], roles=SIZED) == ["RL023"]
    assert codes(parameters=[parameter(required=True, default=[1])], roles=SIZED) == ["RL015"]
    assert codes(parameters=[parameter(required="no", default="x")], roles=SIZED) == ["RL023"]
    assert codes(description=5) == ["RL023"]
    assert check(description=" ") == [("RL004", '" "')]


def test_RL022_keys_of_every_object_are_looked_at() -> None:
    stray = {"colour": 1}
    value = {"criteria": "It stands", "max_review_rounds": 3}
    for changes in (
        {"roles": [{"role": "coder", "prompt": "Build."} | stray]},
        {"parameters": [parameter() | stray], "roles": SIZED},
        {"termination_condition": {"type": "iteration_bound", "value": 2} | stray},
        {"roles": PAIR, "termination_condition": {"type": "evaluation_bound", "value": value | stray}},
    ):
        assert check(**changes) == [("RL022", '"colour"')]
    assert codes(roles=PAIR, termination_condition={"type": "evaluation_bound", "value": value}) == []


def numbered(*orders: Any) -> list[tuple[str, str]]:
    roles = [{"role": "coder", "prompt": "Build.", "order": one} for one in orders]
    return [one for one in check(roles=roles) if one[0] != "RL023"]


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        ((0, 1, 2), []),
        ((1, 2), []),
        ((0, 0), [("RL009", "0")]),
        ((0, 2), [("RL009", "2")]),
        ((1, 0, 5), [("RL009", "0")]),
        (("x", 1), []),
    ],
)
def test_RL009_numbers_follow_one_another(orders: tuple[Any, ...], expected: list[tuple[str, str]]) -> None:
    assert numbered(*orders) == expected


def test_RL009_says_what_is_wrong_with_a_number() -> None:
    def said(*orders: int) -> str:
        roles = [{"role": "coder", "prompt": "Build.", "order": one} for one in orders]
        [one] = findings_of(read_fixture(source(roles=roles), PATH, head=False))[PATH]
        return one.message

    assert said(1, 1).startswith("Duplicate number 1")
    assert said(1, 0).startswith("0 comes after 1")
    assert said(0, 2).startswith("Gap in the numbering between 0 and 2")


def test_RL001_a_comma_at_the_end_alone_is_removed() -> None:
    def fixes(text: str) -> list[str]:
        [one] = findings_of(read_fixture(text, PATH, False))[PATH]
        return [fix.title for fix in one.fixes]

    assert fixes('{"name": "build",}') == ["Remove the comma"]
    assert fixes('{"name": "build"\n "roles": []}') == []
    assert fixes("{'name': 'build'}") == []


def test_definitions_without_a_name_are_no_twins() -> None:
    def told(name: str | None) -> list[str]:
        files = f"#- {PATH}\n{source(name=name)}\n#- loops/other.json\n{source(name=name)}\n"
        return [one.rule for one in findings_of(read_fixture(files, PATH, False))[PATH]]

    assert len(set(told("build")) - set(told(None))) == 1


def test_RL009_numbers_count_only_where_every_stage_has_one() -> None:
    def told(*orders: int | None) -> list[str]:
        roles = [
            {"role": "coder", "prompt": f"Build {at}."} | ({} if order is None else {"order": order})
            for at, order in enumerate(orders)
        ]
        found = findings_of(read_fixture(source(roles=roles), PATH, False))[PATH]
        return [one.message.partition(",")[0].partition(";")[0] for one in found if one.rule == "RL009"]

    assert told(1, 2, 3) == []
    assert told(2, 1) == ["1 comes after 2"]
    assert told(1, 1) == ["Duplicate number 1: the previous stage has it too"]
    assert told(1, 3) == ["Gap in the numbering between 1 and 3"]
    assert told(2, 1, None) == []
    assert told(1, 2, 4, 9) == ["Gap in the numbering between 2 and 4"]


def test_RL014_the_second_of_two_says_where_the_first_one_is() -> None:
    twice = [parameter(), parameter(description="Again")]
    found = findings_of(read_fixture(source(parameters=twice, roles=SIZED), PATH, False))[PATH]
    [one] = [one for one in found if one.rule == "RL014"]
    assert [related.span.start.line < one.span.start.line for related in one.related] == [True]


def test_RL003_the_other_definition_of_the_name_is_shown_where_it_says_it() -> None:
    files = f"#- {PATH}\n{source()}\n#- loops/other.json\n\n\n{source(description='Another')}\n"
    found = findings_of(read_fixture(files, PATH, False))[PATH]
    [one] = [one for one in found if one.related]
    [related] = one.related
    assert related.uri is not None
    assert related.uri.endswith("loops/other.json")
    lines = read_fixture(files, PATH, False).texts["loops/other.json"].split("\n")
    assert '"name": "build"' in lines[related.span.start.line]
