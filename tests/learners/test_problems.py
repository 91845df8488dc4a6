"""If these fail, blocks aggregated on many machines differ, or decisions need hidden state."""

import json
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit import Case
from discreet.audit.cases.learners import HORIZON, cases
from discreet.engine.coins import Coins
from discreet.engine.flat_state import flat
from discreet.engine.problem import view_of
from discreet.engine.request import EMPTY_REQUEST, Batch

CASES = {case.name: case for case in cases()}
names = pytest.mark.parametrize("name", CASES)


def lived(case: Case, rounds: int, seed: int) -> Any:
    """Return a learner after some rounds."""
    learner = case.make(seed=seed)
    contexts = case.contexts(rounds, seed)
    for round, person in enumerate(case.people(rounds, seed)):
        ticket = learner.open(None if contexts is None else contexts[round])
        learner.close(ticket, case.answered(person, ticket.decision))
    learner.release_if_due()
    return learner


@settings(max_examples=80)
@given(st.sampled_from(sorted(CASES)), st.integers(0, HORIZON - 1), st.data(), st.booleans())
def test_a_block_aggregated_in_two_parts_and_merged_is_the_block_in_every_mode(
    name: str, lived_for: int, data: st.DataObject, masked: bool
) -> None:
    """At any time, for any split of the block's rounds, with and without masks: bit for bit."""
    case = CASES[name]
    learner = lived(case, lived_for, seed=3)
    problem = type(learner).problem_for(learner.settings)
    snapshot = learner.snapshot()
    view = view_of(problem, snapshot)
    if view.step is None:
        return
    rounds = np.arange(snapshot.begin, snapshot.begin + view.step.rounds)
    people = case.people(len(rounds), seed=1)
    masks = case.masks(len(rounds)) if masked else None
    contexts = case.contexts(len(rounds))
    nothing = masks is None and contexts is None
    request = EMPTY_REQUEST if nothing else problem.questions.request(contexts, masks, len(rounds))
    aggregators = view.aggregators()

    def aggregate(places: list[int]) -> dict[str, Any]:
        block = view.empty_block()
        rows = problem.answer.rows([people[place] for place in places])
        here = np.array(places, dtype=np.int64)
        batch = Batch(rounds[here], rows, request[here])
        view.count(block, batch)
        return block

    order = data.draw(st.permutations(range(len(rounds))))
    cut = data.draw(st.integers(0, len(rounds)))
    whole = aggregate(list(range(len(rounds))))
    first = aggregate(order[:cut])
    second = aggregate(order[cut:])
    for part, aggregator in aggregators.items():
        merged = aggregator.merge(first[part], second[part])
        assert np.array_equal(merged.values, whole[part].values)
        assert merged.values.dtype == whole[part].values.dtype


@names
def test_mask_counts_of_parts_add_up(name: str) -> None:
    """Public counts of masked rounds: opened together or in two calls, they are the same."""
    case = CASES[name]
    learner = case.make(seed=3)
    problem = type(learner).problem_for(learner.settings)
    count = learner.rounds_until_release
    masks = case.masks(count)
    if masks is None:
        return
    view = view_of(problem, learner.snapshot())
    rounds = np.arange(count)
    request = problem.questions.request(case.contexts(count), masks, count)
    whole = view.no_mask_counts()
    in_parts = view.no_mask_counts()
    view.count_masks(whole, rounds, request)
    for part in (rounds[::2], rounds[1::2]):
        view.count_masks(in_parts, rounds[part], request[part])
    assert whole.keys() == in_parts.keys()
    for kind in whole:
        assert np.array_equal(whole[kind], in_parts[kind])


PROGRAM = """
import pickle, sys
import numpy as np
from discreet.engine.coins import Coins
from discreet.engine.request import EMPTY_REQUEST
found = {}
for name, (problem, place, rounds, contexts, masks) in pickle.load(sys.stdin.buffer).items():
    public, index, begin, key = place
    view = problem.view(public, index, begin, Coins(key))
    questions = problem.questions
    request = EMPTY_REQUEST
    if contexts is not None:
        request = questions.request(contexts, None, len(rounds))
    plain = view.decide(rounds, request)
    request = None if masks is None else questions.request(contexts, masks, len(rounds))
    masked = None if masks is None else view.decide(rounds, request)
    found[name] = plain, masked, problem.plan.calibration
sys.stdout.buffer.write(pickle.dumps(found))
"""


def test_another_process_decides_the_same_from_public_state() -> None:
    """Settings, public state and the coin key are shipped; no sums, hidden state or journal."""
    shipped: dict[str, Any] = {}
    here: dict[str, Any] = {}
    for name, case in CASES.items():
        learner = lived(case, HORIZON // 2, seed=3)
        problem = type(learner).problem_for(learner.settings)
        snapshot = learner.snapshot()
        count = min(4, learner.rounds_until_release)
        rounds = np.arange(learner.clock, learner.clock + count)
        masks = case.masks(count)
        try:
            pickle.dumps(problem)
        except (AttributeError, TypeError, pickle.PicklingError):
            assert "callable" in name  # a function of the operator
            continue
        contexts = case.contexts(count)
        place = snapshot.public, snapshot.index, snapshot.begin, snapshot.coin_key
        shipped[name] = problem, place, rounds, contexts, masks
        what = count if contexts is None else contexts
        masked = None if masks is None else learner.open_many(what, masks).numbers
        again = lived(case, HORIZON // 2, seed=3)
        here[name] = again.open_many(what).numbers, masked, snapshot.calibration
    assert len(shipped) > 25
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=pickle.dumps(shipped),
        capture_output=True,
        check=True,
    )
    there = pickle.loads(run.stdout)
    for name in shipped:
        for one, two in zip(here[name], there[name], strict=True):
            assert np.array_equal(np.asarray(one), np.asarray(two)), name


CALIBRATIONS = """
import json, sys
from discreet.audit.cases.learners import cases
learners = {case.name: case.make(seed=1) for case in cases()}
found = {name: learner.snapshot().calibration for name, learner in learners.items()}
json.dump(found, sys.stdout)
"""


def test_a_calibration_is_the_same_on_other_processors() -> None:
    """Otherwise a state that moves to another machine is refused.

    A processor without wide instructions sums and takes powers in another way.
    """
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CALIBRATIONS],
        env=os.environ | {"NPY_DISABLE_CPU_FEATURES": " ".join(found)},
        capture_output=True,
        check=True,
    )
    here = {name: case.make(seed=1).snapshot().calibration for name, case in CASES.items()}
    there = json.loads(run.stdout)
    assert [name for name in there if there[name] != here[name]] == []


@names
def test_a_shipped_problem_carries_its_settings_and_nothing_else(name: str) -> None:
    case = CASES[name]
    learner = lived(case, 5, seed=3)
    problem = type(learner).problem_for(learner.settings)
    view = problem.view(flat(problem.start()[0]), 0, 0, Coins(bytes(16)))
    batch = Batch(np.array([0]), problem.answer.rows(case.people(1)), EMPTY_REQUEST)
    view.count(view.empty_block(), batch)
    assert problem.__reduce__() == (type(problem), (problem.mode,))
    assert problem.mode.__reduce__() == (type(problem.mode), (learner.settings,))
