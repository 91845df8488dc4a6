"""Attacks on the shipped mechanisms. If an honest one is caught, or a weak one is not, believe nothing else here.

Seeds are fixed; each bound holds with probability 1 − 10⁻⁶. Weak copies have half the noise that their charge needs.
"""

from dataclasses import replace

import numpy as np
import pytest

from discreet import Privacy, SetMaximizer
from discreet.lab.audit import audit, through_doors
from discreet.release.door import Door
from discreet.release.noise import DiscreteGaussian, DiscreteLaplace
from discreet.release.privacy import Charge, pure, zcdp
from discreet.release.randomness import seeded_words
from discreet.release.selection import Selection
from discreet.release.sums import Stream, calibrate
from discreet.release.turn import Batch

TRIALS = 100_000
pytestmark = pytest.mark.statistical


def outputs(method: str, budget: Charge, *, first: int, weak: bool) -> np.ndarray:
    """What an attacker sees of a sum of four people, of whom only the first contributes: the best weighted mean of all prefixes.

    Coordinates are independent, so one run with 100,000 of them is 100,000 runs with one.
    """
    single = calibrate(method, budget, Stream(4, 1, 2, nonnegative=False))
    sums = replace(single, stream=replace(single.stream, dimension=TRIALS))  # type: ignore[type-var]
    if weak:
        noise = sums.noise  # type: ignore[attr-defined]
        halved = (
            DiscreteGaussian(noise.sigma // 2)
            if isinstance(noise, DiscreteGaussian)
            else DiscreteLaplace(noise.scale // 2)
        )
        sums = replace(sums, noise=halved)  # type: ignore[type-var]
    public, secret = sums.start()
    words, prefixes = seeded_words(31, first + 2 * weak), []
    for index in range(4):
        people = np.full(TRIALS, first * sums.levels if index == 0 else 0, dtype=np.int64)
        public, secret = sums.step(public, secret, people, words)
        prefixes.append(public["prefix"])
    noise_of_prefixes = np.cov(prefixes)
    best = np.linalg.solve(noise_of_prefixes, np.ones(4))
    return np.asarray(best @ np.array(prefixes))


@pytest.mark.parametrize(
    ("method", "budget"),
    [
        ("toeplitz", zcdp(0.1)),
        ("honaker", zcdp(0.1)),
        ("tree", zcdp(0.1)),
        ("honaker", pure(1.0)),
        ("tree", pure(1.0)),
    ],
)
def test_sums_keep_their_charge_and_half_the_noise_does_not(method: str, budget: Charge) -> None:
    honest = audit(
        outputs(method, budget, first=1, weak=False), outputs(method, budget, first=-1, weak=False), budget
    )
    assert not honest.caught
    assert honest.shown > 0.25 * budget.amount  # the attack is a good one
    assert audit(
        outputs(method, budget, first=1, weak=True), outputs(method, budget, first=-1, weak=True), budget
    ).caught


def selected(selection: Selection, claim: Charge, scores: np.ndarray, seed: int) -> np.ndarray:
    def passage(door: Door) -> float:
        return float(door.select(selection, scores) < scores.size // 2)

    return through_doors(passage, claim, trials=12_000, seed=seed)


@pytest.mark.parametrize(("claim", "behind"), [(zcdp(0.125), 0), (pure(1.0), 3)])
def test_selections_keep_their_charge_and_twice_the_rate_does_not(claim: Charge, behind: int) -> None:
    """The worst neighbours: half of the items gain what the other half loses; a pure loss shows best in what is rarely drawn."""
    here, there = np.array([1, 1, behind, behind]), np.array([0, 0, behind + 1, behind + 1])
    honest = Selection.for_budget(claim, draws=1, span=2)
    assert not audit(selected(honest, claim, here, 1), selected(honest, claim, there, 2), claim).caught
    weak = Selection.at_rate(
        2 * honest.rate, span=1
    )  # claims half of its true span, so that the door lets it pass
    assert audit(selected(weak, claim, here, 3), selected(weak, claim, there, 4), claim).caught


@pytest.mark.parametrize(
    ("noise", "claim"), [(DiscreteGaussian(4), zcdp(0.1251)), (DiscreteLaplace(2), pure(1.0001))]
)
def test_noise_through_a_door_keeps_its_charge(
    noise: DiscreteGaussian | DiscreteLaplace, claim: Charge
) -> None:
    def outputs_of(value: int, sensitivity: float, seed: int) -> np.ndarray:
        return through_doors(
            lambda door: float(door.add_noise(noise, np.array([value]), sensitivity=sensitivity)[0]),
            claim,
            trials=8_000,
            seed=seed,
        )

    assert not audit(outputs_of(0, 2.0, 5), outputs_of(2, 2.0, 6), claim).caught
    assert audit(
        outputs_of(0, 2.0, 7), outputs_of(6, 2.0, 8), claim
    ).caught  # somebody who weighs three times what was declared


def counted(learner: SetMaximizer, click: int, claim: Charge, seed: int) -> np.ndarray:
    """What an attacker sees of a race in which one visitor clicks: how much more item 0 was clicked than item 1."""
    public, secret = learner.start()
    round = next(
        number
        for number in range(100)
        if {0, 1} <= set(learner.decide_many(public, range(number, number + 1), b"")[0])
    )
    secret = learner.digest(public, secret, Batch(0, [round], [click]))

    def passage(door: Door) -> float:
        after, _ = learner._mode.release(public, secret, replace_index(door))
        return float(after["sums"][0] - after["sums"][1])

    return through_doors(passage, claim, trials=8_000, seed=seed)


def replace_index(door: Door) -> Door:
    door.index = 0  # every trial is the first release
    return door


def test_a_race_keeps_its_charge_and_half_the_noise_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst neighbours: one visitor's click moves from one candidate to another."""
    from discreet.learners.sets import race

    monkeypatch.setattr(race, "MOST_CELLS", 64)
    monkeypatch.setattr(race, "CARRIED", 1.0)  # show the sums of the race that is over
    privacy = Privacy(3.0, 1e-3)
    claim = privacy.budget
    learner = SetMaximizer(4, 2, 4000, privacy, feedback="clicks", stream="iid", seed=1)
    honest = audit(counted(learner, 0, claim, 41), counted(learner, 1, claim, 42), claim)
    assert not honest.caught
    assert honest.shown > 0.2 * claim.amount
    plain = race.Race._noise

    def halved(self: race.Race, index: int) -> tuple[int, DiscreteGaussian, float]:
        levels, noise, sensitivity = plain(self, index)
        assert isinstance(noise, DiscreteGaussian)
        return (
            levels,
            DiscreteGaussian(noise.sigma // 2),
            sensitivity / 2,
        )  # claims half the sensitivity, so that the door lets it pass

    monkeypatch.setattr(race.Race, "_noise", halved)
    assert audit(counted(learner, 0, claim, 43), counted(learner, 1, claim, 44), claim).caught
