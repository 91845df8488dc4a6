"""Rules of the contract about rounds and answers: which of them count, and which are refused."""

import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from discreet.audit.cases.case import Case
from discreet.audit.contract.tools import (
    fed,
    lived,
    opened,
    raises,
    row_of,
    same,
    state,
    trimmed,
)
from discreet.engine.tickets import Ticket, Tickets
from discreet.errors import ConfigError, DiscreetError, HorizonReached, OutOfBounds, StateError
from discreet.learners.registry import load

# --- rounds ---------------------------------------------------------------------------------------


def asking_twice_gives_the_same_and_costs_nothing(case: Case) -> None:
    contexts = case.contexts(1)
    context = row_of(contexts, 0)
    learner = case.make()
    before = learner.act(context, **case.whose(0))
    earlier = state(learner)
    assert same(learner.act(context, **case.whose(0)), before), "the second answer differs"
    assert state(learner) == earlier, "asking again changed the state"


def past_the_horizon_decisions_are_free_and_feedback_is_refused(case: Case) -> None:
    learner, _ = lived(case, case.people(case.horizon))
    contexts = case.contexts(1)
    context = row_of(contexts, 0)
    last = learner.act(context, **case.whose(0))
    earlier, spent = state(learner), learner.guarantee.spent
    assert same(learner.act(context, **case.whose(0)), last), "the last decision did not stay"
    many = learner.open_many(
        5 if contexts is None else np.repeat(contexts, 5, axis=0), **case.whose_rounds(0, 5)
    )
    assert len(many) == 5, "five questions did not get five answers"
    person = case.people(1)
    raises(HorizonReached, lambda: learner.observe(person[0]))
    raises(HorizonReached, lambda: learner.close(learner.open(context, **case.whose(0)), person[0]))
    assert not learner.close_many(many, person * 5).any(), "feedback after the horizon counted"
    if contexts is None:
        raises(HorizonReached, lambda: learner.observe_many(person, **case.whose_rounds(0, 1)))
    if case.full and contexts is None:
        raises(HorizonReached, lambda: learner.replay(person, **case.whose_rounds(0, 1)))
    assert state(learner) == earlier, "something changed after the horizon"
    assert learner.guarantee.spent == spent, "something was spent after the horizon"


def a_log_that_is_too_long_is_refused_before_anything_is_spent(case: Case) -> None:
    if not case.full or case.context is not None:
        return
    learner = case.make()
    earlier = state(learner)
    people, whose = case.people(case.horizon + 1), case.whose_rounds(0, case.horizon + 1)
    raises(HorizonReached, lambda: learner.replay(people, **whose), "rows")
    assert state(learner) == earlier, "something was learned from it"


def many_at_once_are_rounds_one_by_one(case: Case) -> None:
    people = case.people(case.horizon)
    one_by_one, decisions = lived(case, people, seed=5)
    at_once = case.make(seed=5)
    taken: list[object] = []
    position = 0
    while position < case.horizon:
        at_once.release_if_due()
        count = max(1, min(at_once.rounds_until_release, case.horizon - position) - 1)
        tickets = opened(case, at_once, count)
        taken += [ticket.decision for ticket in tickets]
        half = count // 2
        # Answers come in any order and in any parts.
        at_once.close_many(tickets[half:], people[position + half : position + count])
        at_once.close_many(tickets[:half], people[position : position + half])
        position += count
    assert all(map(same, taken, decisions)), "decisions differ"
    assert state(at_once) == state(one_by_one), "states differ"


def rows_and_replays_are_rounds_one_by_one(case: Case) -> None:
    if case.context is not None:
        return
    people = case.people(case.horizon)
    one_by_one, decisions = lived(case, people, seed=5)
    previewed = case.make(seed=5)
    position = 0
    if not type(previewed).problem_for(previewed.settings).mode.decisions.previews:
        raises(ConfigError, lambda: previewed.preview(1), "stay unknown")
        fed(case, previewed, people)
        position = case.horizon
    while position < case.horizon:
        previewed.release_if_due()
        count = min(previewed.rounds_until_release, case.horizon - position)
        shown = [trimmed(row) for row in previewed.preview(count)]
        assert all(map(same, shown, decisions[position : position + count])), "previews differ"
        previewed.observe_many(
            people[position : position + count], **case.whose_rounds(position, count)
        )
        position += count
    assert state(previewed) == state(one_by_one), "states differ"
    if case.full:
        replayed = case.make(seed=5)
        shown = [
            trimmed(row) for row in replayed.replay(people, **case.whose_rounds(0, case.horizon))
        ]
        assert all(map(same, shown, decisions)), "replayed decisions differ"
        assert state(replayed) == state(one_by_one), "replayed states differ"


