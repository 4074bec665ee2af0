"""What the product is to be best at, each with the module that does it and the test that shows it.

`test_targets` runs every test of this table with its module switched off, and expects it to fail.
"""

from __future__ import annotations

from typing import NamedTuple


class Target(NamedTuple):
    group: str
    feature: str
    module: str
    test: str


def _targets(group: str, *rows: tuple[str, str, str]) -> tuple[Target, ...]:
    return tuple(Target(group, *row) for row in rows)


_FEATURES = "tests/features"

EDITS = _targets(
    "diagnostics and edits",
    ("push", "loop_ls.server.diagnostics.publisher",
     "tests/server/diagnostics/test_diagnostics.py::"
     "test_every_version_is_published_to_a_client_that_does_not_pull"),
    ("pull, one document", "loop_ls.server.diagnostics.publisher",
     "tests/server/diagnostics/test_diagnostics.py::"
     "test_a_pulled_report_is_unchanged_until_it_changes"),
    ("pull, workspace", "loop_ls.server.diagnostics.workspace_stream",
     "tests/server/diagnostics/test_diagnostics.py::"
     "test_the_workspace_stream_hears_of_an_edit"),
    ("related information", "loop_ls.features.runs.run_findings",
     "tests/server/runs/test_commands.py::"
     "test_verdicts_stand_on_the_until_line_until_the_loop_is_edited"),
    ("page of every rule", "loop_ls.server.diagnostics.convert",
     "tests/server/diagnostics/test_diagnostics.py::"
     "test_a_finding_leads_to_the_page_of_its_rule"),
    ("silence in place", "loop_ls.rules.engine.suppression",
     "tests/rules/engine/test_suppression.py::"
     "test_UP_16_a_comment_on_or_above_the_line_silences_the_rule_it_names"),
    ("silence in place, action", "loop_ls.features.actions.suppress",
     "tests/rules/engine/test_suppression.py::"
     "test_UP_16_the_action_writes_the_comment_and_changes_nothing_else"),
    ("quick fix", "loop_ls.features.actions.code_actions",
     f"{_FEATURES}/actions/test_actions.py::"
     "test_fixes_of_the_findings_at_the_place_preferred_and_safe_ones_first"),
    ("fix all", "loop_ls.features.actions.code_actions",
     f"{_FEATURES}/actions/test_actions.py::"
     "test_UP_13_fixing_everything_checks_again_after_each_pass"),
    ("extract", "loop_ls.features.actions.extract_workflow",
     f"{_FEATURES}/actions/test_extract.py::"
     "test_the_prompt_and_its_model_move_and_variables_become_arguments"),
    ("step's loop and loop of its own", "loop_ls.features.actions.inline_loop",
     f"{_FEATURES}/actions/test_loop_places.py::"
     "test_a_loop_of_a_step_becomes_a_loop_of_its_own"),
    ("did you mean", "loop_ls.formats.common.did_you_mean", "tests/formats/common/test_did_you_mean.py::test_WF501_nearest"),
    ("format", "loop_ls.features.formatting", f"{_FEATURES}/test_formatting.py::test_blanks_and_empty_lines"),
    ("on type", "loop_ls.features.on_type",
     f"{_FEATURES}/test_shape_of_text.py::"
     "test_a_fresh_line_is_indented_like_its_siblings"),
)  # fmt: skip

