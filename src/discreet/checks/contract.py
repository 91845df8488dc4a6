"""The contract: one small function a promise.

If one fails, the promise is broken for everyone who uses that learner.
"""

import copy
import os
import pickle
import shutil
import signal
import tempfile
import warnings
from ast import literal_eval
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from discreet.checks.case import Case
from discreet.checks.kills import run_and_die
from discreet.checks.transcript import audit_transcript
from discreet.errors import ConfigError, DiscreetError, HorizonReached, OutOfBounds, StateError
from discreet.learners.learner import Learner
from discreet.learners.registry import load
from discreet.turn.coins import Coins
from discreet.turn.problem import NOTHING, Batch
from discreet.turn.statefile import encode

__all__ = ["RULES", "Case", "check_learner"]


def check_learner(case: Case) -> None:
    """Run every rule of the contract over a learner; `AssertionError` names the one that is broken."""
    for name, rule in RULES.items():
        try:
            rule(case)
        except AssertionError as error:
            raise AssertionError(f"{case.name}: {name.replace('_', ' ')}: {error}") from error


# --- small tools -----------------------------------------------------------------------------------------


def state(learner: Learner) -> bytes:
    """Everything that a learner remembers."""
    return encode(learner.snapshot())


def same(one: Any, two: Any) -> bool:
    """Whether two decisions are the same."""
    return bool(np.array_equal(np.asarray(one), np.asarray(two)))


def trimmed(decision: Any) -> Any:
    """A set without the −1 that fills it up in a table of many sets."""
    is_set = isinstance(decision, np.ndarray) and decision.dtype.kind == "i" and decision.ndim == 1
    return decision[decision >= 0] if is_set else decision


def raises(kind: type[BaseException], call: Callable[[], Any], containing: str = "") -> BaseException:
    """The error that a call raises; it must be of this kind, in one line."""
    try:
        call()
    except kind as error:
        assert containing in str(error), f"the error does not say {containing!r}: {error}"
        assert "\n" not in str(error), f"the error has several lines: {error}"
        return error
    except BaseException as error:
        raise AssertionError(
            f"{type(error).__name__} was raised instead of {kind.__name__}: {error}"
        ) from error
    raise AssertionError(f"nothing was raised, {kind.__name__} was expected")


def lived(case: Case, people: list[Any], **settings: Any) -> tuple[Learner, list[Any]]:
    """A learner that met these people one by one, and its decisions."""
    learner, decisions = case.make(**settings), []
    contexts = case.contexts(len(people))
    for round, person in enumerate(people):
        decisions.append(np.array(learner.act(None if contexts is None else contexts[round])))
        learner.observe(person)
    return learner, decisions


def opened(case: Case, learner: Learner, count: int) -> Any:
    """So many rounds, opened at once, with the contexts that belong to them."""
    contexts = case.contexts(case.horizon)
    return learner.open_many(count if contexts is None else contexts[learner.clock : learner.clock + count])


def fed(case: Case, learner: Learner, people: list[Any]) -> None:
    """Feed so many people at once, crossing releases."""
    position = 0
    while position < len(people):
        learner.turn()
        count = min(learner.rounds_until_release, len(people) - position)
        learner.close_many(opened(case, learner, count), people[position : position + count])
        position += count


# --- rounds ----------------------------------------------------------------------------------------------


def asking_twice_gives_the_same_and_costs_nothing(case: Case) -> None:
    contexts = case.contexts(1)
    context = None if contexts is None else contexts[0]
    learner = case.make()
    before = learner.act(context)
    kept = state(learner)
    assert same(learner.act(context), before), "the second answer differs"
    assert state(learner) == kept, "asking again changed the state"


def past_the_horizon_decisions_are_free_and_feedback_is_refused(case: Case) -> None:
    learner, _ = lived(case, case.people(case.horizon))
    contexts = case.contexts(1)
    context = None if contexts is None else contexts[0]
    last = learner.act(context)
    kept, spent = state(learner), learner.guarantee.spent
    assert same(learner.act(context), last), "the last decision did not stay"
    many = learner.open_many(5 if contexts is None else np.repeat(contexts, 5, axis=0))
    assert len(many) == 5, "five questions did not get five answers"
    person = case.people(1)
    raises(HorizonReached, lambda: learner.observe(person[0]))
    raises(HorizonReached, lambda: learner.close(learner.open(context), person[0]))
    raises(HorizonReached, lambda: learner.close_many(many, person * 5))
    if contexts is None:
        raises(HorizonReached, lambda: learner.observe_many(person))
    if case.full and contexts is None:
        raises(HorizonReached, lambda: learner.replay(person))
    assert state(learner) == kept, "something changed after the horizon"
    assert learner.guarantee.spent == spent, "something was spent after the horizon"


