"""What the descriptions of the formats promise at each position, row by row, with the module and the test of each.

`test_rows` looks whether every row has a test that is there, and runs it with its module switched off: it has to
fail. The tables of what we are measured by among other servers are in `targets`.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_FEATURES = Path(__file__).resolve().parent


class Row(NamedTuple):
    """`position`: where the cursor is, or what is asked; `module` does the work."""

    group: str
    position: str
    module: str
    test: str


def _path(folder: str, file: str) -> str:
    """A test file by its name, in whichever folder of these tests it lies."""
    found = next((_FEATURES / folder).rglob(f"{file}.py"), None)
    return found.relative_to(_FEATURES.parents[1]).as_posix() if found else f"tests/features/{folder}{file}.py"


def _rows(group: str, folder: str, *rows: tuple[str, str, str, str]) -> tuple[Row, ...]:
    """Module and file are named by their last parts."""
    return tuple(
        Row(group, position, f"loop_ls.features.{module}", f"{_path(folder, file)}::{test}")
        for position, module, file, test in rows
    )


_KEYS, _VALUES, _VARIABLES = "test_completion_keys", "test_completion_values", "test_completion_variables"

WORKFLOW = _rows(
    "workflow: completion and hover by position",
    "",
    ("top-level key", "complete.items.keys", _KEYS, "test_D_top_level_keys_that_are_not_there_yet"),
    ("$schema with its value", "complete.items.schema_line", _KEYS, "test_D_the_schema_key_comes_with_its_value"),
    ("key of execution, step, loop, modes and their entries", "complete.items.keys", _KEYS, "test_D_keys_of_every_shape"),
    ("mode keys only while no mode is set", "complete.items.keys", _KEYS, "test_D_a_step_with_a_mode_is_offered_no_other"),
    ("value of an enumeration or boolean", "complete.items.values", _VALUES, "test_D_values_with_the_default_first"),
    ("needs entry", "complete.items.needs", _VALUES, "test_D_needs_offers_no_step_that_would_close_a_circle"),
    ("workflow", "complete.items.callees", _VALUES, "test_D_workflows_neighbours_first_by_bare_name"),
    ("template.name, loop.workflow", "complete.items.callees", _VALUES, "test_D_workflows_wherever_one_is_called"),
    ("key under with, of a loop", "complete.items.arguments", _VALUES, "test_D_with_offers_the_parameters_of_the_callee"),
    ("key under with, of a template", "complete.items.arguments", _VALUES, "test_D_parameters_of_a_template"),
    ("key under with that is supplied", "complete.items.arguments", _VALUES,
     "test_D_parameters_that_are_supplied_are_left_out"),
    ("{{ in a step", "complete.items.variables", _VARIABLES,
     "test_D_in_a_step_results_of_what_it_waits_for_come_before_others"),
    ("{{ in with", "complete.items.variables", _VARIABLES,
     "test_D_in_the_with_of_a_refine_loop_loop_variables_come_first"),
    ("{{ in with of an iterate loop", "complete.items.variables", _VARIABLES,
     "test_D_in_an_iterate_loop_there_are_those_of_its_mode"),
    ("{{ in items", "complete.items.variables", _VARIABLES, "test_D_in_items_there_are_the_results_before_the_loop"),
    ("{{ in until", "complete.items.variables", _VARIABLES,
     "test_D_in_until_nothing_is_offered_that_would_be_found_there"),
    ("provider", "complete.items.models", _VALUES, "test_D_configured_providers_come_first"),
    ("model", "complete.items.models", _VALUES, "test_D_models_are_those_of_the_provider"),
    ("whole elements", "complete.items.elements", _KEYS, "test_D_whole_elements"),
    ("whole loops and consensus, key by key", "complete.items.elements", _KEYS,
     "test_D_the_loop_snippets_have_the_keys_of_the_guide"),
    ("hover on a key", "hover.hover", "test_hover", "test_D_keys_and_values"),
    ("hover on a variable", "docs.variable", "test_hover", "test_D_variables_tell_producer_value_and_emptiness"),
    ("hover on a loop", "docs.element", "test_hover", "test_D_loops_tell_their_worst_case"),
    ("hover on a reference", "complete.items.callees", "test_hover",
     "test_D_references_tell_key_file_description_parameters_and_last_step"),
    ("definition", "definition", "test_definition", "test_D_definition"),
    ("rename of a step", "rename.rename", "test_rename",
     "test_UP_22_a_step_is_renamed_in_all_its_homes_and_prose_is_left_alone"),
    ("rename of a loop, and of a step with results", "rename.rename", "test_rename",
     "test_D_a_loop_and_the_results_of_a_search_are_renamed"),
    ("rename of a parameter", "rename.rename", "test_rename",
     "test_a_parameter_is_renamed_in_the_callee_and_in_all_callers"),
)  # fmt: skip

_ROLE = "test_rows_role_loop"

ROLE_LOOP = _rows(
    "role loop: completion, hover, definition, rename",
    "",
    ("keys by position", "complete.object_files.role_loop", _ROLE, "test_keys_by_position"),
    ("role names and other values", "complete.object_files.role_loop", _ROLE, "test_values"),
    ("termination types with a value", "complete.object_files.role_loop", _ROLE, "test_an_end_comes_with_its_value_filled_in"),
    ("parameter names after {{", "complete.object_files.role_loop", _ROLE, "test_parameters_behind_two_braces"),
    ("requires_artifact_from", "complete.object_files.role_loop", _ROLE,
     "test_an_artifact_comes_from_a_stage_before_this_one"),
    ("hover: access and cap of a role", "docs.role_loop", _ROLE, "test_hover_tells_access_and_cap_of_a_role"),
    ("hover: the end in words", "docs.role_loop", _ROLE, "test_hover_tells_the_end_in_words"),
    ("hover on every key", "hover.object_files", _ROLE, "test_UP_19_hover_on_every_key"),
    ("placeholder to parameter", "rename.role_loop", _ROLE,
     "test_a_placeholder_leads_to_its_parameter_from_every_text"),
    ("requires_artifact_from to stage", "rename.role_loop", _ROLE, "test_an_artifact_leads_to_its_stage"),
    ("rename of a parameter", "rename.role_loop", "test_role_loop_features", "test_rename_changes_every_home"),
)  # fmt: skip

_ASSISTANT = "test_rows_assistant"

ASSISTANT = _rows(
    "assistant: completion, hover, lens",
    "",
    ("keys", "complete.object_files.completion", _ASSISTANT, "test_keys_of_an_assistant"),
    ("keys in a list", "complete.object_files.completion", _ASSISTANT, "test_keys_of_one_in_a_list"),
    ("keys in JSON", "complete.object_files.json_items", _ASSISTANT, "test_keys_in_json"),
    ("keys of a criterion", "complete.object_files.completion", _ASSISTANT, "test_keys_of_a_criterion_are_those_of_its_type"),
    ("enum values", "complete.object_files.completion", _ASSISTANT, "test_values"),
    ("enum values in JSON", "complete.object_files.json_items", _ASSISTANT, "test_values_in_json"),
    ("types of criteria", "complete.object_files.completion", _ASSISTANT, "test_types_of_criteria_tell_what_they_are"),
    ("models", "complete.object_files.completion", _ASSISTANT, "test_models_are_tiers_and_ids"),
    ("tools", "complete.object_files.completion", _ASSISTANT, "test_tools_that_an_assistant_may_use"),
    ("hover per field", "hover.object_files", _ASSISTANT, "test_hover_on_every_field"),
    ("hover per field of a criterion", "hover.object_files", _ASSISTANT, "test_hover_on_every_field_of_a_criterion"),
    ("hover per criterion", "hover.object_files", _ASSISTANT, "test_hover_on_every_criterion"),
    ("lens: start", "lenses.object_files", "test_assistant_features", "test_UP_18_lenses_are_the_same_for_both_endings"),
    ("lens: stop, with the badge", "lenses.object_files", "test_assistant_loops",
     "test_AB_141_three_of_ten_are_a_badge_and_30_percent"),
    ("lens: approve and reject", "lenses.object_files", "test_assistant_features",
     "test_a_loop_that_waits_can_be_answered"),
    ("inlay: iterations times budget", "inlay_hints.assistant", "test_assistant_features",
     "test_what_a_loop_may_cost_is_a_hint_and_no_finding"),
)  # fmt: skip

ENHANCE = _rows(
    "enhance: settings and editor surface",
    "",
    ("every knob", "complete.object_files.completion", _ASSISTANT, "test_knobs_of_enhance_loops"),
    ("knobs of one workflow, and its switch", "complete.object_files.completion", _ASSISTANT,
     "test_knobs_of_one_workflow_and_its_switch"),
    ("the workflows that may have an entry", "complete.object_files.completion", _ASSISTANT,
     "test_the_workflows_that_may_be_improved"),
    ("the default of every knob", "complete.object_files.completion", _ASSISTANT, "test_the_default_of_every_knob_is_offered"),
    ("all values of a knob", "complete.object_files.completion", _ASSISTANT, "test_all_values_of_a_knob"),
    ("planner", "complete.object_files.completion", _ASSISTANT, "test_planners_are_providers_and_their_models"),
    ("pool of fallbacks", "complete.object_files.completion", _ASSISTANT, "test_an_entry_of_the_pool_is_a_provider_and_a_model"),
    ("hover on every knob", "hover.object_files", _ASSISTANT, "test_hover_on_every_knob"),
    ("lens: switch", "lenses.enhance", "test_rounds", "test_the_first_line_has_the_switch"),
    ("lens: progress and money", "lenses.enhance", "test_rounds",
     "test_EB_088_while_it_runs_the_counter_and_the_money_are_shown"),
    ("lens: pause", "lenses.enhance", "test_rounds", "test_what_may_be_chosen_while_it_waits"),
    ("inlay: changed steps", "inlay_hints.inlay_hints", "test_rounds", "test_steps_that_the_last_round_changed_are_marked"),
    ("failures as findings", "runs.enhance_findings", "test_rounds",
     "test_what_failed_stands_on_its_step_with_its_kind_as_code"),
    ("source.enhance.preview", "lenses.enhance", "test_rounds", "test_what_waits_to_be_looked_at_is_an_action_too"),
)  # fmt: skip

ROWS = (*WORKFLOW, *ROLE_LOOP, *ASSISTANT, *ENHANCE)