WRITING = _targets(
    "completion and hover",
    ("keys", "loop_ls.features.complete.items.keys", f"{_FEATURES}/complete/test_completion_keys.py::test_D_keys_of_every_shape"),
    ("values", "loop_ls.features.complete.items.values",
     f"{_FEATURES}/complete/test_completion_values.py::"
     "test_D_values_with_the_default_first"),
    ("providers and models", "loop_ls.features.complete.items.models",
     f"{_FEATURES}/complete/test_completion_values.py::"
     "test_D_models_are_those_of_the_provider"),
    ("roles", "loop_ls.features.complete.object_files.role_loop",
     f"{_FEATURES}/test_role_loop_features.py::"
     "test_roles_are_offered_with_what_they_may_do"),
    ("workflow names", "loop_ls.features.complete.items.callees",
     f"{_FEATURES}/complete/test_completion_values.py::"
     "test_D_workflows_neighbours_first_by_bare_name"),
    ("variables", "loop_ls.features.complete.items.variables",
     f"{_FEATURES}/complete/test_completion_variables.py::"
     "test_D_in_the_with_of_a_refine_loop_loop_variables_come_first"),
    ("snippets", "loop_ls.features.complete.items.elements", f"{_FEATURES}/complete/test_completion_keys.py::test_D_whole_elements"),
    ("context of another file", "loop_ls.features.complete.items.arguments",
     f"{_FEATURES}/complete/test_completion_values.py::"
     "test_D_with_offers_the_parameters_of_the_callee"),
    ("paths", "loop_ls.features.complete.items.paths",
     f"{_FEATURES}/complete/test_completion_paths.py::"
     "test_files_of_the_folder_that_is_typed"),
    ("resolve", "loop_ls.features.complete.describe",
     f"{_FEATURES}/complete/test_completion_values.py::"
     "test_an_element_explains_itself"),
    ("hover", "loop_ls.features.hover.hover", f"{_FEATURES}/hover/test_hover.py::test_D_keys_and_values"),
    ("hover, last run", "loop_ls.features.docs.variable",
     f"{_FEATURES}/hover/test_hover.py::"
     "test_a_variable_tells_what_it_was_in_the_last_run"),
    ("hover on variables", "loop_ls.features.docs.variable",
     f"{_FEATURES}/hover/test_hover.py::"
     "test_D_variables_tell_producer_value_and_emptiness"),
)  # fmt: skip

NAVIGATION = _targets(
    "navigation",
    ("definition", "loop_ls.features.definition", f"{_FEATURES}/test_definition.py::test_D_definition"),
    ("definition, over files", "loop_ls.features.definition",
     f"{_FEATURES}/test_definition.py::"
     "test_the_input_of_a_callee_leads_to_its_callers"),
    ("references", "loop_ls.features.references",
     f"{_FEATURES}/rename/test_references.py::"
     "test_a_step_from_any_of_its_places"),
    ("rename", "loop_ls.features.rename.rename",
     f"{_FEATURES}/rename/test_rename.py::"
     "test_UP_22_a_step_is_renamed_in_all_its_homes_and_prose_is_left_alone"),
    ("rename, role", "loop_ls.features.rename.roles",
     f"{_FEATURES}/rename/test_role_names.py::"
     "test_a_role_is_renamed_wherever_it_takes_a_turn"),
    ("prepare rename", "loop_ls.features.rename.rename",
     f"{_FEATURES}/rename/test_rename.py::"
     "test_prepare_answers_the_word_or_the_reason"),
    ("highlight", "loop_ls.features.highlight",
     f"{_FEATURES}/rename/test_references.py::"
     "test_highlight_tells_reading_from_writing"),
    ("symbols", "loop_ls.features.symbols.document_symbols", f"{_FEATURES}/symbols/test_symbols.py::test_sections_elements_and_their_parts"),
    ("workspace symbols", "loop_ls.features.symbols.workspace_symbols",
     f"{_FEATURES}/test_navigation.py::"
     "test_workspace_symbols_best_first_with_their_workflow"),
    ("links", "loop_ls.features.links", f"{_FEATURES}/test_navigation.py::test_links_to_called_workflows_and_to_files"),
    ("call hierarchy", "loop_ls.features.call_hierarchy",
     f"{_FEATURES}/test_navigation.py::"
     "test_who_calls_and_who_is_called"),
    ("linked editing", "loop_ls.features.linked_editing",
     f"{_FEATURES}/test_navigation.py::"
     "test_a_name_and_its_uses_are_typed_over_together"),
)  # fmt: skip

