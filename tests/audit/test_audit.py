"""Attacks on the shipped mechanisms: if an honest one is caught, or a weak one is not, believe
nothing here.

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
from discreet.engine.request import EMPTY_REQUEST, Batch
from discreet.engine.view import nobody
from discreet.learners.one_release import OneRelease
from discreet.learners.set_maximizer.incumbent_search import IncumbentSearch
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
    """The best that an attacker makes of the sums of four people, of whom only the first
    contributes.

    Coordinates are independent, so one run with 100,000 of them is 100,000 runs with one.
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
        ("fresh", Privacy(1.0)),
    ],
)
def test_sums_keep_their_charge_and_half_the_noise_does_not(method: str, privacy: Privacy) -> None:
    sums: PrefixSum = calibrate(privacy, Stream(Rows((1,)), RELEASES), method)
    claim = sums.spent(RELEASES)
    honest = audit(outputs(sums, first=1, weak=False), outputs(sums, first=-1, weak=False), claim)
    assert not honest.caught
    assert honest.shown > 0.25 * claim.amount  # the attack is a good one
    assert audit(
        outputs(sums, first=1, weak=True), outputs(sums, first=-1, weak=True), claim
    ).caught


def selected(selection: Selection, scores: Aggregate, claim: Charge, seed: int) -> np.ndarray:
    half = scores.values.size // 2

    def passage(door: Door) -> float:
        return float(door.select(selection, scores) < half)

    return through_doors(passage, claim, trials=12_000, seed=seed)


@pytest.mark.parametrize(("claim", "behind"), [(zcdp(0.125), 0), (pure(1.0), 3)])
def test_selections_keep_their_charge_and_twice_the_rate_does_not(
    claim: Charge, behind: int
) -> None:
    """The worst neighbours: half of the items gain what the other half loses.

    A pure loss shows best in what is rarely drawn.
    """
    here, there = np.array([1, 1, behind, behind]), np.array([0, 0, behind + 1, behind + 1])
    gains = Rows((4,), norm=np.inf, nonnegative=True)
    honest = Selection.for_budget(claim, gains, draws=1)
    fair = [
        selected(honest, gains.holding(each), claim, seed) for seed, each in ((1, here), (2, there))
    ]
    assert not audit(*fair, claim).caught
    understated = PublicCells(
        (4,)
    )  # claims half of the true span, so that the door lets the selection pass
    weak = Selection.at_rate(2 * honest.rate, understated.span)
    unfair = [
        selected(weak, understated.holding(each), claim, seed)
        for seed, each in ((3, here), (4, there))
    ]
    assert audit(*unfair, claim).caught


@pytest.mark.parametrize(
    ("noise", "claim"), [(DiscreteGaussian(4), zcdp(0.1251)), (DiscreteLaplace(2), pure(1.0001))]
)
def test_noise_through_a_door_keeps_its_charge(noise: Noise, claim: Charge) -> None:
    numbers = PublicCells((1,), low=-1.0, high=1.0)  # replacing a person moves it by at most 2

    def outputs_of(value: int, seed: int) -> np.ndarray:
        total = numbers.holding(np.array([value]))
        return through_doors(
            lambda door: float(door.add_noise(noise, total)[0]), claim, trials=8_000, seed=seed
        )

    assert not audit(outputs_of(0, 5), outputs_of(2, 6), claim).caught
    assert audit(
        outputs_of(0, 7), outputs_of(6, 8), claim
    ).caught  # somebody who weighs three times as much


def counted(swap: IncumbentSearch, click: int, claim: Charge, seed: int) -> np.ndarray:
    """What an attacker sees of a screening in which one visitor clicks: how far item 0 is ahead
    of item 1.
    """
    view = swap.view(flat(swap.start()[0]), 0, 0, Coins(bytes(16)))
    assert isinstance(view, FirstClicks)
    shown = view.decide(np.arange(100), EMPTY_REQUEST)
    round = next(place for place, slate in enumerate(shown) if {0, 1} <= set(slate.tolist()))
    block = nobody(view)
    view.gather(block, view.read(Batch(np.array([round]), [click], EMPTY_REQUEST)))

    def passage(door: Door) -> float:
        first, second = np.clip(
            view.sums.drawn(block, door)[:2], 0.0, 1.0
        )  # all that is to be known
        return float(first - second)

    return through_doors(passage, claim, trials=4_000, seed=seed)


@dataclass(frozen=True)
class Understated(OneChoice):
    """Says that a person moves half of what they move, so that the door lets half the noise
    pass.
    """

    def unit_sensitivity(self, norm: int) -> float:
        return (
            super().unit_sensitivity(norm) / 2.001
        )  # a little less: half of an odd scale is rounded


def test_a_screening_keeps_its_charge_and_half_the_noise_does_not(
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
    swap = SetMaximizer.problem_for(settings)
    assert isinstance(swap, IncumbentSearch)
    found = clicks_release(settings)
    claim = found.charge
    honest = audit(counted(swap, 0, claim, 41), counted(swap, 1, claim, 42), claim)
    assert not honest.caught
    assert honest.shown > 0.2 * claim.amount
    weak = OneRelease(found.name, _weak(found.calibrated))
    monkeypatch.setattr(FirstClicks, "sums", weak)
    assert audit(counted(swap, 0, claim, 43), counted(swap, 1, claim, 44), claim).caught


def _weak(once: CalibratedNoise) -> CalibratedNoise:
    return CalibratedNoise(
        Understated(once.aggregator.shape, levels=once.aggregator.levels), halved(once.noise)
    )
