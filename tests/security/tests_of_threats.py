"""Which tests hold the stop of each threat in docs/threats.md."""

from __future__ import annotations

TESTS = {
    "guessing a password, also of many names, in another spelling, from another session": (
        "test_after_ten_wrong_passwords_for_a_name_no_other_is_looked_at_from_there",
        "test_guessing_at_many_names_from_one_address_ends_too",
        "test_another_spelling_of_a_name_is_the_same_name",
        "test_another_session_is_the_same_guesser",
    ),
    "a false `X-Forwarded-For`": ("test_a_header_that_anybody_can_send_is_not_believed",),
    "guessing while Redis hangs or is away": (
        "test_a_password_is_guessed_ten_times_while_redis_hangs",
    ),
    "guessing at a copy of the database": (
        "test_a_new_password_is_stored_at_the_least_cost_that_owasp_recommends",
    ),
    "learning who has an account, by the time it takes, the message or a new password": (
        "test_an_unknown_name_takes_as_long_as_a_known_one",
        "test_an_unknown_name_is_told_the_same",
        "test_who_asks_is_told_the_same",
    ),
    "a stolen password; the admin, the API, a new password, a provider as a way round the second factor": (
        "test_the_password_alone_logs_nobody_in",
        "test_the_admin_s_log_in_asks_for_the_code_too",
        "test_a_token_needs_the_code",
        "test_the_second_factor_is_asked_for_all_the_same",
        "test_whoever_asks_django_by_itself_is_refused",
        "test_the_second_step_follows_where_two_factor_log_in_is_on",
    ),
    "guessing a code, or using one twice": (
        "test_ten_wrong_codes_from_anywhere_are_the_last_for_ten_minutes",
        "test_a_code_is_good_once",
    ),
    "organisers without a second factor": (
        "test_an_organiser_without_a_second_factor_is_none_for_programs_either",
    ),
    "a browser left open: changes, another e-mail address, a token": (
        "test_who_finds_the_browser_open_changes_nothing",
        "test_the_address_is_not_changed_by_who_finds_the_browser_open",
        "test_who_finds_the_browser_open_makes_no_token",
    ),
    "tokens and linked log-ins that outlive a stolen password": (
        "test_a_new_password_says_that_tokens_go_on_working",
        "test_a_new_password_says_that_a_linked_log_in_goes_on_working",
    ),
    "who knows the password changes the address": ("test_the_former_address_is_told",),
    "somebody's link that logs its reader in as them (OpenID Connect), a foreign token": (
        "test_an_answer_that_this_browser_did_not_ask_for_logs_nobody_in",
        "test_a_wrong_token_logs_nobody_in",
    ),
    "an account made beforehand with another's address": (
        "test_who_put_my_address_into_an_account_of_theirs_does_not_get_me_into_it",
    ),
    "going back after a log-out": ("test_no_browser_keeps_a_page_that_was_made_for_somebody",),
    "session fixation, a stolen session": (
        "test_the_session_has_another_key_after_the_log_in",
        "test_a_new_password_ends_the_other_sessions",
    ),
    "a link to a new password on another host, in a Referer or a history, or an old one": (
        "test_the_link_leads_to_the_site_whatever_host_was_asked",
        "test_no_page_with_the_token_in_its_address_is_shown",
        "test_a_link_is_good_for_an_hour",
    ),
    "names that look like another's": ("test_a_name_is_taken_in_whatever_case",),
    "open redirect": ("test_one_returns_to_a_page_of_this_site_only",),
    "log-ins, sessions, tokens, links and queued work of the demo in production": (
        "test_a_demo_s_pass_word_opens_nothing_in_production",
        "test_a_session_of_the_demo_is_logged_out_at_every_address",
        "test_no_operation_of_the_api_takes_a_token_of_the_demo",
        "test_links_that_the_demo_made_let_nobody_in",
        "test_no_judge_is_paid_for_what_the_demo_began",
        "test_an_older_database_s_demo_accounts_are_marked_and_nobody_else_s",
    ),
    "an address that somebody forgot to guard": ("test_no_address_is_missing_from_the_matrices",),
    "another's id in an address (IDOR)": ("test_every_address_with_an_id_is_closed_to_somebody",),
    "a private corpus by its name": ("test_a_private_corpus_answers_like_one_that_does_not_exist",),
    "references of a hidden round at any address": (
        "test_nobody_reads_a_gold_answer_or_the_score_of_a_turn",
    ),
    "a rater who recognises the system": ("test_a_session_of_rating_tells_no_system",),
    "a waiting rating is sent under another log-in": (
        "test_what_a_rater_kept_is_not_stored_as_somebody_elses",
    ),
    "an invitation that was withdrawn, or is for another campaign": (
        "test_an_invitation_that_is_over_is_refused",
        "test_an_invitation_to_another_campaign_is_refused",
    ),
    "a team's old link, or one that leaked": (
        "test_a_renewed_link_makes_the_old_one_void",
        "test_a_revoked_link_lets_nobody_in_until_there_is_a_new_one",
    ),
    "who joined a team by it, and pushes the others out": (
        "test_a_removed_member_has_no_access_at_once",
        "test_whoever_joined_last_cannot_push_out_those_who_were_there",
    ),
    "a removed member who comes back, or gets a second team's attempts": (
        "test_a_removed_member_does_not_come_back_by_the_same_link",
        "test_a_removed_member_who_submitted_gets_no_second_team_s_attempts",
    ),
    "who joined a campaign by a leaked link": (
        "test_no_link_and_no_group_lets_a_removed_rater_in_again",
    ),
    "a rater or participant who becomes an organiser; a token of who is none any more": (
        "test_no_invitation_and_no_form_makes_an_organiser",
        "test_organise_needs_the_role_when_it_is_used",
    ),
    "fields that a form or body did not ask for": ("test_no_field_is_set_that_was_not_asked_for",),
    "a form that another site sends (CSRF), the API with a visitor's session": (
        "test_no_address_takes_a_form_without_the_page_s_token",
        "test_the_api_takes_no_session",
    ),
    "one attempt more": ("test_of_twenty_uploads_at_once_exactly_five_are_taken",),
    "a log that is changed afterwards": ("test_the_database_refuses_a_change",),
    "markup in any text or address (stored XSS)": (
        "test_no_page_of_any_role_holds_a_text_as_markup",
        "test_an_address_comes_back_as_text",
    ),
    "a script that got in all the same": ("test_every_page_has_the_strict_content_policy",),
    "a page in another's frame": ("test_every_kind_of_answer_carries_them",),
    "an upload that a browser runs": (
        "test_the_file_comes_back_as_an_attachment_and_is_never_shown",
    ),
    "a formula in a CSV file, also where a spreadsheet splits a text": (
        "test_whoever_writes_csv_knows_of_formulas",
        "test_no_cell_is_a_formula_wherever_a_spreadsheet_splits",
    ),
    "`../` in a file's name": ("test_a_file_name_is_for_reading_only",),
    "a path on the server in a metric's option": (
        "test_only_who_may_compute_asks_whether_a_file_or_folder_is_there",
    ),
    "a compressed body, a zip bomb, an archive as an upload": (
        "test_a_body_that_says_it_is_compressed_is_not_unpacked",
        "test_an_archive_is_not_opened",
    ),
    "a UTF-16 table with an endless row, or an unknown encoding": (
        "test_a_row_without_an_end_is_refused_in_utf_16_too",
    ),
    "a body without end, or a large one for any address": (
        "test_a_request_that_is_too_long_is_refused_before_a_byte_is_read",
        "test_no_address_reads_more_than_a_form_of_somebody_without_a_log_in",
    ),
    "files of somebody who may not send them here, to fill the disk": (
        "test_a_file_of_somebody_without_a_log_in_is_refused_before_it_is_read",
        "test_a_file_of_somebody_who_may_not_send_it_is_refused_before_it_is_read",
    ),
    "hundreds of slow connections (Slowloris), or that do not read the answer": (
        "test_the_site_answers_while_two_hundred_send_a_byte_now_and_then",
        "test_the_site_answers_while_two_hundred_do_not_read_their_answers",
        "test_more_connections_than_there_are_keep_nobody_out",
    ),
    "an account that sends many large files at once": ("test_a_fifth_file_at_once_is_refused",),
    "JSON of great depth, endless numbers": (
        "test_deep_json_is_refused_and_not_an_error_of_the_site",
    ),
    "a system that repeats the references": (
        "test_reference_responses_that_nobody_marked_are_found_by_their_text",
        "test_a_system_that_repeats_the_references_is_gold_wherever_systems_are_compared",
    ),
    "metric scores of responses nobody gave, to look complete": (
        "test_a_file_of_scores_is_counted_against_the_responses_that_there_are",
    ),
    "texts that make a pattern go back and forth (ReDoS)": (
        "test_a_pattern_takes_no_more_than_its_share",
    ),
    "a second line in a mail or a request": ("test_no_second_line_in_the_request",),
    "a host that is not ours": ("test_every_page_answers",),
    "half a corpus, of a killed import": ("test_half_an_import_is_seen_by_nobody",),
    "a large import or campaign that keeps raters waiting": (
        "test_others_write_while_a_large_corpus_is_imported",
        "test_a_rater_of_another_campaign_rates_while_a_large_campaign_is",
    ),
    "a webhook, or an address of a corpus, that leads inside or redirects there (SSRF)": (
        "test_an_address_that_is_not_of_the_internet_at_large",
        "test_private_networks_are_refused_with_redirects",
    ),
    "a webhook, a chat system, a model or a judge where clouds hand out credentials": (
        "test_an_address_that_nobody_may_be_sent_to",
        "test_an_address_at_which_machines_find_their_keys_is_refused",
    ),
    "a name that is resolved again (DNS rebinding), or by a proxy": (
        "test_a_name_is_looked_up_once_and_what_was_checked_is_called",
        "test_a_model_s_name_is_looked_up_once_and_what_was_checked_is_called",
        "test_a_proxy_of_the_environment_is_not_asked",
    ),
    "a receiver or an endpoint that sends on": (
        "test_what_is_not_taken_is_tried_again_with_growing_pauses",
        "test_a_model_does_not_lead_on_to_another_address",
    ),
    "a receiver that drips": ("test_a_receiver_that_drips_is_hung_up_on",),
    "a paid call whose worker dies or whose answer is lost": (
        "test_the_charge_is_never_less_than_the_bill_whatever_dies_when",
        "test_the_bill_is_never_more_than_the_budget_whatever_dies_when",
        "test_a_prompt_is_charged_at_least_what_the_endpoint_bills_whatever_dies_when",
    ),
    "a response that tells the judge its score (prompt injection)": (
        "test_an_attack_is_found_with_its_kind",
    ),
    "an endpoint that bills answers without a number, or long reasoning": (
        "test_an_endpoint_that_never_gives_a_number_is_asked_three_times_and_the_run_fails",
        "test_the_budget_has_room_for_reasoning_before_it_is_asked_for",
    ),
    "a pickle in Redis, or in a message to a worker": (
        "test_a_pickle_in_the_cache_is_a_miss_and_is_run_by_nobody",
        "test_a_pickle_sent_to_a_worker_is_refused",
    ),
    "a Redis that anybody reaches, or that hangs": (
        "test_a_redis_on_the_network_without_a_password_is_warned_of",
        "test_nobody_waits_long_for_a_redis_that_hangs",
    ),
    "a checkpoint that is a program, a word to a shell": (
        "test_nothing_of_others_is_read_as_code",
        "test_no_shell_is_started",
    ),
    "keys in the log, tokens and recovery codes in the database": (
        "test_a_secret_in_an_exception_s_text_is_hidden_in_both_forms",
        "test_only_the_digest_is_kept",
        "test_recovery_codes_are_kept_as_digests",
    ),
    "a requirement with a known fault": ("test_a_known_vulnerability_is_told_with_what_mends_it",),
    "a response of unknown tokens (emoji, another script) scores 1": (
        "test_texts_that_differ_in_unknown_tokens_alone_never_score_1",
    ),
    "a score or scale of 1e300 in a file": (
        "test_a_score_that_statistics_cannot_square_is_refused_with_its_place",
    ),
    "a worker without `DATABASE_URL`, a staging site on production's prefix, a second site on one `DIALEVAL_HOME`": (
        "test_a_worker_with_another_database_on_a_site_s_home_takes_none_of_its_files",
        "test_a_staging_site_on_the_production_prefix_is_refused",
        "test_a_second_site_on_one_home_is_refused_while_the_first_goes_on",
    ),
    "rows that are lost for a time": (
        "test_a_file_in_quarantine_comes_back_by_itself_when_a_row_names_it",
        "test_where_more_than_a_small_share_has_no_row_nothing_is_moved_and_it_is_said",
    ),
    "raters' names in what a killed export left": (
        "test_of_exports_over_http_that_are_killed_nothing_is_left_when_the_web_server_is_back",
    ),
    "a full disk, or the database's own": (
        "test_an_upload_to_a_full_disk_is_refused_and_counts_for_nothing",
        "test_ratings_on_a_full_disk_are_refused_and_those_acknowledged_are_there",
    ),
    "an audit that audited nothing, another file in the place of a requirement's, a moved tag of a base image": (
        "test_an_index_that_knows_no_package_audits_nothing_and_says_so",
        "test_a_file_with_another_hash_is_refused",
        "test_a_release_is_refused_while_an_image_has_no_digest",
    ),
    "half a publication, or a campaign half opened or deleted, of a killed process": (
        "test_what_a_killed_publication_left_is_removed_and_the_version_is_whole",
        "test_a_campaign_whose_process_is_killed_is_as_before_or_as_after",
        "test_the_sweep_finishes_a_killed_deletion",
    ),
}