PRESENTATION = _targets(
    "presentation",
    ("folding", "loop_ls.features.folding",
     f"{_FEATURES}/test_shape_of_text.py::"
     "test_sections_elements_texts_collections_and_comments_fold"),
    ("selection", "loop_ls.features.selection",
     f"{_FEATURES}/test_shape_of_text.py::"
     "test_selection_grows_from_the_word_to_the_file"),
    ("tokens", "loop_ls.features.semantic_tokens.tokens",
     f"{_FEATURES}/test_presentation.py::"
     "test_variables_by_kind_references_and_keys_without_effect"),
    ("braces in prompts", "loop_ls.features.semantic_tokens.tokens", f"{_FEATURES}/test_presentation.py::test_braces_are_operators"),
    ("hints", "loop_ls.features.inlay_hints.inlay_hints",
     f"{_FEATURES}/test_presentation.py::"
     "test_UP_49_what_counts_without_being_written"),
    ("hints, last result", "loop_ls.features.inlay_hints.inlay_hints",
     f"{_FEATURES}/test_presentation.py::"
     "test_the_last_run_at_name_and_condition"),
    ("lenses", "loop_ls.features.lenses.lenses",
     f"{_FEATURES}/lenses/test_lenses.py::"
     "test_what_may_be_run_and_what_it_costs_at_most"),
    ("lenses, references", "loop_ls.features.lenses.lenses",
     f"{_FEATURES}/lenses/test_lenses.py::"
     "test_a_workflow_says_how_often_it_is_called"),
)  # fmt: skip

PLATFORM = _targets(
    "platform",
    ("sync", "loop_ls.server.documents.text_sync",
     "tests/server/documents/test_text_sync.py::test_what_lsp_calls_a_line_is_a_line"),
    ("several folders", "loop_ls.server.documents.folders",
     "tests/server/rpc/test_process.py::"
     "test_UP_35_two_folders_are_kept_apart"),
    ("index", "loop_ls.server.documents.indexing",
     "tests/server/routes/test_references_rename.py::"
     "test_rename_of_a_workflow_reaches_files_that_are_not_open"),
    ("index, ignore files", "loop_ls.index.disk.ignored",
     "tests/index/disk/test_ignored.py::"
     "test_an_inner_file_speaks_for_its_folder_and_against_an_outer_one"),
    ("watched files", "loop_ls.server.routes.workspace_changes",
     "tests/server/rpc/test_process.py::"
     "test_files_that_change_on_disk_are_read_again"),
    ("progress", "loop_ls.server.runs.progress",
     "tests/server/runs/test_commands.py::test_progress_is_begun_reported_and_ended"),
    ("cancel", "loop_ls.server.rpc.message_queue",
     "tests/server/rpc/test_message_queue.py::"
     "test_a_request_cancelled_in_the_same_batch_is_never_looked_at"),
    ("command line", "loop_ls.cli.commands.check", "tests/cli/commands/test_check.py::test_text_for_people"),
    ("formats, SARIF", "loop_ls.report.as_sarif",
     "tests/cli/commands/test_check_formats.py::"
     "test_sarif_has_the_fix_and_paths_as_seen_from_here"),
    ("formats, GitHub", "loop_ls.report.as_github",
     "tests/cli/commands/test_check_formats.py::"
     "test_github_has_one_line_for_each_finding_and_nothing_else"),
    ("formats, JUnit", "loop_ls.report.as_junit",
     "tests/cli/commands/test_check_formats.py::"
     "test_junit_fails_what_the_command_fails_for"),
    ("formats, JSON", "loop_ls.report.as_json",
     "tests/cli/commands/test_check.py::"
     "test_json_is_one_object_with_everything_in_it"),
    ("exit status", "loop_ls.cli.commands.check", "tests/cli/commands/test_check.py::test_exit_status"),
)  # fmt: skip

TARGETS = (*EDITS, *WRITING, *NAVIGATION, *PRESENTATION, *PLATFORM)
