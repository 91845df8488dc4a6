"""The contract of all learners: one small function per promise.

If a rule fails, its promise is broken for all users of that learner. The rules are in `rounds`
(rounds and answers), `refusals` (what one of many brings), `people` (people and machines),
`durability` (budgets and files) and `formats` (files of earlier versions).
"""

from collections.abc import Callable, Iterable

from discreet.audit.cases.case import Case
from discreet.audit.contract import durability, formats, people, refusals, rounds

__all__ = ["RULES", "Case", "check_learner"]


def check_learner(case: Case, names: Iterable[str] | None = None) -> None:
    """Run the rules of the contract over a learner: those of these names, or all.

    Parameters
    ----------
    case
        The learner and its people.
    names
        Names of rules (`RULES`).

    Raises
    ------
    AssertionError
        If a rule is broken; the text names it.

    Examples
    --------
    >>> from discreet.audit.cases.learners import cases
    >>> check_learner(cases()[0], ["learners_cannot_be_copied"])
    """
    for name in RULES if names is None else names:
        try:
            RULES[name](case)
        except AssertionError as error:
            raise AssertionError(f"{case.name}: {name.replace('_', ' ')}: {error}") from error


RULES: dict[str, Callable[[Case], None]] = {
    rule.__name__: rule
    for rule in (
        rounds.asking_twice_gives_the_same_and_costs_nothing,
        rounds.past_the_horizon_decisions_are_free_and_feedback_is_refused,
        rounds.a_log_that_is_too_long_is_refused_before_anything_is_spent,
        rounds.many_at_once_are_rounds_one_by_one,
        rounds.rows_and_replays_are_rounds_one_by_one,
        rounds.too_many_rounds_are_refused_and_nothing_is_opened,
        rounds.a_refused_call_makes_no_release,
        rounds.missing_answers_add_nothing,
        rounds.late_answers_are_discarded,
        rounds.two_answers_of_one_visitor_count_once,
        rounds.one_person_counts_once_in_a_block,
        rounds.stale_and_foreign_tickets_are_refused,
        rounds.too_few_rows_are_refused,
        rounds.feedback_without_a_question_is_refused,
        rounds.wrong_feedback_is_refused_without_showing_it_and_the_round_stays_open,
        rounds.a_malformed_row_among_many_adds_nothing_and_uses_up_its_round,
        people.nothing_about_a_person_shows_before_their_release,
        refusals.one_persons_worst_entry_refuses_nobody_else,
        people.one_person_costs_at_most_what_is_charged,
        people.people_aggregated_apart_and_merged_are_the_block,
        people.a_problem_pickles_and_decides_without_any_secret,
        people.masks_are_obeyed_and_other_requests_are_refused,
        people.calls_from_inside_are_refused,
        durability.spending_never_falls_and_never_exceeds_the_budget,
        durability.the_ledger_is_what_the_plan_charges_and_the_guarantee_says,
        durability.a_seed_repeats_a_run_and_says_so,
        durability.settings_survive_toml_and_print_options,
        durability.wrong_types_are_refused,
        durability.a_saved_run_goes_on_as_if_nothing_had_happened,
        durability.a_second_load_is_refused_and_the_saver_is_fenced_off,
        durability.killed_anywhere_in_a_release_it_shows_one_decision_only,
        formats.a_state_of_an_earlier_format_goes_on,
        formats.a_state_that_cannot_be_upgraded_stays_as_it_was,
        durability.learners_cannot_be_copied,
        durability.every_error_is_one_of_ours,
    )
}
"""All rules by name."""