def a_log_that_is_too_long_is_refused_before_anything_is_spent(case: Case) -> None:
    if not case.full or case.context is not None:
        return
    learner = case.make()
    kept = state(learner)
    raises(HorizonReached, lambda: learner.replay(case.people(case.horizon + 1)), "rows")
    assert state(learner) == kept, "something was learned from it"


def many_at_once_are_rounds_one_by_one(case: Case) -> None:
    people = case.people(case.horizon)
    one_by_one, decisions = lived(case, people, seed=5)
    at_once, taken = case.make(seed=5), []
    position = 0
    while position < case.horizon:
        at_once.turn()
        count = max(1, min(at_once.rounds_until_release, case.horizon - position) - 1)
        tickets = opened(case, at_once, count)
        taken += [ticket.decision for ticket in tickets]
        half = count // 2
        at_once.close_many(
            tickets[half:], people[position + half : position + count]
        )  # in any order, in any parts
        at_once.close_many(tickets[:half], people[position : position + half])
        position += count
    assert all(map(same, taken, decisions)), "decisions differ"
    assert state(at_once) == state(one_by_one), "states differ"


def rows_and_replays_are_rounds_one_by_one(case: Case) -> None:
    if case.context is not None:
        return
    people = case.people(case.horizon)
    one_by_one, decisions = lived(case, people, seed=5)
    previewed, position = case.make(seed=5), 0
    while position < case.horizon:
        previewed.turn()
        count = min(previewed.rounds_until_release, case.horizon - position)
        shown = [trimmed(row) for row in previewed.preview(count)]
        assert all(map(same, shown, decisions[position : position + count])), "previews differ"
        previewed.observe_many(people[position : position + count])
        position += count
    assert state(previewed) == state(one_by_one), "states differ"
    if case.full:
        replayed = case.make(seed=5)
        assert all(map(same, map(trimmed, replayed.replay(people)), decisions)), "replayed decisions differ"
        assert state(replayed) == state(one_by_one), "replayed states differ"


def too_many_rounds_are_refused_and_nothing_is_opened(case: Case) -> None:
    learner = case.make()
    kept, count = state(learner), learner.rounds_until_release + 1
    contexts = case.contexts(count)
    raises(
        StateError,
        lambda: learner.open_many(count if contexts is None else contexts),
        "until the next release",
    )
    if contexts is None:
        raises(StateError, lambda: learner.observe_many(case.people(count)), "until the next release")
    assert state(learner) == kept, "something was opened"


# --- answers ---------------------------------------------------------------------------------------------


def missing_answers_add_nothing(case: Case) -> None:
    people = case.people(case.horizon)
    silent, blank = case.make(seed=9), case.make(seed=9)
    nothing = type(blank).problem_for(blank.settings).blank()
    contexts = case.contexts(case.horizon)
    for round, person in enumerate(people):
        context = None if contexts is None else contexts[round]
        ticket, twin = silent.open(context), blank.open(context)
        rows = [person if round % 3 else nothing]
        if round % 3:
            silent.close(ticket, person)
        blank.close_many(_alone(blank, twin), rows)
    context = None if contexts is None else contexts[0]
    assert same(silent.open(context).decision, blank.open(context).decision), (
        "a missing answer changed a decision"
    )
    assert silent.guarantee.spent == blank.guarantee.spent, "a missing answer changed what is spent"


def _alone(learner: Learner, ticket: Any) -> Any:
    """One ticket as tickets."""
    from discreet.turn.tickets import Tickets

    rounds = np.array([ticket.round])
    return Tickets(ticket.learner, ticket.epoch, ticket.index, rounds, np.asarray(ticket.decision)[None])


