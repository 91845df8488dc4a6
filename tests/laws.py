"""Exact laws and divergences, written independently of the library; and doors that write down what passes.

`Transcript` is how a whole learner is checked without statistics. A run of one stream is written down; a
neighbour's run is then answered with the very same noisy numbers and choices, as the definition of privacy
asks, and the exact integers behind each passage are compared.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any

import mpmath
import numpy as np
from scipy.stats import beta

from discreet.budget.ledger import Spending
from discreet.budget.privacy import Charge
from discreet.release.door import Door
from discreet.release.noise import DiscreteGaussian, DiscreteLaplace, Noise
from discreet.release.randomness import Words
from discreet.release.selection import Selection

ORDERS = np.concatenate([np.linspace(1.01, 4, 25), np.geomspace(4, 5000, 40)])
FEW_ORDERS = np.array([1.01, 2.0, 6.0])


def gaussian_law(sigma: int, reach: int) -> dict[int, mpmath.mpf]:
    """The discrete Gaussian on −reach … reach."""
    variance = mpmath.mpf(sigma) ** 2
    weights = {x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * variance)) for x in range(-reach, reach + 1)}
    total = mpmath.fsum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def laplace_law(scale: int, reach: int) -> dict[int, mpmath.mpf]:
    """The discrete Laplace on −reach … reach."""
    weights = {x: mpmath.exp(-mpmath.mpf(abs(x)) / scale) for x in range(-reach, reach + 1)}
    total = mpmath.fsum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def selection_law(
    selection: Selection, scores: list[int], available: list[bool] | None = None
) -> list[Fraction]:
    """The exact probabilities of a draw, from the integer weights of the shipped kernel."""
    mask = None if available is None else np.array(available)
    high, low = selection.weights(np.array(scores, dtype=np.int64), mask)
    weights = [(int(top) << 64) + int(bottom) for top, bottom in zip(high, low, strict=True)]
    return [Fraction(weight, sum(weights)) for weight in weights]


def zcdp_of(here: list[Fraction], there: list[Fraction], orders: np.ndarray = ORDERS) -> float:
    """The smallest ρ with D_α(here‖there) ≤ αρ on a grid of orders, both ways round."""
    pairs = [(_real(p), _real(q)) for p, q in zip(here, there, strict=True) if p > 0 or q > 0]
    largest = mpmath.mpf(0)
    for order in map(mpmath.mpf, orders):
        for forth in (True, False):
            moment = mpmath.fsum(
                (p**order * q ** (1 - order)) if forth else (q**order * p ** (1 - order)) for p, q in pairs
            )
            largest = max(largest, mpmath.log(moment) / (order - 1) / order)
    return float(largest)


def epsilon_of(here: list[Fraction], there: list[Fraction]) -> float:
    """The smallest pure ε."""
    pairs = [(_real(p), _real(q)) for p, q in zip(here, there, strict=True) if p > 0 or q > 0]
    return max(abs(float(mpmath.log(p / q))) for p, q in pairs)


def _real(fraction: Fraction) -> mpmath.mpf:
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def shown_loss(here: np.ndarray, there: np.ndarray, measure: str, error: float = 1e-6) -> float:
    """What an attacker has shown, with probability 1 − error: the true charge is at least this.

    The threshold is chosen on the first half of the outputs and judged on the second, by Clopper and
    Pearson's interval.
    """
    first, second = here.size // 2, there.size // 2
    thresholds = np.unique(np.quantile(np.concatenate([here[:first], there[:second]]), np.linspace(0, 1, 99)))
    best = max(thresholds, key=lambda at: _event_loss(here[:first] > at, there[:second] > at, measure, 1e-3))
    return _event_loss(here[first:] > best, there[second:] > best, measure, error)


def _event_loss(likely: np.ndarray, unlikely: np.ndarray, measure: str, error: float) -> float:
    """The smallest charge that allows an event to be this likely here and this unlikely there."""
    hits, trials = int(likely.sum()), likely.size
    low = float(beta.ppf(error / 2, hits, trials - hits + 1)) if hits else 0.0
    hits, trials = int(unlikely.sum()), unlikely.size
    high = float(beta.ppf(1 - error / 2, hits + 1, trials - hits)) if hits < trials else 1.0
    if low <= high:
        return 0.0
    if measure == "pure":
        return log(low / high)
    orders = np.geomspace(1.001, 200, 60)
    happens = orders * np.log(low) + (1 - orders) * np.log(high)
    not_so = orders * np.log1p(-low) + (1 - orders) * np.log1p(-high)
    return float(np.max(np.logaddexp(happens, not_so) / (orders - 1) / orders))


@dataclass(frozen=True)
class Passage:
    """One draw at a door: in which release, by which mechanism, on which exact integers, and what came out."""

    release: int
    measure: str
    mechanism: Noise | Selection
    exact: np.ndarray
    available: Any
    answer: Any


class Transcript:
    """All passages of a run; with a `script`, the answers are those of another run."""

    def __init__(self, script: "Transcript | None" = None) -> None:
        self.passages: list[Passage] = []
        self.script = script

    def door(self, words: Words, reserved: Charge, index: int) -> Door:
        """What a learner takes as `door`."""
        return _Recording(self, words, reserved, index)

    def note(
        self, release: int, measure: str, mechanism: Any, exact: Any, available: Any, draw: Callable[[], Any]
    ) -> Any:
        """Write a passage down, and answer it."""
        scripted = None if self.script is None else self.script.passages[len(self.passages)]
        answer = draw() if scripted is None else scripted.answer
        self.passages.append(Passage(release, measure, mechanism, np.array(exact), available, answer))
        return answer

    def losses(self, neighbour: "Transcript") -> dict[str, float]:
        """The exact losses of all passages, added up in each measure."""
        total = {"pure": 0.0, "zcdp": 0.0}
        for here, there in zip(self.passages, neighbour.passages, strict=True):
            assert here.mechanism == there.mechanism  # public: the same for any data
            assert np.array_equal(here.available, there.available)
            total[here.measure] += _loss(here, there)
        return total


class _Recording(Door):
    """A door that writes everything into a transcript."""

    def __init__(self, transcript: Transcript, words: Words, reserved: Charge, index: int) -> None:
        super().__init__(words, reserved, index)
        self.transcript = transcript
        self.measure = reserved.measure

    def noised(self, noise: Noise, exact: Any) -> Any:
        draw = super().noised
        return self.transcript.note(
            self.index, self.measure, noise, exact, None, lambda: draw(noise, exact)
        ).copy()

    def draw(self, selection: Selection, scores: Any, available: Any) -> Any:
        draw = super().draw
        return self.transcript.note(
            self.index, self.measure, selection, scores, available, lambda: draw(selection, scores, available)
        )


def _loss(here: Passage, there: Passage) -> float:
    if np.array_equal(here.exact, there.exact):
        return 0.0
    if isinstance(here.mechanism, Selection):
        available = None if here.available is None else here.available.tolist()
        laws = [
            selection_law(here.mechanism, side.exact.tolist(), available) for side in (here, there)
        ]
        return epsilon_of(*laws) if here.measure == "pure" else zcdp_of(*laws, orders=FEW_ORDERS)
    shifts = (here.exact - there.exact).astype(np.float64)
    if isinstance(here.mechanism, DiscreteLaplace):
        assert here.measure == "pure"
        return float(np.abs(shifts).sum()) / here.mechanism.scale
    assert isinstance(here.mechanism, DiscreteGaussian)
    assert here.measure == "zcdp"
    return float(np.sum(shifts**2)) / (2 * here.mechanism.sigma**2)


def fits(losses: dict[str, float], total: Spending, slack: float = 1e-9) -> bool:
    """Whether what one person lost is within what the plan says that anyone pays."""
    if total.everyone.measure == "pure":
        return losses["zcdp"] == 0 and losses["pure"] <= (total.everyone.amount + total.pure) * (1 + slack)
    return losses["pure"] <= total.pure * (1 + slack) and (
        losses["zcdp"] <= (total.everyone.amount + total.zcdp) * (1 + slack)
    )
