"""If these fail, a person who returns loses more privacy than all their rounds were charged."""

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from discreet import (
    BudgetError,
    ConfigError,
    ContextualBandit,
    Privacy,
    RunningSum,
    SetMaximizer,
    StreamingLearner,
    together,
)
from discreet.audit import Case, audit_transcript, weakened
from discreet.audit.cases.learners import keyed_cases
from discreet.audit.transcript import measured_costs
from discreet.budget.ledger import Ledger, Spending
from discreet.budget.privacy import Times, pure, zcdp
from discreet.domains import LpBall
from discreet.engine.people import Entered, People
from discreet.engine.plan import paid_by_cohorts
from discreet.learners.forced import forced
from discreet.losses import SquaredLoss

KEYED = Privacy(1.0, 1e-6, contributions=4, keyed=True)
PLAIN = Privacy(1.0, 1e-6, contributions=4)
CAUGHT = 1 + 1e-6


# --- 1. the exact law, enumerated


def gaussian(sigma: float, reach: int) -> np.ndarray:
    """Return discrete Gaussian probabilities from −reach to reach; the tails vanish in floats."""
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * sigma**2))
    return np.asarray(weights / weights.sum())


def divergence(here: np.ndarray, there: np.ndarray, order: float) -> float:
    """Return the Rényi divergence of two laws."""
    exponents = order * np.log(here) + (1 - order) * np.log(there)
    return float(np.logaddexp.reduce(exponents, axis=None) / (order - 1))


