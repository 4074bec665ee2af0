"""What is seen at the far end by a test of another room, which has the server, the program or the terminal for it.

Such a test writes the key into a file or gives the option to a command, and names it.
"""

from __future__ import annotations

from collections.abc import Mapping


def _under(path: str, tests: Mapping[str, str]) -> dict[str, str]:
    """Tests of one file by what they show."""
    return {name: f"{path}::{test}" for names, test in tests.items() for name in names.split(", ")}


_TOOLS = "tests/engine/tools"
_ENGINE = "tests/engine"
_CLI = "tests/cli"

#: Settings of an enhance loop that count where cases lie beside its workflow.
EVIDENCE = (
    *("minPassRate", "confidence", "confirmRuns", "minibatch", "acceptProbability"),
    *("holdoutRuns", "maxTrialsPerText", "maxTrials"),
)

KEYS: dict[str, str] = {
    # -- workflow
    **_under(f"{_TOOLS}/test_steps_with_tools.py", {
        "workflow: execution.servers, workflow: step.servers":
            "test_WB_120_the_servers_of_a_step_replace_those_of_execution",
        "workflow: execution.max_iterations, workflow: step.max_iterations":
            "test_WB_121_a_model_that_asks_for_tools_for_ever_fails_its_step",
    }),
    **_under(f"{_TOOLS}/test_rag.py", {
        "workflow: step.rag, workflow: rag.query, workflow: rag.top_k, workflow: rag.fusion":
            "test_WB_025_results_number_and_method_can_be_read_by_name",
        "workflow: rag.server": "test_WB_160_what_cannot_be_searched_is_named",
        "workflow: rag.strategies, settings: store.tool, settings: store.provider, settings: store.model, "
        "settings: store.dimensions, "
        "settings: store.server, settings: store.strategies, settings: store.textColumns, settings: rag.stores, "
        "settings: strategy.weight, settings: strategy.threshold":
            "test_WB_160_a_store_says_which_tool_which_columns_and_who_makes_the_vector",
        "workflow: rag.output_format": "test_WB_160_other_formats_are_compact_json_and_text",
        "settings: rag.maxExpansions": "test_WB_160_a_project_says_how_far_a_query_is_expanded",
        "settings: rag.fusion": "test_WB_160_a_project_says_how_results_become_one_list",
        "workflow: rag.expand_query, settings: rag.synonyms, settings: rag.acronyms":
            "test_WB_160_a_query_is_expanded_by_the_word_lists_of_the_project",
        "settings: settings.rag, settings: settings.servers, settings: rag.server, settings: rag.topK":
            "test_WB_122_without_a_server_the_configured_default_is_searched",
    }),
    **_under(f"{_TOOLS}/test_rag_in_postgres.py", {
        "settings: store.databaseUrlEnv, settings: store.table, settings: strategy.column":
            "test_a_threshold_leaves_the_others_out",
        "settings: store.idColumn": "test_a_store_says_which_column_tells_documents_apart",
        "settings: store.metadataColumns": "test_without_columns_all_text_is_shown",
    }),
    **_under(f"{_TOOLS}/test_sessions.py", {
        "settings: server.command": "test_a_program_that_is_not_there_is_named",
        "settings: server.args": "test_a_server_gets_the_words_of_its_args",
        "settings: server.cwd": "test_a_server_starts_in_the_folder_that_its_entry_names",
        "settings: server.env": "test_the_environment_of_a_server_is_reduced_to_what_its_entry_names",
        "settings: server.timeoutSeconds": "test_a_server_that_never_answers_is_left",
    }),
    **_under(f"{_TOOLS}/test_over_http.py", {
        "settings: server.url, settings: server.headers, settings: server.type":
            "test_a_tool_is_called_over_http_with_the_headers_of_its_entry",
    }),
    **_under("tests/wired/test_command_options.py", {
        "workflow: execution.logging": "test_a_file_may_ask_for_as_much_as_the_option_verbose",
    }),
    # -- assistants
    **_under(f"{_ENGINE}/assistants/test_failures.py", {
        "assistant: assistant.permissionMode, "
        "assistant: assistant file.permissionMode":
            "test_AB_096_a_loop_asks_nobody_for_permission",
        "assistant: assistant.maxBudgetUsd, "
        "assistant: assistant file.maxBudgetUsd":
            "test_AB_097_the_narrowest_budget_counts",
        "assistant: assistant.allowedTools, "
        "assistant: assistant file.allowedTools":
            "test_AB_098_the_agent_gets_them_as_one_word",
        "assistant: assistant.purpose, "
        "assistant: assistant file.purpose":
            "test_AB_160_the_model_is_the_own_one_else_the_settings_else_that_of_the_purpose",
    }),
    **_under(f"{_ENGINE}/assistants/test_people.py", {
        "assistant: assistant.approvalTimeoutSeconds, "
        "assistant: assistant file.approvalTimeoutSeconds":
            "test_AB_163_an_approval_may_have_a_limit",
    }),
    **_under(f"{_ENGINE}/protection/test_assistants.py", {
        "settings: settings.protect, settings: protect.files, settings: protect.allow":
            "test_UP_93_the_settings_protect_more_and_allow_some",
    }),
    **_under(f"{_ENGINE}/runners/test_step_caps.py", {
        "settings: provider settings.usagePercent":
            "test_above_its_share_of_a_usage_window_nothing_more_is_started_until_the_reset",
    }),
    **_under(f"{_ENGINE}/isolation/test_assistants.py", {
        "assistant: assistant.isolate, assistant: assistant file.isolate":
            "test_each_iteration_is_a_commit_and_the_users_files_stay",
        "settings: settings.isolate":
            "test_the_settings_say_it_for_every_run_and_for_one_agent",
    }),
    **_under(f"{_ENGINE}/isolation/test_steps_and_stages.py", {
        "settings: provider settings.isolate": "test_a_step_of_an_agent_that_says_it_works_there",
        "settings: role.isolate": "test_a_role_that_says_it_works_there_and_its_loop_with_it",
    }),
    **_under(f"{_ENGINE}/runs/test_notifications.py", {
        "settings: settings.notify": "test_UP_86_the_end_of_a_run_is_told_once_with_its_state",
    }),
    **_under(f"{_ENGINE}/assistants/test_http.py", {
        "settings: settings.assistants, settings: assistants.revise":
            "test_AB_067_a_revision_goes_on_where_the_project_allows_it",
    }),
    # -- role loops
    **_under(f"{_ENGINE}/roles/test_termination.py", {
        "role loop: tool.tool, role loop: tool.arguments, role loop: tool.operator, role loop: tool.threshold, "
        "role loop: tool.max_iterations": "test_RB_141_a_tool_that_measures_ends_the_loop",
        "role loop: termination condition.hard": "test_RB_060_a_hard_deadline_starts_no_further_stage",
    }),
    **_under(f"{_ENGINE}/roles/test_records.py", {
        "role loop: role stage.requires_artifact_from":
            "test_RB_077_without_the_artifact_that_it_requires_a_stage_fails_before_its_agent",
    }),
    # -- checks and test cases
    **_under(f"{_ENGINE}/checks/test_run_checks.py", {
        "checks: checks file.assert, checks: check.on, checks: check.type, checks: check.name":
            "test_each_check_is_decided_right_after_its_step_and_at_the_end",
        "checks: check.value, checks: check.optional": "test_a_failed_check_fails_the_run_and_its_result_stays",
        "checks: check.severity": "test_what_only_warns_fails_nothing",
        "checks: check.every": "test_each_iteration_counts_where_the_check_says_so",
        "checks: check.threshold": "test_a_rubric_below_its_threshold_fails_and_one_without_a_verdict_is_an_error",
        "checks: check.votes": "test_most_votes_count",
        "checks: check.provider, checks: check.model": "test_a_rubric_may_name_the_model_that_judges",
        "checks: check.timeout": "test_a_command_that_takes_longer_than_its_timeout_fails",
    }),
    **_under(f"{_ENGINE}/checks/test_evaluate.py", {
        "checks: check.equals, checks: check.min, checks: check.max, checks: check.path": "test_texts",
        "checks: check.weight": "test_a_score_is_the_mean_by_weight_and_a_warning_fails_nothing",
    }),
    **_under(f"{_CLI}/commands/test_test_cases.py", {
        "test cases: cases file.tests, test cases: case.name, test cases: case.vars, test cases: case.without, "
        "test cases: case.assert, test cases: case.skip": "test_each_case_is_run_and_a_failed_check_is_told",
        "checks: checks file.verifiers": "test_a_verifier_has_to_say_pass_in_a_run_that_is_judged",
    }),
    **_under(f"{_ENGINE}/enhance/test_real_engine.py", {
        "test cases: case.holdout, checks: check.hint":
            "test_EB_124_cases_beside_a_workflow_are_what_a_plan_is_tried_on",
        "checks: check.reveal":
            "test_EB_124_what_a_check_looks_for_is_shown_to_the_planner_where_the_check_reveals_it",
    }),
    # -- settings
    **_under(f"{_ENGINE}/enhance/test_every_setting.py", {
        f"settings: {place}.{setting}": "test_EB_128_a_setting_changes_what_a_loop_does"
        for place in ("enhance", "enhanced workflow")
        for setting in EVIDENCE
    }),
    **_under("tests/features/complete/test_completion_values.py", {
        "settings: provider settings.models": "test_D_models_are_those_of_the_provider",
    }),
    **_under(f"{_CLI}/commands/test_check.py", {
        "settings: settings.rules": "test_settings_of_the_project_change_rules",
    }),
    **_under(f"{_CLI}/commands/test_hostile_folder.py", {
        "settings: engine.dataDir": "test_a_data_folder_that_a_setting_names_is_made_here_and_used_again",
    }),
    **_under(f"{_ENGINE}/providers/test_answers.py", {
        "settings: settings.providers, settings: provider settings.baseUrl, "
        "settings: provider settings.apiKeyEnv": "test_any_base_url_works_with_a_key_of_its_own",
    }),
    **_under(f"{_ENGINE}/providers/test_limits.py", {
        "settings: provider settings.maxConcurrency": "test_calls_at_once_are_bounded_over_all_runs",
        "settings: provider settings.tokensPerMinute":
            "test_all_runs_share_the_tokens_of_a_provider_and_hear_why_they_wait",
    }),
    **_under(f"{_ENGINE}/providers/test_faults.py", {
        "settings: provider settings.timeoutSeconds": "test_WB_118_without_a_timeout_the_providers_own_counts",
    }),
    **_under(f"{_ENGINE}/providers/test_reaching.py", {
        "settings: provider settings.firstTokenSeconds": "test_the_first_word_has_a_limit_of_its_own",
        "settings: provider settings.idleSeconds": "test_how_long_an_answer_may_stop_is_a_setting",
    }),
    **_under(f"{_ENGINE}/providers/test_standing_in.py", {
        "settings: provider settings.defaultModel": "test_a_fallback_without_a_model_takes_its_own",
        "settings: provider settings.fallback":
            "test_a_fallback_answers_for_a_provider_that_is_out_of_order",
    }),
    **_under(f"{_ENGINE}/providers/test_vectors.py", {
        "settings: provider settings.embeddingModel": "test_without_a_model_the_providers_own_is_asked",
    }),
    **_under(f"{_ENGINE}/providers/test_pydantic_ai.py", {
        "settings: provider settings.vendor": "test_the_vendor_may_be_named",
    }),
    **_under(f"{_ENGINE}/assistants/test_starting.py", {
        "settings: provider settings.speaks, settings: provider settings.cli, settings: provider settings.kind":
            "test_AB_097_a_cap_on_dollars_is_refused_for_an_agent_that_never_says_what_it_has_cost",
    }),
    **_under(f"{_CLI}/commands/test_one_file.py", {
        "settings: provider settings.script, settings: provider settings.price, settings: price.input, "
        "settings: price.output": "test_estimate_shows_the_costs_that_a_script_shows",
        "workflow: workflow.description, role loop: role loop.description, role loop: parameter.description, "
        "assistant: assistant.description, assistant: assistant file.description":
            "test_definitions_lists_every_format_with_inputs_and_limits",
    }),
    **_under(f"{_ENGINE}/money/test_caps_in_force.py", {
        "settings: limits.budgetUsd": "test_a_cap_of_the_settings_is_as_good_and_is_seen_in_every_state",
    }),
    **_under(f"{_ENGINE}/money/test_shared_caps.py", {
        "settings: shared-limits.budgetUsd":
            "test_a_run_ends_before_the_call_that_could_pass_what_all_runs_may_cost",
    }),
    # -- enhance
    **_under(f"{_ENGINE}/enhance/test_other_files.py", {
        "settings: enhance.files, settings: enhanced workflow.files":
            "test_EB_131_a_plan_edits_a_called_workflow_and_the_next_round_runs_it",
    }),
    **_under(f"{_ENGINE}/enhance/test_ending.py", {
        "settings: enhance.pauseBetweenRounds, settings: enhanced workflow.pauseBetweenRounds":
            "test_EB_075_a_proposal_waits_for_a_person",
        "settings: enhance.pauseTimeoutSeconds, settings: enhanced workflow.pauseTimeoutSeconds":
            "test_EB_075_a_pause_does_not_last_for_ever_where_somebody_says_so",
        "settings: enhance.onGiveUp, settings: enhanced workflow.onGiveUp": "test_EB_086_the_first_text_comes_back",
    }),
    **_under(f"{_ENGINE}/enhance/test_applying.py", {
        "settings: enhance.ackTimeoutSeconds, settings: enhanced workflow.ackTimeoutSeconds":
            "test_EB_061_a_yes_without_a_change_is_no_arrival",
    }),
}  # fmt: skip

