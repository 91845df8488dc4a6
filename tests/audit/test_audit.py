"""If these fail, a mechanism of the library leaks, or the attack would not notice if one did.

Seeds are fixed; each bound holds with probability 1 − 10⁻⁶. Weak copies have half the noise that
their charge needs.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from discreet import Privacy, SetMaximizer
from discreet.audit.lower_bound import audit, through_doors
from discreet.budget.privacy import Charge, pure, zcdp
from discreet.engine.coins import Coins
from discreet.engine.flat_state import flat
from discreet.engine.problem import Problem
from discreet.engine.request import EMPTY_REQUEST, Batch
from discreet.engine.statistics import Occasion, OneRelease
from discreet.learners.set_maximizer.incumbent_search.releases import clicks_release
from discreet.learners.set_maximizer.incumbent_search.screening import FirstClicks
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.release.aggregators import Aggregate, OneChoice, PublicCells, Rows
from discreet.release.door import Door
from discreet.release.noise import CalibratedNoise, DiscreteGaussian, DiscreteLaplace, Noise
from discreet.release.randomness import seeded_bits
from discreet.release.selection import Selection
from discreet.release.sums.prefix_sum import PrefixSum, Stream, calibrate

TRIALS = 100_000
RELEASES = 4
pytestmark = pytest.mark.statistical


def halved(noise: Noise) -> Noise:
    if isinstance(noise, DiscreteGaussian):
        return DiscreteGaussian(noise.sigma // 2)
    assert isinstance(noise, DiscreteLaplace)
    return DiscreteLaplace(noise.scale // 2)


def outputs(sums: Any, *, first: int, weak: bool) -> np.ndarray:
    """Return the attacker's best statistic of the sums of four blocks.

    Only the first block has a person. Coordinates are independent, so one run with 100,000 of them
    is 100,000 runs with one.
    """
    levels = sums.aggregator.levels
    wide = Rows((TRIALS,), levels=levels)
    if hasattr(sums, "calibrated"):
        sums = replace(sums, calibrated=replace(sums.calibrated, aggregator=wide))
    else:
        sums = replace(sums, aggregator=wide)
    bits = seeded_bits(31, first + 2 * weak)

    def noised(noise: Noise, exact: np.ndarray) -> np.ndarray:
        return exact + (halved(noise) if weak else noise).draw(exact.size, bits)

    public, hidden = sums.start()
    prefixes = []
    for index in range(RELEASES):
        people = np.full(TRIALS, first * levels if index == 0 else 0, dtype=np.int64)
        public, hidden = sums.step(public, hidden, people, noised)
        prefixes.append(public["prefix"])
    best = np.linalg.solve(np.cov(prefixes), np.ones(RELEASES))
    return np.asarray(best @ np.array(prefixes))


@pytest.mark.parametrize(
    ("method", "privacy"),
    [
        ("toeplitz", Privacy(2.0, 1e-5)),
        ("honaker", Privacy(2.0, 1e-5)),
        ("honaker", Privacy(1.0)),
        ("disjoint", Privacy(1.0)),
    ],
)
def test_sums_stay_under_their_charge_and_half_the_noise_does_not(
    method: str, privacy: Privacy
) -> None:
    sums: PrefixSum = calibrate(privacy, Stream(Rows((1,)), RELEASES), method)
    claim = sums.spent(RELEASES)
    honest, weak = (
        audit(outputs(sums, first=1, weak=weak), outputs(sums, first=-1, weak=weak), claim)
        for weak in (False, True)
    )
    assert not honest.caught
    assert honest.shown > 0.25 * claim.amount  # the attack is a good one
    assert weak.caught


def selected(selection: Selection, scores: Aggregate, claim: Charge, seed: int) -> np.ndarray:
    half = scores.values.size // 2

    def passage(door: Door) -> float:
        return float(door.select(selection, scores) < half)

    return through_doors(passage, claim, trials=12_000, seed=seed)


@pytest.mark.parametrize(("claim", "behind"), [(zcdp(0.125), 0), (pure(1.0), 3)])
def test_selections_stay_under_their_charge_and_twice_the_rate_does_not(
    claim: Charge, behind: int
) -> None:
    """The worst neighbours: half of the items gain what the other half loses.

    A pure loss shows best in what is rarely drawn.
    """
    here = np.array([1, 1, behind, behind])
    there = np.array([0, 0, behind + 1, behind + 1])
    gains = Rows((4,), norm=np.inf, nonnegative=True)
    honest = Selection.for_budget(claim, gains, draws=1)
    fair_here = selected(honest, gains.holding(here), claim, seed=1)
    fair_there = selected(honest, gains.holding(there), claim, seed=2)
    assert not audit(fair_here, fair_there, claim).caught

    # This aggregator states half of the true span, so that the door lets the selection pass.
    understated = PublicCells((4,))
    weak = Selection.at_rate(2 * honest.rate, understated.span)
    unfair_here = selected(weak, understated.holding(here), claim, seed=3)
    unfair_there = selected(weak, understated.holding(there), claim, seed=4)
    assert audit(unfair_here, unfair_there, claim).caught


@pytest.mark.parametrize(
    ("noise", "claim"), [(DiscreteGaussian(4), zcdp(0.1251)), (DiscreteLaplace(2), pure(1.0001))]
)
def test_noise_through_a_door_stays_under_its_charge(noise: Noise, claim: Charge) -> None:
    numbers = PublicCells((1,), low=-1.0, high=1.0)  # replacing a person moves it by at most 2

    def outputs_of(value: int, seed: int) -> np.ndarray:
        total = numbers.holding(np.array([value]))
        return through_doors(
            lambda door: float(door.add_noise(noise, total)[0]), claim, trials=8_000, seed=seed
        )

    assert not audit(outputs_of(0, 5), outputs_of(2, 6), claim).caught
    # One person weighs three times as much as the aggregator allows.
    assert audit(outputs_of(0, 7), outputs_of(6, 8), claim).caught


def counted(problem: Problem, click: int, claim: Charge, seed: int) -> np.ndarray:
    """Return by how much item 0 leads item 1 in screenings in which one visitor clicks."""
    view = problem.view(flat(problem.start()[0]), 0, 0, Coins(bytes(16)))
    phase = view.phase
    assert isinstance(phase, FirstClicks)
    shown = view.decide(np.arange(100), EMPTY_REQUEST)
    round = next(place for place, slate in enumerate(shown) if {0, 1} <= set(slate.tolist()))
    block = view.empty_block()
    view.count(block, Batch(np.array([round]), [click], EMPTY_REQUEST))

    def passage(door: Door) -> float:
        # Clicks of one visitor are 0 or 1: an attacker clips to that range.
        sums = phase.sums
        released, _, _ = sums.release(Occasion(0, 0, 0), {}, {}, sums.of(block), door)
        first, second = np.clip(released[:2], 0.0, 1.0)
        return float(first - second)

    return through_doors(passage, claim, trials=4_000, seed=seed)


@dataclass(frozen=True)
class Understated(OneChoice):
    """States half of its sensitivity, so that the door lets half the noise pass."""

    def unit_sensitivity(self, norm: int) -> float:
        # A little less than half, because half of an odd scale is rounded.
        return super().unit_sensitivity(norm) / 2.001


def test_a_screening_stays_under_its_charge_and_half_the_noise_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The worst neighbours: one visitor's click moves from one candidate to another."""
    settings = SetMaximizerSettings(
        epsilon=1.0,
        delta=1e-3,
        horizon=4000,
        seed=1,
        items=4,
        slots=2,
        feedback="clicks",
        stream="iid",
    )
    problem = SetMaximizer.problem_for(settings)
    release = clicks_release(settings)
    claim = release.charge(0)
    honest = audit(counted(problem, 0, claim, 41), counted(problem, 1, claim, 42), claim)
    assert not honest.caught
    assert honest.shown > 0.2 * claim.amount

    weak = OneRelease(release.name, _weak(release.calibrated))
    monkeypatch.setattr(FirstClicks, "sums", weak)
    assert audit(counted(problem, 0, claim, 43), counted(problem, 1, claim, 44), claim).caught


def _weak(once: CalibratedNoise[OneChoice]) -> CalibratedNoise[OneChoice]:
    return CalibratedNoise(
        Understated(once.aggregator.shape, levels=once.aggregator.levels), halved(once.noise)
    )