def late_answers_are_discarded(case: Case) -> None:
    learner = case.make()
    contexts = case.contexts(case.horizon)
    late = learner.open(None if contexts is None else contexts[0])
    while learner.releases == late.index and learner.clock < case.horizon:
        learner.open(None if contexts is None else contexts[learner.clock])
    learner.turn()
    if learner.releases == late.index:
        return  # without a release nothing is late
    kept = state(learner)
    assert learner.close(late, case.people(1)[0]) is False, "late feedback was taken"
    assert state(learner) == kept, "late feedback changed something"


def two_answers_of_one_visitor_count_once(case: Case) -> None:
    learner = case.make()
    tickets = opened(case, learner, 1)
    assert learner.close_many(tickets, case.people(1)).all(), "the feedback did not count"
    kept = state(learner)
    raises(StateError, lambda: learner.close_many(tickets, case.people(1)), "is not open")
    raises(StateError, lambda: learner.close(tickets[0], case.people(1)[0]), "is not open")
    assert state(learner) == kept, "the second feedback changed something"


def stale_and_foreign_tickets_are_refused(case: Case) -> None:
    learner, other = case.make(), case.make()
    foreign = opened(case, other, 1)
    opened(case, learner, 1)
    kept = state(learner)
    raises(StateError, lambda: learner.close_many(foreign, case.people(1)), "another learner")
    raises(StateError, lambda: learner.close(foreign[0], case.people(1)[0]), "another learner")
    raises(StateError, lambda: learner.close_many(foreign[[0, 0]], case.people(2)), "another learner")
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "state"
        stale = opened(case, other, 1) if other.rounds_until_release else foreign
        other.save(saved)
        other.detach()
        loaded = load(saved)
        before = state(loaded)
        raises(StateError, lambda: loaded.close_many(stale, case.people(1)), "before the state was loaded")
        assert state(loaded) == before, "a stale ticket changed something"
        loaded.detach()
    assert state(learner) == kept, "a foreign ticket changed something"


def tickets_twice_or_too_few_rows_are_refused(case: Case) -> None:
    learner = case.make()
    tickets = opened(case, learner, min(2, learner.rounds_until_release))
    kept = state(learner)
    raises(StateError, lambda: learner.close_many(tickets[[0, 0]], case.people(2)), "twice")
    raises(StateError, lambda: learner.close_many(tickets, case.people(len(tickets) + 1)), "rows of feedback")
    assert state(learner) == kept, "something was counted"


def feedback_without_a_question_is_refused(case: Case) -> None:
    learner = case.make()
    kept = state(learner)
    raises(StateError, lambda: learner.observe(case.people(1)[0]), "call act")
    assert state(learner) == kept, "something was counted"


def wrong_feedback_is_refused_without_showing_it_and_the_round_stays_open(case: Case) -> None:
    learner = case.make()
    contexts = case.contexts(1)
    learner.act(None if contexts is None else contexts[0])
    kept = state(learner)
    for wrong in case.refused:
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            error = raises(OutOfBounds, partial(learner.observe, wrong))
        assert "0.777" not in str(error), f"the error quotes a person: {error}"
        assert not shown, f"a warning tells about a person: {[str(one.message) for one in shown]}"
        assert state(learner) == kept, "refused feedback changed something"
    learner.observe(case.people(1)[0])


def a_malformed_row_among_many_adds_nothing_and_uses_up_its_round(case: Case) -> None:
    nothing = type(case.make()).problem_for(case.make().settings).blank()
    strange = [case.broken] if case.broken is not None else []
    for wrong in (*strange, None, "0.777", 10**400, object(), [[1.0], [2.0, 3.0]]):
        if not case.full and case.broken == 99 and wrong is None:
            continue  # no click is an answer
        broken, blank = case.make(seed=1), case.make(seed=1)
        count = min(3, broken.rounds_until_release)
        people = case.people(count)
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            broken.close_many(opened(case, broken, count), [wrong, *people[1:]])
        blank.close_many(opened(case, blank, count), [nothing, *people[1:]])
        assert not shown, f"a warning tells about a person: {[str(one.message) for one in shown]}"
        assert state(broken) == state(blank), f"a row that is {type(wrong).__name__} counted as something"


# --- people and machines ---------------------------------------------------------------------------------