def two_blocks(sigma: float, moved: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the joint law of two noisy numbers, and this law moved by integer steps."""
    reach = 40
    law = gaussian(sigma, reach)
    both = np.outer(law, law)
    return both, np.roll(np.roll(both, moved[0], axis=0), moved[1], axis=1)


@pytest.mark.parametrize("order", [1.01, 1.5, 2, 4, 8])
def test_one_round_in_each_of_two_disjoint_blocks_costs_twice_one_round(order: float) -> None:
    """By the exact law, two blocks cost 2ρ′, ρ′ = ½·(1/σ)²; group privacy would charge 4ρ′."""
    sigma = 3.0
    here, there = two_blocks(sigma, (1, 1))
    cost = divergence(here, there, order) / order
    one = 1 / (2 * sigma**2)
    assert cost <= 2 * one * (1 + 1e-9)
    assert cost > 1.9 * one


def test_two_rounds_in_one_block_or_in_one_running_sum_cost_more_than_twice_one() -> None:
    """Group privacy is nearly tight here, so one round counts per block, and sums pay c²."""
    one_block = two_blocks(3.0, (2, 0))
    assert divergence(*one_block, 2) / 2 > 3.9 / 18
    factors = []
    for releases in (16, 256):
        c = np.cumprod([1.0, *((2 * k - 1) / (2 * k) for k in range(1, releases))])
        shifted = np.concatenate([[0.0], c[:-1]])
        factors.append(float(np.sum((c + shifted) ** 2) / np.sum(c**2)))
    assert all(3.2 < factor < 4 for factor in factors)
    assert factors[1] > 3.4


def moved_cells(answers: tuple[bool, bool], *, first_answered: bool) -> np.ndarray:
    """Return what a person adds who answers 1 or nothing in rounds 0 and 1 (cells 0 and 1)."""
    cells = np.zeros(2)
    counts = [True, False]
    if first_answered:
        counts = [answers[0], answers[1] and not answers[0]]
    for round in (0, 1):
        cells[round] = answers[round] and counts[round]
    return cells


def test_counting_the_first_answered_round_would_move_two_public_cells() -> None:
    """All pairs of answers of one person in two rounds of a block with public cells."""
    answers = [(first, second) for first in (False, True) for second in (False, True)]
    largest = {}
    for rule in (False, True):
        moved = [moved_cells(each, first_answered=rule) for each in answers]
        largest[rule] = max(float(np.abs(a - b).sum()) for a, b in product(moved, moved))
    assert largest == {False: 1.0, True: 2.0}


# --- 2. plans, charges and guarantees


def test_blocks_that_pay_apart_cost_their_number_and_everything_else_the_square() -> None:
    assert PLAIN.times(blocks=50) == Times(4, 16)
    assert KEYED.times(blocks=50) == KEYED.times(blocks=4) == Times(4, 4)
    assert KEYED.times(blocks=3) == Times(3, 3)
    assert KEYED.times(blocks=0) == Times(4, 16)
    assert KEYED.budget == PLAIN.budget
    assert KEYED.apart(blocks=50) == (pure(0.25), KEYED.whole / 4)
    assert Spending(zcdp(0.001), zcdp=0.001, blocks=9).times(KEYED) == Times(4, 16)


def test_the_discount_lowers_the_noise_of_disjoint_blocks_only() -> None:
    def facts(privacy: Privacy, mode: str = "auto") -> dict[str, Any]:
        return forced(RunningSum, mode, 20, 1000, privacy, bound=1.0, block=100).facts

    half = facts(PLAIN, "disjoint")["noise"] / 2
    assert facts(KEYED, "disjoint")["noise"] == pytest.approx(half, rel=0.01)
    assert facts(KEYED, "toeplitz")["noise"] == facts(PLAIN, "toeplitz")["noise"]
    assert facts(KEYED, "disjoint")["a_person_pays"] == 4
    assert facts(KEYED, "toeplitz")["a_person_pays"] == 16
    endless = forced(
        RunningSum,
        "disjoint",
        20,
        None,
        Privacy(1.0, 1e-6, contributions=300, keyed=True),
        bound=1.0,
    )
    assert endless.facts["a_person_pays"] == 300  # not the 256 releases of a segment
    bandit = ContextualBandit(3, 2, 400, KEYED)
    assert bandit.facts["a_person_pays"] == 16
    assert "a_person_pays" not in facts(PLAIN)


def test_no_person_pays_more_often_than_there_are_blocks() -> None:
    often = Privacy(1.0, 1e-6, contributions=1000, keyed=True)
    shop = SetMaximizer(20, 3, 10_000, often, stream="iid")
    assert shop.facts["a_person_pays"] == shop.facts["releases"] < 10
    assert shop.guarantee.total.epsilon(often) <= 1.0
    settings: dict[str, Any] = {"feature_bound": 1.0, "target_bound": 1.0, "method": "passes"}
    alone, many = (
        StreamingLearner(LpBall(5), SquaredLoss(), 3000, privacy, **settings)
        for privacy in (Privacy(1.0, 1e-6), often)
    )
    assert alone.facts | {"a_person_pays": 1} == many.facts
    assert "the plan has no more" in " ".join(str(many.guarantee).split())
    disjoint = forced(RunningSum, "disjoint", 1, 100, KEYED, bound=1.0)
    assert "the caller ensures this" in " ".join(str(disjoint.guarantee).split())


def test_the_ledger_refuses_the_discount_to_cohorts_that_pay_together() -> None:
    price = KEYED.whole / 4
    ledger = Ledger(KEYED)
    for block in range(50):
        ledger = ledger.charge(price, cohort=block)
    assert ledger.spent == paid_by_cohorts(KEYED, [price], blocks=50)
    assert ledger.spent.epsilon(KEYED) == pytest.approx(1.0, abs=1e-9)
    with pytest.raises(BudgetError):  # a second release of the same people: a running sum
        ledger.charge(zcdp(0.0), cohort=49)
    with pytest.raises(BudgetError):
        ledger.charge(zcdp(1e-9))
    with pytest.raises(BudgetError):
        Ledger.of(KEYED, paid_by_cohorts(KEYED, [price]))
    with pytest.raises(BudgetError):
        Ledger(PLAIN).charge(price, cohort=0)
    with pytest.raises(ConfigError, match="one measure"):
        ledger.charge(pure(0.01), cohort=50)
    assert Ledger.from_plain(KEYED, ledger.as_plain()) == ledger
    assert set(Ledger(KEYED).as_plain()) - set(Ledger(PLAIN).as_plain()) == {"apart"}


def test_spending_grows_with_the_blocks_and_ends_within_the_budget() -> None:
    sums = forced(RunningSum, "disjoint", 3, 12, KEYED, bound=1.0, block=2, seed=1)
    spent = []
    for round in range(12):
        sums.add([0.1, 0.2, 0.3], person="ann" if round % 2 else round)
        spent.append(sums.guarantee.epsilon_spent)
    assert all(one <= two for one, two in pairwise(spent))
    assert spent[1] < spent[3] < spent[7] == spent[11] <= 1.0
    assert sums.guarantee.rho == pytest.approx(4 * sums.guarantee.spent.zcdp)


def test_joint_guarantees_of_several_learners_count_blocks_apart() -> None:
    accounting = pytest.importorskip("dp_accounting")
    sums = [
        forced(RunningSum, "disjoint", 20, 1000, KEYED, bound=1.0, block=100, seed=seed)
        for seed in (1, 2)
    ]
    for each in sums:
        each.replay(np.full((1000, 20), 0.1), persons=np.arange(1000) % 7)
    guarantee = sums[0].guarantee
    accountant = accounting.rdp.RdpAccountant(orders=np.geomspace(1.01, 2000, 4000))
    accountant.compose(guarantee.event())
    assert accountant.get_epsilon(1e-6) == pytest.approx(guarantee.epsilon_spent, rel=1e-3)
    assert guarantee.epsilon_spent == pytest.approx(1.0, abs=1e-6)
    both = together(*sums)
    assert both.total.rho(both.privacy) == pytest.approx(2 * KEYED.whole.amount, rel=1e-6)
    assert "The caller ensures that names are right" in " ".join(str(both).split())
    assert "names are" not in str(together(*[RunningSum(1, 9, PLAIN, bound=1.0) for _ in range(2)]))
    pure_ones = SetMaximizer(
        20, 3, 10_000, Privacy(1.0, contributions=50, keyed=True), stream="iid"
    )
    assert together(pure_ones, sums[0]).epsilon < 2.0


# --- 3. audits, and copies that must be caught


@pytest.mark.parametrize("case", keyed_cases(), ids=lambda case: case.name)
def test_all_rounds_of_a_person_who_returns_cost_at_most_what_is_charged(case: Case) -> None:
    audit_transcript(case, pairs=5, seed=len(case.name))


def case_named(name: str) -> Case:
    """Return the keyed case of this name."""
    return next(case for case in keyed_cases() if case.name == name)


@pytest.mark.parametrize("name", ["keyed, sum, disjoint", "keyed, arms", "keyed, rewards"])
def test_half_the_noise_of_keyed_learners_is_caught(name: str) -> None:
    with weakened():
        costs = measured_costs(case_named(name), pairs=60, seed=3, enough=CAUGHT)
    assert costs.largest_cost_over_charge > CAUGHT


def test_a_copy_that_counts_the_first_answered_round_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def noted(self: Any, first: int, names: Any) -> Entered:
        self.whose = getattr(self, "whose", {}) | dict(enumerate(names, first))
        return Entered([], [])

    def is_first(self: Any, round: int) -> bool:
        self.answered = getattr(self, "answered", set())
        name = self.whose[round]
        has_answered = name in self.answered or not name
        self.answered.add(name)
        return not has_answered

    monkeypatch.setattr(People, "enter", noted)
    monkeypatch.setattr(People, "counts", is_first)
    monkeypatch.setattr(
        People,
        "counting",
        lambda self, rounds: np.array([self.counts(r) for r in rounds.tolist()], dtype=bool),
    )
    monkeypatch.setattr(People, "state", lambda self: None)
    costs = measured_costs(case_named("keyed, rewards, long"), pairs=200, seed=1, enough=CAUGHT)
    assert costs.largest_cost_over_charge > CAUGHT


def test_a_copy_in_which_every_round_counts_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(People, "enter", lambda self, first, names: Entered([], []))
    costs = measured_costs(case_named("keyed, sum, disjoint"), pairs=100, seed=1, enough=CAUGHT)
    assert costs.largest_cost_over_charge > CAUGHT


def test_a_copy_that_gives_the_discount_to_a_running_sum_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two rounds in adjacent blocks cost 3.5 times one round, and two times were charged."""
    monkeypatch.setattr(
        Privacy, "times", lambda self, blocks: Times(self.contributions, self.contributions)
    )
    costs = measured_costs(case_named("keyed, sum, toeplitz"), pairs=100, seed=1, enough=CAUGHT)
    assert costs.largest_cost_over_charge > CAUGHT