OPTIONS: dict[str, str] = {
    **_under(f"{_CLI}/engine/test_ui.py", {
        "ui --no-browser, ui --role": "test_the_address_lets_one_browser_in_and_nothing_of_it_is_kept",
        "ui --port": "test_a_port_is_for_an_engine_that_this_command_starts",
    }),
    **_under(f"{_CLI}/commands/test_run_part.py", {
        "run --start-from, run --outputs-of": "test_WB_169_a_run_begins_at_a_step_with_what_the_others_gave_before",
        "run --pin": "test_WB_169_a_pinned_output_stands_for_a_step",
    }),
    **_under(f"{_CLI}/runs/test_runs_compare.py", {
        "runs compare --full": "test_two_runs_stand_side_by_side_with_what_differs",
        "run --compare": "test_one_start_runs_with_each_model_and_compares",
    }),
    **_under(f"{_CLI}/commands/test_new.py", {
        "new --approval": "test_an_assistant_without_a_key_ends_by_its_pattern",
    }),
    **_under(f"{_CLI}/commands/test_check.py", {
        "check --enable": "test_profiles_and_single_rules_are_switched_on_and_off",
        "check --root": "test_a_file_outside_of_the_root_has_an_absolute_path",
        "check --baseline, check --write-baseline": "test_a_baseline_accepts_what_is_there_and_shows_what_is_new",
    }),
    **_under(f"{_CLI}/commands/test_check_formats.py", {
        "check --fail-on": "test_junit_fails_what_the_command_fails_for",
    }),
    **_under(f"{_CLI}/commands/test_enhance_trust.py", {
        "run --plain": "test_a_workflow_that_is_enhanced_in_the_editor_runs_everywhere",
        "enhance --status, enhance --skip": "test_a_loop_skips_the_change_of_a_round",
        "enhance --stop": "test_a_loop_is_stopped",
        "enhance --reject": "test_feedback_may_reject_a_step",
        "enhance --continue, enhance --revert, enhance --feedback, enhance --text, enhance --step":
            "test_a_loop_is_told_from_another_command",
    }),
    **_under(f"{_CLI}/commands/test_test_cases.py", {
        "run --check": "test_a_run_is_judged_by_the_checks_beside_its_file",
        "test -k, test --repeat": "test_cases_are_chosen_by_name_and_repeated",
        "test --junit": "test_each_case_is_run_and_a_failed_check_is_told",
    }),
    **_under(f"{_CLI}/commands/test_enhance.py", {
        "enhance --timeline": "test_EB_123_a_broken_workflow_converges_in_round_2_and_its_file_is_mended",
    }),
    **_under(f"{_CLI}/commands/test_hostile_folder.py", {
        "run --agree-only": "test_the_owner_agrees_with_the_command_that_a_client_is_told_and_nothing_starts",
    }),
    **_under(f"{_CLI}/runs/test_runs.py", {
        "runs show --full": "test_show_has_every_iteration_with_verdict_question_answer_and_output",
        "runs events --follow": "test_pause_resume_stop",
    }),
    **_under(f"{_CLI}/runs/test_decisions.py", {
        "runs approve --feedback, runs reject --feedback, runs reject --revise":
            "test_a_person_sends_a_loop_back_and_then_lets_it_end",
        "runs reject --restore":
            "test_UP_92_protected_files_are_put_back_from_the_terminal_that_says_what_to_type",
    }),
    **_under(f"{_ENGINE}/people/test_gaps.py", {
        "runs answer --text, runs answer --question, runs inbox --after":
            "test_the_inbox_of_a_terminal_says_what_to_type_and_takes_it",
    }),
    **_under(f"{_CLI}/runs/test_changes.py", {
        "runs restore --iteration, runs restore --loop":
            "test_a_run_in_a_worktree_is_shown_restored_and_applied_from_the_terminal",
    }),
    **_under(f"{_CLI}/runs/test_artifacts.py", {
        "runs artifacts --project": "test_with_project_those_of_all_its_loops_are_listed",
    }),
    **_under(f"{_CLI}/engine/test_engine.py", {
        "engine start --foreground": "test_a_second_engine_leaves_at_once",
        "engine start --port": "test_a_taken_port_is_one_sentence",
        "engine start --idle-exit": "test_an_idle_engine_leaves",
        "engine start --log-format, engine start --log-level":
            "test_an_engine_in_the_background_logs_as_it_is_told",
        "engine start --database-url": "test_an_engine_is_told_which_database_it_shares",
        "engine repair --accept":
            "test_a_journal_that_lost_its_log_is_told_and_accepted_by_a_person",
    }),
    **_under(f"{_CLI}/engine/test_leaving.py", {
        "engine stop --now": "test_a_second_word_cuts_it_and_says_so",
    }),
    **_under(f"{_ENGINE}/cluster/test_deploy.py", {
        "engine worker --database-url, engine worker --probe-port, engine worker --log-format, "
        "engine worker --log-level":
            "test_a_worker_takes_its_database_port_and_manner_of_logging_from_its_options",
    }),
    **_under("tests/wired/test_command_options.py", {
        "runs fork --yes": "test_a_fork_is_agreed_to_in_its_command",
        "test-until --yes": "test_the_endpoint_of_a_judge_is_agreed_to_in_the_command",
        "runs approve --loop, runs reject --loop": "test_a_question_is_chosen_by_its_loop",
    }),
    **_under("tests/server/test_serve.py", {
        "serve --log-file": "test_the_log_goes_to_the_file_that_is_named",
        "serve --tcp, serve --log-level": "test_one_client_is_served_over_tcp",
        "serve --stdio, serve --clientProcessId": "test_what_vscode_adds_to_the_command_line_is_accepted",
    }),
    **_under(f"{_CLI}/commands/test_demo.py", {
        "demo --into, demo --all": "test_the_file_that_is_mended_is_broken_again_the_next_time",
    }),
    **_under(f"{_CLI}/servers/test_mcp_readonly_shell.py", {
        "mcp --readonly-shell": "test_an_agent_reads_by_it_and_nothing_else",
    }),
    **_under(f"{_ENGINE}/roles/test_stage_agents.py", {
        "mcp --stage": "test_RB_105_an_agent_program_uses_tools_of_its_stage_while_it_lasts",
    }),
}  # fmt: skip