def nothing_about_a_person_shows_before_their_release(case: Case) -> None:
    """Two streams that differ in one person: all that is shown before the next release is the same."""
    people, others = case.people(case.horizon), case.people(case.horizon, seed=1)
    contexts = case.contexts(case.horizon)
    for replaced in range(case.horizon):
        here, there = case.make(seed=4), case.make(seed=4)
        for round in range(replaced + 1):
            context = None if contexts is None else contexts[round]
            here.act(context), there.act(context)
            here.observe(people[round])
            there.observe(others[round] if round == replaced else people[round])
        index = here.releases
        while here.clock < case.horizon:
            context = None if contexts is None else contexts[here.clock]
            one, two = here.open(context), there.open(context)
            if one.index != index:
                break
            assert same(one.decision, two.decision), f"the person of round {replaced} shows at once"
            assert str(here.guarantee) == str(there.guarantee), (
                f"the person of round {replaced} shows in the guarantee"
            )


def one_person_costs_at_most_what_is_charged(case: Case) -> None:
    audit_transcript(case, pairs=12, seed=len(case.name))


def people_gathered_apart_and_merged_are_the_block(case: Case) -> None:
    learner = case.make(seed=2)
    problem = type(learner).problem_for(learner.settings)
    public, _ = problem.start()
    count = learner.rounds_until_release
    people, coins = case.people(count), Coins(bytes(16))
    contexts, masks = case.contexts(count), case.masks(count)
    asked = NOTHING if contexts is None and masks is None else problem.asked(contexts, masks, count)
    gatherings = problem.gatherings(public)

    def gathered(rounds: Any) -> dict[str, Any]:
        block = {name: gathering.empty() for name, gathering in gatherings.items()}
        rows = problem.rows([people[round] for round in rounds])
        problem.gather(public, block, Batch(0, 0, np.array(rounds), rows, asked[np.array(rounds)], coins))
        return block

    order = np.random.default_rng(0).permutation(count)
    parts = [gathered(part) for part in np.array_split(order, min(3, count)) if len(part)]
    whole = gathered(range(count))
    for name, gathering in gatherings.items():
        merged = parts[0][name]
        for part in parts[1:]:
            merged = gathering.merge(merged, part[name])
        assert np.array_equal(merged.values, whole[name].values), f"{name} differs"