def too_many_rounds_are_refused_and_nothing_is_opened(case: Case) -> None:
    learner = case.make()
    earlier = state(learner)
    count = learner.rounds_until_release + 1
    contexts = case.contexts(count)
    request = count if contexts is None else contexts
    whose = case.whose_rounds(0, count)
    raises(StateError, lambda: learner.open_many(request, **whose), "until the next release")
    if contexts is None:
        people = case.people(count)
        raises(StateError, lambda: learner.observe_many(people, **whose), "until the next release")
    assert state(learner) == earlier, "something was opened"


def a_refused_call_makes_no_release(case: Case) -> None:
    """A release that is due waits: answers that come after the refused call still count."""
    learner = case.make()
    tickets = opened(case, learner, learner.rounds_until_release)
    earlier = state(learner)
    count = learner.rounds_until_release + 1
    contexts = case.contexts(count)
    whose = case.whose_rounds(0, count)
    if learner.clock != learner.horizon:
        request = count if contexts is None else contexts
        raises(StateError, lambda: learner.open_many(request, **whose), "until the")
        if contexts is None:
            if type(learner).problem_for(learner.settings).mode.decisions.previews:
                raises(StateError, lambda: learner.preview(count), "until the")
            raises(
                StateError, lambda: learner.observe_many(case.people(count), **whose), "until the"
            )
    for wrong in (np.zeros((1, 977)), np.zeros((1, 2, 3, 4))):
        for call in ("observe_many", "replay"):
            try:
                getattr(learner, call)(wrong, **case.whose_rounds(0, 1))
            except DiscreetError:
                assert state(learner) == earlier, "a refused call made the release that is due"
            else:  # these rows can be read, or add nothing
                learner = case.make()
                tickets = opened(case, learner, learner.rounds_until_release)
                earlier = state(learner)
    assert learner.close_many(tickets[:1], case.people(1)).all(), "a refused call lost an answer"


# --- answers --------------------------------------------------------------------------------------


def missing_answers_add_nothing(case: Case) -> None:
    people = case.people(case.horizon)
    silent = case.make(seed=9)
    blank = case.make(seed=9)
    nothing = type(blank).problem_for(blank.settings).mode.answer.blank
    contexts = case.contexts(case.horizon)
    for round, person in enumerate(people):
        context = row_of(contexts, round)
        whose = case.whose(round)
        ticket = silent.open(context, **whose)
        twin = blank.open(context, **whose)
        answers = bool(round % 3)
        if answers:
            silent.close(ticket, case.answered(person, ticket.decision))
        blank.close_many(_as_tickets(twin), [person if answers else nothing])
    context = row_of(contexts, 0)
    whose = case.whose(case.horizon)
    one = silent.open(context, **whose)
    two = blank.open(context, **whose)
    assert same(one.decision, two.decision), "a missing answer changed a decision"
    assert silent.guarantee.spent == blank.guarantee.spent, "a missing answer changed what is spent"


def _as_tickets(ticket: Ticket) -> Tickets:
    """Return one ticket as `Tickets`."""
    rounds = np.array([ticket.round])
    return Tickets(
        ticket.learner, ticket.epoch, ticket.index, rounds, np.asarray(ticket.decision)[None]
    )


def late_answers_are_discarded(case: Case) -> None:
    learner = case.make()
    contexts = case.contexts(case.horizon)
    late = learner.open(row_of(contexts, 0), **case.whose(0))
    while learner.releases == late.index and learner.clock < case.horizon:
        learner.open(row_of(contexts, learner.clock), **case.whose(learner.clock))
    learner.release_if_due()
    if learner.releases == late.index:
        return  # without a release nothing is late
    earlier = state(learner)
    assert learner.close(late, case.people(1)[0]) is False, "late feedback was taken"
    assert state(learner) == earlier, "late feedback changed something"


def two_answers_of_one_visitor_count_once(case: Case) -> None:
    learner = case.make()
    tickets = opened(case, learner, 1)
    assert learner.close_many(tickets, case.people(1)).all(), "the feedback did not count"
    earlier = state(learner)
    assert not learner.close_many(tickets, case.people(1)).any(), "it counted twice"
    assert learner.close(tickets[0], case.people(1)[0]) is False, "it counted twice"
    assert state(learner) == earlier, "the second feedback changed something"