#: The code of a refusal, and the test that is refused with it over the wire or by a command.
REFUSALS: dict[str, str] = {
    **_under(f"{_ENGINE}/api/test_pain_of_surfaces.py", {
        "file_has_errors, input_required, bad_argument, engine_not_ready":
            "test_UP_55_each_reason_not_to_start_has_its_code_its_sentence_and_what_to_do",
    }),
    **_under(f"{_CLI}/commands/test_hostile_folder.py", {"consent_required": "test_no_byte_leaves_before_consent"}),
    **_under("tests/server/test_refusals.py", {
        "not_trusted": "test_nothing_is_run_in_a_workspace_that_is_not_trusted",
    }),
    **_under(f"{_ENGINE}/assistants/test_control.py", {
        "already_running": "test_AB_105_an_assistant_has_one_loop_at_a_time_and_a_stop_makes_room",
    }),
    **_under(f"{_CLI}/test_curl.py", {
        "not_found, forbidden": "test_every_refusal_of_the_table_of_loops",
    }),
    **_under(f"{_CLI}/runs/test_runs_again.py", {"wrong_status": "test_who_is_not_asked_cannot_answer"}),
    **_under(f"{_ENGINE}/control/test_trying_conditions.py", {
        "limit_reached": "test_a_trial_respects_the_caps_of_the_project",
    }),
    **_under(f"{_ENGINE}/api/test_loops.py", {
        "idempotency_conflict":
            "test_WB_168_a_start_that_is_sent_again_with_its_key_is_the_same_run_and_another_one_is_409",
    }),
    **_under(f"{_ENGINE}/roles/test_stage_agents.py", {
        "provider_unavailable": "test_RB_135_a_provider_without_its_key_is_said_at_the_start",
    }),
}  # fmt: skip