def a_problem_pickles_and_decides_without_any_secret(case: Case) -> None:
    learner, _ = lived(case, case.people(case.horizon // 2), seed=3)
    snapshot = learner.snapshot()
    try:
        problem = pickle.loads(pickle.dumps(type(learner).problem_for(learner.settings)))
    except (AttributeError, TypeError, pickle.PicklingError):
        return  # settings that hold somebody's own function
    rounds = np.arange(snapshot.begin, snapshot.begin + 3)
    contexts = case.contexts(3)
    asked = NOTHING if contexts is None else problem.asked(contexts, None, 3)
    here = type(learner).problem_for(learner.settings)
    coins = Coins(snapshot.coin_key)
    shipped = problem.decide(snapshot.public, rounds, asked, coins)
    assert same(shipped, here.decide(snapshot.public, rounds, asked, coins)), (
        "the shipped problem decides otherwise"
    )


def masks_are_kept_and_other_questions_refused(case: Case) -> None:
    learner = case.make()
    problem = type(learner).problem_for(learner.settings)
    contexts = case.contexts(1)
    context = None if contexts is None else contexts[0]
    if not problem.takes_context:
        raises(ConfigError, lambda: learner.act([1.0]), "does not use a context")
    if problem.candidates is None:
        raises(ConfigError, lambda: learner.act(context, available=[True]), "does not use `available`")
        return
    items = problem.candidates
    for wrong in ([True] * (items + 1), np.zeros(items, dtype=bool), "x", np.full(items, 2)):
        kept = state(learner)
        raises(ConfigError, partial(learner.act, context, available=wrong), "yes or no")
        assert state(learner) == kept, "a refused mask changed something"
    if case.available is None:
        return
    for round, mask in enumerate(case.masks(case.horizon)):
        row = None if contexts is None else case.contexts(case.horizon)[round]
        decision = np.asarray(learner.act(row, available=mask))
        if decision.ndim == 1 and decision.dtype.kind == "i":
            assert mask[decision].all(), "something unavailable was shown"
        raises(StateError, partial(learner.act, row, available=_other(mask)), "another context or mask")
        learner.observe(case.people(case.horizon)[round])


def _other(mask: Any) -> Any:
    changed = mask.copy()
    changed[0] = not changed[0]
    return changed if changed.any() else ~changed


def calls_from_inside_are_refused(case: Case) -> None:
    """A signal handler, or a person's own code, that calls the learner in the middle of another call."""
    learner = case.make(seed=1)
    fed(case, learner, case.people(learner.rounds_until_release))
    refusals: list[BaseException] = []

    def call_back(number: int, frame: Any) -> None:
        for call in (learner.turn, learner.act, learner.skip, lambda: learner.preview(1)):
            try:
                call()
            except StateError as error:
                refusals.append(error)

    if not hasattr(signal, "SIGUSR1"):
        return
    person = case.people(1)[0]
    before = signal.signal(signal.SIGUSR1, call_back)
    try:
        _interrupted(learner.turn)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(refusals) == 4, "a call from inside was let in"
    assert all("busy" in str(error) for error in refusals), "the refusal does not say why"
    contexts = case.contexts(1)
    learner.act(None if contexts is None else contexts[0])
    learner.observe(person)


def _interrupted(call: Callable[[], Any]) -> None:
    """Make a call, and raise a signal at its first line inside this package that is not its guard."""
    import sys

    raised = False

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal raised
        if not raised and event == "call" and frame.f_code.co_name == "release_if_due":
            raised = True
            signal.raise_signal(signal.SIGUSR1)
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)


# --- what is spent and kept ------------------------------------------------------------------------------


def spending_never_falls_and_never_exceeds_the_budget(case: Case) -> None:
    learner, seen = case.make(), [0.0]
    contexts = case.contexts(case.horizon)
    for round, person in enumerate(case.people(case.horizon)):
        learner.act(None if contexts is None else contexts[round])
        learner.observe(person)
        seen.append(learner.guarantee.epsilon_spent)
    learner.turn()
    given = learner.guarantee
    seen.append(given.epsilon_spent)
    assert seen == sorted(seen), "spending fell"
    assert given.releases == given.planned, "not all planned releases were made"
    assert given.epsilon_spent <= given.epsilon * (1 + 1e-9), "more than the budget was spent"
    promised = given.total.epsilon(given.privacy)
    assert given.epsilon_spent <= promised * (1 + 1e-9), "more than the plan says was spent"


def a_seed_repeats_a_run_and_says_so(case: Case) -> None:
    people = case.people(case.horizon)
    (one, decisions), (two, again), (other, _) = (lived(case, people, seed=seed) for seed in (7, 7, 8))
    assert state(one) == state(two), "the same seed gave another state"
    assert all(map(same, decisions, again)), "the same seed gave other decisions"
    assert state(one) != state(other), "another seed gave the same state"
    assert "SIMULATED" in str(one.guarantee), "a seeded run does not say so"
    assert not case.make().guarantee.simulated, "a run without a seed says that it is simulated"


def settings_survive_toml_and_print_options(case: Case) -> None:
    learner = case.make(seed=3)
    kind, text = type(learner.settings), learner.settings.to_toml()
    settings = kind.from_toml(text)
    assert settings == learner.settings, "the settings changed on the way"
    assert type(learner).from_settings(settings).settings == settings, "the learner has other settings"
    assert case.make(seed=4).settings.hash != settings.hash, "another seed has the same hash"
    plan = type(learner).problem_for(settings).plan
    with np.printoptions(precision=1, threshold=2):
        assert kind.from_toml(text).hash == settings.hash, "the hash depends on print options"
        assert type(learner).problem_for(settings).plan.calibration == plan.calibration, (
            "calibration depends on print options"
        )
    raises(ConfigError, lambda: kind.from_toml('colour = "red"\n' + text), "unknown setting 'colour'")


def wrong_types_are_refused(case: Case) -> None:
    settings = case.make().settings
    plain = settings.as_plain()
    for name in plain:
        for wrong in ("x", [], {}, object(), b"", float("nan"), -1):
            try:
                type(settings).from_plain(plain | {name: wrong})
            except ConfigError as error:
                assert "\n" not in str(error), f"{name}: the error has several lines"
            except BaseException as error:
                raise AssertionError(f"{name}={wrong!r} raised {type(error).__name__}: {error}") from error


def a_saved_run_goes_on_as_if_nothing_had_happened(case: Case) -> None:
    people = case.people(case.horizon)
    straight, decisions = lived(case, people, seed=6)
    learner, taken = case.make(seed=6), []
    contexts = case.contexts(case.horizon)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        for round, person in enumerate(people):
            taken.append(np.array(learner.act(None if contexts is None else contexts[round])))
            learner.observe(person)
            if round in (3, 7):
                learner.save(path)
                learner.detach()
                learner = load(path)
        learner.turn(), straight.turn()
        assert all(map(same, taken, decisions)), "decisions differ"
        assert learner.guarantee == straight.guarantee, "the guarantee differs"
        assert learner.decision == straight.decision, "the last decision differs"
        learner.detach()


def a_second_load_is_refused_and_the_saver_is_fenced_off(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        learner, path = case.make(), Path(folder) / "state"
        learner.save(path)
        loaded = load(path)
        raises(StateError, lambda: load(path), "in use")
        opened(case, learner, learner.rounds_until_release)
        raises(StateError, learner.turn, "in use")
        assert loaded.guarantee.releases == 0, "something was released"
        loaded.detach()


def killed_anywhere_in_a_turn_it_shows_one_thing_only(case: Case) -> None:
    """Every seventh statement, from another start for each learner."""
    if not hasattr(os, "fork"):
        return
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking a process that has threads
        original, path = Path(folder) / "original", Path(folder) / "state"
        learner = case.make(journal=original)
        people = case.people(learner.rounds_until_release)
        learner.detach()
        last, finished = len(case.name) % 7, False
        while not finished:
            shutil.copy(original, path)
            finished, shown = run_and_die(path, lambda child: fed(case, child, people), _show_next, last)
            after = load(path)
            assert after.releases in (0, 1), "there are more releases than turns"
            if shown:
                assert after.releases == 1, "something was shown that is not kept"
                assert after.decision == literal_eval(shown[0]), "something else was shown than is kept"
            assert after.guarantee.epsilon_spent <= after.guarantee.epsilon * (1 + 1e-9), "too much was spent"
            after.detach()
            last += 7


def _show_next(learner: Learner, show: Callable[[Any], None]) -> None:
    learner.turn()
    show(learner.decision)


def learners_cannot_be_copied(case: Case) -> None:
    raises(StateError, lambda: copy.deepcopy(case.make()), "two copies")


def every_error_is_one_of_ours(case: Case) -> None:
    raises(DiscreetError, lambda: case.make().observe(None))


RULES: dict[str, Callable[[Case], None]] = {
    rule.__name__: rule
    for rule in (
        asking_twice_gives_the_same_and_costs_nothing,
        past_the_horizon_decisions_are_free_and_feedback_is_refused,
        a_log_that_is_too_long_is_refused_before_anything_is_spent,
        many_at_once_are_rounds_one_by_one,
        rows_and_replays_are_rounds_one_by_one,
        too_many_rounds_are_refused_and_nothing_is_opened,
        missing_answers_add_nothing,
        late_answers_are_discarded,
        two_answers_of_one_visitor_count_once,
        stale_and_foreign_tickets_are_refused,
        tickets_twice_or_too_few_rows_are_refused,
        feedback_without_a_question_is_refused,
        wrong_feedback_is_refused_without_showing_it_and_the_round_stays_open,
        a_malformed_row_among_many_adds_nothing_and_uses_up_its_round,
        nothing_about_a_person_shows_before_their_release,
        one_person_costs_at_most_what_is_charged,
        people_gathered_apart_and_merged_are_the_block,
        a_problem_pickles_and_decides_without_any_secret,
        masks_are_kept_and_other_questions_refused,
        calls_from_inside_are_refused,
        spending_never_falls_and_never_exceeds_the_budget,
        a_seed_repeats_a_run_and_says_so,
        settings_survive_toml_and_print_options,
        wrong_types_are_refused,
        a_saved_run_goes_on_as_if_nothing_had_happened,
        a_second_load_is_refused_and_the_saver_is_fenced_off,
        killed_anywhere_in_a_turn_it_shows_one_thing_only,
        learners_cannot_be_copied,
        every_error_is_one_of_ours,
    )
}
"""Every rule by its name."""