def one_person_counts_once_in_a_block(case: Case) -> None:
    """The round that counts is fixed when rounds are opened, not when they are answered."""
    named = case.make(seed=6)
    plain = case.make(seed=6)
    count = min(3, named.rounds_until_release)
    contexts = case.contexts(case.horizon)
    people = case.people(count)
    request = count if contexts is None else contexts[:count]
    tickets = named.open_many(request, persons=["ann", "ann", "bob"][:count])
    others = opened(case, plain, count)
    assert same(tickets.decisions, others.decisions), "the person of a round changes a decision"
    for place in reversed(range(count)):  # the second round's answer comes before the first one's
        flags = named.close_many(tickets[place : place + 1], people[place : place + 1])
        assert flags.all(), "flags show that a round does not count"
    counted = [place for place in range(count) if place != 1]
    plain.close_many(others[np.array(counted)], [people[place] for place in counted])
    here = named.snapshot().block
    there = plain.snapshot().block
    assert all(np.array_equal(here[name], there[name]) for name in there), "a second round counted"


def stale_and_foreign_tickets_are_refused(case: Case) -> None:
    learner = case.make()
    other = case.make()
    foreign = opened(case, other, 1)
    opened(case, learner, 1)
    earlier = state(learner)
    raises(StateError, lambda: learner.close_many(foreign, case.people(1)), "another learner")
    raises(StateError, lambda: learner.close(foreign[0], case.people(1)[0]), "another learner")
    raises(
        StateError, lambda: learner.close_many(foreign[[0, 0]], case.people(2)), "another learner"
    )
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "state"
        stale = opened(case, other, 1) if other.rounds_until_release else foreign
        other.save(saved)
        other.detach()
        loaded = load(saved)
        before = state(loaded)
        raises(
            StateError,
            lambda: loaded.close_many(stale, case.people(1)),
            "before the state was loaded",
        )
        assert state(loaded) == before, "a stale ticket changed something"
        loaded.detach()
    assert state(learner) == earlier, "a foreign ticket changed something"


def too_few_rows_are_refused(case: Case) -> None:
    learner = case.make()
    tickets = opened(case, learner, min(2, learner.rounds_until_release))
    earlier = state(learner)
    raises(
        StateError,
        lambda: learner.close_many(tickets, case.people(len(tickets) + 1)),
        "rows of feedback",
    )
    assert state(learner) == earlier, "something was counted"


def feedback_without_a_question_is_refused(case: Case) -> None:
    learner = case.make()
    earlier = state(learner)
    raises(StateError, lambda: learner.observe(case.people(1)[0]), "call act")
    assert state(learner) == earlier, "something was counted"


def wrong_feedback_is_refused_without_showing_it_and_the_round_stays_open(case: Case) -> None:
    learner = case.make()
    contexts = case.contexts(1)
    decision = learner.act(row_of(contexts, 0), **case.whose(0))
    earlier = state(learner)
    for wrong in case.refused:
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            error = raises(OutOfBounds, partial(learner.observe, wrong))
        assert "0.777" not in str(error), f"the error quotes a person: {error}"
        assert not shown, f"a warning tells about a person: {[str(one.message) for one in shown]}"
        assert state(learner) == earlier, "refused feedback changed something"
    learner.observe(case.answered(case.people(1)[0], decision))


def a_malformed_row_among_many_adds_nothing_and_uses_up_its_round(case: Case) -> None:
    nothing = type(case.make()).problem_for(case.make().settings).mode.answer.blank
    own = [case.broken] if case.broken is not None else []
    for wrong in (*own, None, "0.777 or so", 10**400, object(), [[1.0], [2.0, 3.0]]):
        if not case.full and case.broken == 99 and wrong is None:
            continue  # no click is an answer
        broken = case.make(seed=1)
        blank = case.make(seed=1)
        count = min(3, broken.rounds_until_release)
        people = case.people(count)
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            broken.close_many(opened(case, broken, count), [wrong, *people[1:]])
        blank.close_many(opened(case, blank, count), [nothing, *people[1:]])
        assert not shown, f"a warning tells about a person: {[str(one.message) for one in shown]}"
        assert state(broken) == state(blank), (
            f"a row that is {type(wrong).__name__} counted as something"
        )
