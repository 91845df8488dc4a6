"""Rules of the contract about people and machines: what one person changes, and where code runs."""

import pickle
import sys
import warnings
from functools import partial
from types import FrameType
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.audit.cases.case import Case
from discreet.audit.contract.tools import fed, lived, raises, row_of, same, state
from discreet.audit.transcript import audit_transcript
from discreet.audit.visible import difference, logged
from discreet.engine.coins import Coins
from discreet.engine.engine import BusyError
from discreet.engine.flat_state import flat
from discreet.engine.problem import view_of
from discreet.engine.request import EMPTY_REQUEST, Batch, Block
from discreet.errors import ConfigError, StateError
from discreet.learners.base import Learner


def nothing_about_a_person_shows_before_their_release(case: Case) -> None:
    """Two streams differ in one person: nothing visible before the next release differs.

    Visible are decisions of others, flags, warnings, log records, and all readings. The person's
    context differs too, where people bring one.
    """
    people = case.people(case.horizon)
    others = case.people(case.horizon, seed=1)
    if case.broken is not None:  # whether feedback is valid must not show either
        others[::2] = [case.broken] * len(others[::2])
    contexts = case.contexts(case.horizon)
    other_contexts = case.contexts(case.horizon, seed=1)
    for replaced in sorted({round * case.horizon // 12 for round in range(12)}):
        here = case.make(seed=4)
        there = case.make(seed=4)
        for round in range(replaced + 1):
            context = row_of(contexts, round)
            other_context = context if round < replaced else row_of(other_contexts, round)
            other = people[round] if round < replaced else others[round]
            one = _answer_visibly(case, here, context, people[round])
            two = _answer_visibly(case, there, other_context, other)
            assert one == two, f"the person of round {replaced} shows in flags, warnings or logs"
        _check_rest_of_block(case, here, there, contexts, f"the person of round {replaced}")


def _check_rest_of_block(
    case: Case, here: Learner, there: Learner, contexts: Floats | None, person: str
) -> None:
    """Check that two learners agree in all that is visible, up to their next release."""
    index = here.releases
    while here.clock < case.horizon:
        differs = difference(case, here, there)
        assert differs is None, f"{person} shows in {differs}"
        context = row_of(contexts, here.clock)
        whose = case.whose(here.clock)
        ticket = here.open(context, **whose)
        other = there.open(context, **whose)
        if ticket.index != index:
            break
        assert same(ticket.decision, other.decision), f"{person} shows at once"


class _Visible(NamedTuple):
    """All that the caller sees of an answer."""

    flags: list[bool]
    warnings: list[str]
    logs: list[str]


def _answer_visibly(
    case: Case, learner: Learner, context: Floats | None, person: object
) -> _Visible:
    """Open a round and answer it; return the flags, warnings and logs that the caller sees."""
    request = 1 if context is None else context[None]
    tickets = learner.open_many(request, **case.whose_rounds(learner.clock, 1))
    with warnings.catch_warnings(record=True) as shown, logged() as logs:
        warnings.simplefilter("always")
        flags = learner.close_many(tickets, [person])
    return _Visible(flags.tolist(), [str(one.message) for one in shown], logs)


def one_person_costs_at_most_what_is_charged(case: Case) -> None:
    audit_transcript(case, pairs=12, seed=len(case.name))


def people_aggregated_apart_and_merged_are_the_block(case: Case) -> None:
    learner = case.make(seed=2)
    problem = type(learner).problem_for(learner.settings)
    view = problem.view(flat(problem.start()[0]), 0, 0, Coins(bytes(16)))
    count = learner.rounds_until_release
    people = case.people(count)
    contexts = case.contexts(count)
    masks = case.masks(count)
    request = EMPTY_REQUEST
    if contexts is not None or masks is not None:
        request = problem.questions.request(contexts, masks, count)

    def aggregate(rounds: Integers) -> Block:
        block = view.empty_block()
        rows = problem.answer.rows([people[round] for round in rounds])
        batch = Batch(rounds, rows, request[rounds])
        view.count(block, batch)
        return block

    order = np.random.default_rng(0).permutation(count)
    parts = [aggregate(part) for part in np.array_split(order, min(3, count)) if len(part)]
    whole = aggregate(np.arange(count))
    for name, aggregator in view.aggregators().items():
        merged = parts[0][name]
        for part in parts[1:]:
            merged = aggregator.merge(merged, part[name])
        assert np.array_equal(merged.values, whole[name].values), f"{name} differs"


def a_problem_pickles_and_decides_without_any_secret(case: Case) -> None:
    learner, _ = lived(case, case.people(case.horizon // 2), seed=3)
    snapshot = learner.snapshot()
    try:
        problem = pickle.loads(pickle.dumps(type(learner).problem_for(learner.settings)))
    except (AttributeError, TypeError, pickle.PicklingError):
        return  # the settings hold a function of the operator
    rounds = np.arange(snapshot.begin, snapshot.begin + 3)
    contexts = case.contexts(3)
    request = EMPTY_REQUEST if contexts is None else problem.questions.request(contexts, None, 3)
    here = type(learner).problem_for(learner.settings)
    shipped = view_of(problem, snapshot).decide(rounds, request)
    stayed = view_of(here, snapshot).decide(rounds, request)
    assert same(shipped, stayed), "the shipped problem decides otherwise"


def masks_are_obeyed_and_other_requests_are_refused(case: Case) -> None:
    learner = case.make()
    problem = type(learner).problem_for(learner.settings)
    contexts = case.contexts(1)
    context = row_of(contexts, 0)
    if not problem.questions.takes_context:
        raises(ConfigError, lambda: learner.act([1.0], **case.whose(0)), "does not use a context")
    if problem.questions.candidates is None:
        raises(
            ConfigError,
            lambda: learner.act(context, available=[True], **case.whose(0)),
            "does not use `available`",
        )
        return
    items = problem.questions.candidates
    for wrong in ([True] * (items + 1), np.zeros(items, dtype=bool), "x", np.full(items, 2)):
        earlier = state(learner)
        raises(
            ConfigError,
            partial(learner.act, context, available=wrong, **case.whose(0)),
            "available ",
        )
        assert state(learner) == earlier, "a refused mask changed something"
    if (masks := case.masks(case.horizon)) is None:
        return
    rows = case.contexts(case.horizon)
    place = {label: number for number, label in enumerate(learner.settings.labels or ())}
    for round, mask in enumerate(masks):
        row = row_of(rows, round)
        whose = case.whose(round)
        decision = np.asarray(learner.act(row, available=mask, **whose))
        if decision.ndim == 1 and decision.dtype.kind == "i":
            numbers = [place.get(item, item) for item in decision.tolist()]
            assert mask[numbers].all(), "something unavailable was shown"
        again = partial(learner.act, row, available=_other(mask), **whose)
        raises(StateError, again, "another context or mask")
        learner.observe(case.answered(case.people(case.horizon)[round], decision))


def _other(mask: Mask) -> Mask:
    """A mask that differs, and has something available."""
    changed = mask.copy()
    changed[0] = not changed[0]
    return changed if changed.any() else ~changed


def calls_from_inside_are_refused(case: Case) -> None:
    """A signal handler, or a function of the operator, calls the learner during another call."""
    learner = case.make(seed=1)
    fed(case, learner, case.people(learner.rounds_until_release))
    refusals: list[BaseException] = []

    def call_back(frame: FrameType, event: str, argument: object) -> None:
        if frame.f_code.co_qualname == "Rounds.release_if_due":
            for call in (
                learner.release_if_due,
                learner.act,
                learner.skip,
                lambda: learner.preview(1),
            ):
                refusals.append(raises(BusyError, call, "busy"))

    before = sys.gettrace()
    sys.settrace(call_back)
    try:
        learner.release_if_due()
    finally:
        sys.settrace(before)
    assert len(refusals) == 4, "nothing was called from inside"
    if learner.clock == case.horizon:
        return  # its one release was the last
    contexts = case.contexts(1)
    decision = learner.act(row_of(contexts, 0), **case.whose(case.horizon))
    learner.observe(case.answered(case.people(1)[0], decision))
