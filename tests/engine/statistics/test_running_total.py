"""If these fail, a learner's running total is paid for wrongly, or mixed up with another one."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import RunningSum
from discreet.budget.ledger import Ledger
from discreet.budget.privacy import Privacy, pure, zcdp
from discreet.engine.flat_state import flat_hidden
from discreet.engine.phases import Scheduled
from discreet.engine.plan import Plan, Step
from discreet.engine.schedule import EqualBlocks, Segments
from discreet.engine.statistics import RunningTotal
from discreet.errors import BudgetError, ConfigError
from discreet.learners.running_sum import prefixes
from discreet.limits import MOST_ROUNDS
from discreet.release.aggregators import Moments, OneChoice, Rows
from discreet.release.sums.tree import TreeSum
from engine.counting import CountingPhase
from engine.statistics.blocks import added_up, exact, next_release, nobody, one_row, releases

USUAL = Privacy(1.0, 1e-6)


def total(method: str = "auto", **more: Any) -> RunningTotal[Any]:
    usual: dict[str, Any] = {
        "name": "gains",
        "wanted": Rows((2, 3), length=5.0),
        "schedule": EqualBlocks(40, 10),
        "privacy": USUAL,
    }
    return RunningTotal(**usual | more, people=10, method=method)


def segmented(method: str = "auto", **more: Any) -> RunningTotal[Any]:
    """Return a running total without horizon: segments of 2, 4, 8, … blocks of two rounds."""
    usual: dict[str, Any] = {"schedule": Segments(4, 2), "wanted": Rows((3,))}
    return total(method, **usual | more)


def plan_of(running: RunningTotal[Any]) -> Plan:
    phases = Scheduled.one(CountingPhase, running.schedule, running)
    return phases.plan(running.privacy)


def steps_of(plan: Plan) -> Callable[[int], Step | None]:
    assert plan.steps is not None
    return plan.steps


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["honaker", "toeplitz", "disjoint"])
def test_totals_are_in_the_units_of_peoples_numbers(method: str) -> None:
    """With the same random bits, totals with and without people differ by the people."""
    running = total(method)

    def released(people: np.ndarray) -> np.ndarray:
        totals = []
        for count, after in enumerate(releases(running, [one_row(row) for row in people]), 1):
            grid = running.aggregator.grid
            assert after.result.values.shape == (2, 3)
            assert after.result.variance == pytest.approx(running.sum.variance(count) * grid**2)
            assert after.result.step_variance == pytest.approx(
                running.sum.step_variance(count) * grid**2
            )
            totals.append(after.result.values)
        return np.array(totals)

    people = np.random.default_rng(0).uniform(-1, 1, size=(4, 2, 3))
    assert np.abs(released(people) - released(people * 0) - people.cumsum(axis=0)).max() < 1e-3


@pytest.mark.parametrize("method", ["honaker", "toeplitz", "disjoint"])
def test_totals_without_horizon_add_up_what_all_segments_released(method: str) -> None:
    running = segmented(method)
    people = np.random.default_rng(0).uniform(-0.5, 0.5, size=(14, 3))
    with_people = releases(running, [one_row(row) for row in people])
    without = releases(running, [nobody] * 14)
    moved = [
        one.result.values - two.result.values for one, two in zip(with_people, without, strict=True)
    ]
    assert np.abs(moved - people.cumsum(axis=0)).max() < 1e-3
    # A segment's sum begins anew: 2, 4 and 8 releases.
    assert [after.hidden["steps"] for after in without] == [1, 2, *range(1, 5), *range(1, 9)]


def test_noise_without_horizon_is_that_of_all_segments_together() -> None:
    running = segmented("disjoint")
    one_block = running.sum.variance(1) ** 0.5 * running.sum.aggregator.grid
    for count in (0, 1, 2, 3, 6, 7, 14):
        assert running.standard_deviation(count) == pytest.approx(one_block * count**0.5)


def test_facts_about_noise_are_those_of_each_total() -> None:
    running = total("disjoint")
    deviations = running.sum.variance(1) ** 0.5 * np.sqrt([1, 2, 3, 4]) * running.aggregator.grid
    assert running.noise * running.aggregator.bound == pytest.approx(deviations[-1])
    assert running.mean_noise == pytest.approx(deviations.mean())
    assert running.usual_noise == pytest.approx(np.exp(np.log(deviations).mean()))
    counts = np.arange(1, 5)
    assert np.allclose(
        running.covariance(counts), np.minimum.outer(counts, counts) * deviations[0] ** 2
    )


def test_two_totals_fit_in_one_state() -> None:
    first = total("honaker")
    second = total("honaker", name="costs", wanted=OneChoice((4,)))
    both = Scheduled.one(CountingPhase, first.schedule, first, second)
    public, hidden = both.layout(2)
    assert set(flat_hidden(hidden)) == {"gains.steps", "gains.nodes", "costs.steps", "costs.nodes"}
    assert public["gains"]["prefix"].shape == (6,)
    assert public["costs"]["prefix"].shape == (4,)
    assert releases(first, [nobody] * 2)[-1].hidden["steps"] == 2


# --- what it costs --------------------------------------------------------------------------------


def most_nodes(count: int) -> int:
    """Return the largest number of finished nodes of a binary tree that hold one of its leaves."""
    nodes = [
        range(first, first + 2**height)
        for height in range(count.bit_length())
        for first in range(0, count, 2**height)
        if first + 2**height <= count
    ]
    return max(sum(leaf in node for node in nodes) for leaf in range(count))


@pytest.mark.parametrize("blocks", range(1, 18))
def test_a_tree_charges_for_the_nodes_that_hold_the_first_person(blocks: int) -> None:
    running = total("honaker", schedule=EqualBlocks(10 * blocks, 10))
    tree = running.sum
    assert isinstance(tree, TreeSum)
    node = exact(tree.noise.charge(tree.aggregator.sensitivity(tree.noise.norm)))
    charges = [running.charge(number) for number in range(blocks)]
    assert added_up(charges) == node * most_nodes(blocks)
    # Rounded up, so that a product is never less than repeated charges.
    assert 0 <= exact(running.spent) - added_up(charges) <= added_up(charges) / 2**50
    assert exact(running.spent) <= exact(USUAL.budget)
    assert {running.cohort(number) for number in range(blocks)} == {None}
    assert not running.is_apart


@pytest.mark.parametrize("blocks", [1, 2, 3, 7, 8, 20])
def test_a_factorisation_charges_what_the_first_person_moves(blocks: int) -> None:
    """Releases 1, 2, 4, … pay ahead, so every sum of charges is at least what was moved by then."""
    running = total("toeplitz", schedule=EqualBlocks(10 * blocks, 10))
    sums: Any = running.sum
    used = sums.fixed.used
    column = [1.0]  # what the first person adds to each release: itself, and then by the buffers
    for row in range(1, blocks):
        column.append(float(np.sum(used.weight * (1 - used.decay) ** (row - 1))))
    paid = Fraction(0)
    for number in range(blocks):
        paid += exact(running.charge(number))
        norm = float(np.linalg.norm(column[: number + 1]))
        moved = norm * running.aggregator.sensitivity(2)
        moved += sums.rounding * ((number + 1) * running.aggregator.cells) ** 0.5
        assert float(paid) >= moved**2 / (2 * sums.noise.sigma**2) * (1 - 1e-9)
    assert float(paid) == pytest.approx(moved**2 / (2 * sums.noise.sigma**2), rel=1e-9)
    assert float(paid) == pytest.approx(running.spent.amount, rel=1e-12)
    assert exact(running.spent) <= exact(USUAL.budget)
    assert {running.cohort(number) for number in range(blocks)} == {None}


def test_disjoint_blocks_are_each_paid_for_by_their_own_people() -> None:
    running = total("disjoint")
    charges = {running.charge(number) for number in range(4)}
    assert charges == {running.spent}
    assert exact(running.spent) <= exact(max(USUAL.budgets, key=lambda each: each.amount))
    assert [running.cohort(number) for number in range(4)] == [0, 1, 2, 3]
    assert running.is_apart


@pytest.mark.parametrize("privacy", [USUAL, Privacy(1.0)], ids=repr)
@pytest.mark.parametrize("method", ["auto", "honaker"])
@pytest.mark.parametrize("share", [1.0, 0.25])
def test_each_segment_costs_its_own_people_no_more_than_the_share(
    privacy: Privacy, method: str, share: float
) -> None:
    running = segmented(method, privacy=privacy, share=share)
    starts = [0, 2, 6, 14, 30]
    segments = [list(range(first, after)) for first, after in pairwise(starts)]
    assert exact(running.spent) <= exact(privacy.budget * share)
    for segment in segments:
        assert {running.cohort(number) for number in segment} == {segment[0]}
        paid = added_up([running.charge(number) for number in segment])
        assert Fraction(9, 10) * exact(running.spent) <= paid <= exact(running.spent)


def test_a_pure_total_without_horizon_is_planned_in_the_measure_in_which_it_is_paid() -> None:
    running = segmented("honaker", pure=True, share=0.5)
    assert running.spent == pure(1.0) * 0.5
    assert {running.charge(number).measure for number in range(6)} == {"pure"}
    spending = plan_of(running).total
    assert (spending.zcdp, spending.everyone.amount) == (0.0, 0.0)
    assert spending.pure == running.spent.amount


def test_disjoint_segments_are_charged_block_by_block() -> None:
    running = segmented("disjoint")
    assert [running.cohort(number) for number in range(7)] == list(range(7))
    spending = plan_of(segmented("disjoint", privacy=Privacy(1.0, contributions=3, keyed=True)))
    assert spending.total.blocks == MOST_ROUNDS


def test_the_plan_is_that_of_the_mechanism_and_states_the_cost_of_a_person() -> None:
    shared = plan_of(total("toeplitz"))
    apart = plan_of(total("disjoint"))
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


def test_names_and_mechanisms_are_part_of_the_calibration() -> None:
    totals = [
        total("honaker"),
        total("toeplitz"),
        total("honaker", name="other"),
        total("honaker", schedule=EqualBlocks(50, 10)),
    ]
    assert len({plan_of(running).calibration for running in totals}) == 4


def test_a_pure_total_beside_a_granted_delta_is_paid_by_one_cohort_within_epsilon() -> None:
    """(ε, 0) implies (ε, δ): everyone pays in the pure measure, and no budget remains."""
    running = RunningTotal(
        "gains",
        Rows((2,), norm=1),
        EqualBlocks(40, 2),
        USUAL,
        people=2,
        method="honaker",
        pure=True,
    )
    plan = plan_of(running)
    ledger = Ledger(USUAL)
    for index in range(running.releases):
        step = steps_of(plan)(index)
        assert step is not None
        assert (step.charge.measure, step.cohort) == ("pure", 0)
        ledger = ledger.charge(step.charge, cohort=step.cohort)
    assert ledger.spent.epsilon(USUAL) == pytest.approx(plan.total.epsilon(USUAL))
    assert ledger.spent.epsilon(USUAL) == pytest.approx(1.0)
    with pytest.raises(BudgetError):
        ledger.charge(zcdp(0.001))


def test_a_total_with_a_share_pays_no_more_than_that() -> None:
    shared = total("honaker", share=0.75)
    assert plan_of(shared).total.everyone == shared.spent
    assert exact(shared.spent) <= Fraction(3, 4) * exact(USUAL.budget)


# --- what is refused ------------------------------------------------------------------------------


def test_a_total_released_more_often_than_it_is_calibrated_for_is_refused() -> None:
    """A Toeplitz sum charges nothing after its last release, although people go on to be read."""
    running = total("toeplitz", schedule=EqualBlocks(40, 10))
    assert running.charge(7).amount == 0
    longer = Scheduled.one(CountingPhase, EqualBlocks(80, 10), running)
    with pytest.raises(ConfigError, match="the schedule of its blocks"):
        longer.plan(USUAL)


def test_a_plan_whose_later_segments_cannot_be_calibrated_is_refused_at_once() -> None:
    tiny = Privacy(1e-6, 1e-9)
    running = segmented("toeplitz", privacy=tiny, wanted=Rows((1000,)))
    with pytest.raises(ConfigError):
        plan_of(running)


def test_people_cannot_be_added_on_the_grid_of_another_segment() -> None:
    """On a finer grid than the noise is calibrated for, one person would move the sum too far."""
    running = segmented("honaker", schedule=Segments(2**20, 2), wanted=Rows((3,)))
    with pytest.raises(ConfigError, match="aggregator_at"):
        _ = running.aggregator
    for number in (0, 2**19, 2**25):
        segment = running.place(number)[0]
        assert running.aggregator_at(number) == running.sum_of(segment).aggregator
    levels = {running.aggregator_at(number).levels for number in (0, 2**40)}
    assert len(levels) == 2


def test_other_aggregators_than_rows_are_summed_up_without_horizon() -> None:
    running = segmented(wanted=Moments.of(2, 3))
    assert isinstance(running.aggregator_at(40), Moments)


# --- mechanisms that differ between segments ------------------------------------------------------


def test_a_sum_goes_on_when_a_longer_segment_has_another_mechanism(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """A segment of one release has a tree; longer ones have less noise by a factorisation."""
    monkeypatch.setattr(prefixes, "FIRST_SEGMENT", 1)

    def made(journal: Any = None) -> RunningSum:
        return RunningSum(1, None, USUAL, bound=1.0, seed=3, journal=journal)

    mode: Any = RunningSum.problem_for(made().settings).mode
    assert [mode.total.sum_of(segment).name for segment in (0, 1)] == ["honaker", "toeplitz"]
    whole = made()
    expected = whole.replay([[0.5]] * 9)
    begun = made(tmp_path / "sum")
    shown = [begun.replay([[0.5]] * 1)]
    for _ in range(8):
        begun.release_if_due()
        begun.detach()
        begun = discreet.load(tmp_path / "sum")  # type: ignore[assignment]
        shown.append(begun.replay([[0.5]]))
    assert np.array_equal(np.concatenate(shown), expected)


def test_hidden_state_of_an_earlier_segment_does_not_remain() -> None:
    running = segmented("auto", schedule=Segments(2, 2), wanted=Rows((1,)))
    public, hidden = running.start()
    assert "nodes" in hidden
    for number in range(3):
        _, public, hidden = next_release(running, number, public, hidden)
        layout = running.layout(number + 1)
        assert set(public) == set(layout[0])
        assert set(hidden) == set(layout[1])
    assert "nodes" not in hidden
