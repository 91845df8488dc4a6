"""If these fail, a learner's running total is paid for wrongly, or mixed up with another one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from discreet.learners.running_total import RunningTotal

from discreet.budget.ledger import Ledger
from discreet.budget.privacy import Privacy, zcdp
from discreet.engine.plan import Plan, Step
from discreet.engine.schedule import EqualBlocks
from discreet.errors import BudgetError
from discreet.release.aggregators import OneChoice, Rows
from discreet.release.door import Door
from discreet.release.randomness import seeded_bits

USUAL = Privacy(1.0, 1e-6)


def total(method: str = "auto", **more: Any) -> RunningTotal[Any]:
    usual: dict[str, Any] = {
        "name": "gains",
        "wanted": Rows((2, 3), length=5.0),
        "schedule": EqualBlocks(40, 10),
    }
    return RunningTotal(**usual | more, privacy=USUAL, people=10, method=method)


def steps_of(plan: Plan) -> Callable[[int], Step | None]:
    assert plan.steps is not None
    return plan.steps


@pytest.mark.parametrize("method", ["honaker", "toeplitz", "disjoint"])
def test_totals_are_in_the_units_of_peoples_numbers(method: str) -> None:
    """With the same random bits, totals with and without people differ by the people."""
    running = total(method)

    def released(people: np.ndarray) -> np.ndarray:
        public, hidden = running.start()
        totals = []
        for index in range(4):
            block = {"gains": running.aggregator.empty()}
            running.aggregator.add(block["gains"], people[index : index + 1])
            door = Door(seeded_bits(7, index), running.sum.charge(index), index)
            step = running.next(public, hidden, block, door)
            public, hidden = step.public, step.hidden
            totals.append(step.values)
            assert step.variance == pytest.approx(
                running.sum.variance(index + 1) * running.aggregator.grid**2
            )
            assert step.values.shape == (2, 3)
        return np.array(totals)

    people = np.random.default_rng(0).uniform(-1, 1, size=(4, 2, 3))
    assert np.abs(released(people) - released(people * 0) - people.cumsum(axis=0)).max() < 1e-3


def test_the_plan_is_that_of_the_mechanism_and_states_the_cost_of_a_person() -> None:
    shared = total("toeplitz").plan({"expert": "sum"})
    apart = total("disjoint").plan({})
    steps = [steps_of(shared)(index) for index in range(5)]
    assert steps[4] is None
    assert all(step is not None and step.cohort is None and step.rounds == 10 for step in steps[:4])
    paid = sum(step.charge.amount for step in steps[:4] if step is not None)
    assert paid == pytest.approx(shared.total.everyone.amount)
    assert shared.total.pure == shared.total.zcdp == 0
    disjoint = [steps_of(apart)(index) for index in range(4)]
    assert [step and step.cohort for step in disjoint] == [0, 1, 2, 3]
    assert apart.total.everyone.amount == 0
    assert max(apart.total.pure, apart.total.zcdp) > 0
    assert shared.facts == {"expert": "sum"}


def test_two_totals_fit_in_one_state() -> None:
    first = total("honaker")
    second = total("honaker", name="costs", wanted=OneChoice((4,)))
    starts = {running.name: running.start() for running in (first, second)}
    public = {name: start[0] for name, start in starts.items()}
    hidden = starts["gains"][1] | starts["costs"][1]
    block = {"gains": first.aggregator.empty(), "costs": second.aggregator.empty()}
    bits = seeded_bits(1, 0)
    for index in range(2):
        for running in (first, second):
            door = Door(bits, running.sum.charge(index), index)
            step = running.next(public[running.name], hidden, block, door)
            public[running.name] = step.public
            hidden |= step.hidden
    assert hidden["gains.steps"] == hidden["costs.steps"] == 2
    assert public["gains"]["prefix"].shape == (6,)
    assert public["costs"]["prefix"].shape == (4,)


def test_names_and_mechanisms_are_part_of_the_calibration() -> None:
    plans = [
        total("honaker"),
        total("toeplitz"),
        total("honaker", name="other"),
        total("honaker", schedule=EqualBlocks(50, 10)),
    ]
    assert len({running.plan({}).calibration for running in plans}) == 4


def test_a_pure_total_beside_a_granted_delta_is_paid_by_one_cohort_within_epsilon() -> None:
    """(ε, 0) implies (ε, δ): everyone pays in the pure measure, and no budget remains."""
    privacy = Privacy(1.0, 1e-6)
    running = RunningTotal(
        "gains",
        Rows((2,), norm=1),
        EqualBlocks(40, 2),
        privacy,
        people=2,
        method="honaker",
        pure=True,
    )
    plan = running.plan({})
    ledger = Ledger(privacy)
    for index in range(running.releases):
        step = steps_of(plan)(index)
        assert step is not None
        assert (step.charge.measure, step.cohort) == ("pure", 0)
        ledger = ledger.charge(step.charge, cohort=step.cohort)
    assert ledger.spent.epsilon(privacy) == pytest.approx(plan.total.epsilon(privacy))
    assert ledger.spent.epsilon(privacy) == pytest.approx(1.0)
    with pytest.raises(BudgetError):
        ledger.charge(zcdp(0.001))
