"""Functions of amounts: how much of each item, with diminishing returns in every amount.

    BudgetAllocation         1 − ∏(1 − p_a)^{x_a}: the probability of reaching a person
    ConcaveOfLinear(curve)   h(scale · ⟨w, x⟩) with a concave h: a weighted sum, cut down
    Quadratic                ⟨b, x⟩ − ½·⟨x, Hx⟩ with H ≥ 0 in every entry: items that compete

Rows are clipped so that every function is monotone on [0, 1]ⁿ.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet import require
from discreet.arrays import Floats, Mask
from discreet.engine.codec import check_fields
from discreet.functions.sets import ClickModel

SURE = 0.999
"""Largest probability with which a channel reaches a person."""


@dataclass(frozen=True)
class BudgetAllocation:
    """Amounts of advertising channels: f(x) = 1 − ∏_a (1 − p_a)^{x_a}, P(a person is reached).

    A row holds the n probabilities p_a, each clipped to [0, 1] and read as at most 0.999. The
    function is concave.

    Examples
    --------
    >>> BudgetAllocation().gradients(np.array([[0.5, 0.0]]), np.array([1.0, 0.0])).round(3)
    array([[0.347, 0.   ]])
    """

    is_concave = True

    def width(self, items: int) -> int:
        return items

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        return ClickModel().admit(rows, items)

    def gradients(self, rows: Floats, point: Floats) -> Floats:
        strengths = -np.log1p(-np.minimum(rows, SURE))
        missed = np.exp(-(strengths * point).sum(axis=1))
        return np.asarray(strengths * missed[:, None], dtype=np.float64)


@dataclass(frozen=True)
class ConcaveOfLinear:
    """Diminishing returns of a weighted sum: f(x) = h(scale · Σ_a w_a·x_a), with a concave h.

    A row holds the n weights w_a, each clipped to [0, 1].

    Parameters
    ----------
    curve
        Names h: "log" is ln(1 + s), "root" is √(1 + s) − 1, "cap" is min(1, s).
    scale
        Public factor on the sum.

    Examples
    --------
    >>> ConcaveOfLinear("log").gradients(np.array([[0.5, 1.0]]), np.array([0.0, 1.0]))
    array([[0.25, 0.5 ]])
    """

    curve: Literal["log", "root", "cap"] = "log"
    scale: float = 1.0

    is_concave = True

    def __post_init__(self) -> None:
        check_fields(self)
        require.number("scale", self.scale, 1e-6, 1e6)

    def width(self, items: int) -> int:
        return items

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        return ClickModel().admit(rows, items)

    def gradients(self, rows: Floats, point: Floats) -> Floats:
        weights = self.scale * rows
        sums = (weights * point).sum(axis=1)
        if self.curve == "log":
            slopes = 1 / (1 + sums)
        elif self.curve == "root":
            slopes = 0.5 / np.sqrt(1 + sums)
        else:
            slopes = (sums < 1).astype(np.float64)
        return np.asarray(weights * slopes[:, None], dtype=np.float64)


@dataclass(frozen=True)
class Quadratic:
    """Items that compete: f(x) = Σ_i b_i·x_i − ½·Σ_ij h_ij·x_i·x_j.

    A row holds the n gains b_i and then the upper triangle of the symmetric matrix h, row by row
    with its diagonal: h_11, h_12, …, h_1n, h_22, …. Each number is clipped to [0, 1]. Where Σ_j
    h_ij exceeds b_i, h is scaled down until it does not, so f is monotone.

    Examples
    --------
    >>> person = np.array([[0.8, 0.6, 0.2, 0.5, 0.1]])    # b = (.8, .6), h = ((.2, .5), (.5, .1))
    >>> Quadratic().gradients(person, np.array([1.0, 0.0])).round(3)
    array([[0.6, 0.1]])
    """

    is_concave = False

    def width(self, items: int) -> int:
        return items + items * (items + 1) // 2

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        rows, fine = ClickModel().admit(rows, items)
        gains = rows[:, :items]
        losses = _symmetric(rows[:, items:], items)
        lost = losses.sum(axis=2)
        with np.errstate(all="ignore"):
            ratios = np.where(lost > gains, gains / np.maximum(lost, 1e-300), 1.0)
        if (ratios == 1).all():
            return rows, fine
        # h_ij · min(r_i, r_j): row i then sums up to at most r_i · Σ_j h_ij ≤ b_i.
        losses = losses * np.minimum(ratios[:, :, None], ratios[:, None, :])
        upper = np.triu_indices(items)
        admitted = np.concatenate([gains, losses[:, upper[0], upper[1]]], axis=1)
        return admitted, fine & (lost <= gains + 1e-12).all(axis=1)

    def gradients(self, rows: Floats, point: Floats) -> Floats:
        items = len(point)
        lost = (_symmetric(rows[:, items:], items) * point).sum(axis=2)
        return np.asarray(np.maximum(rows[:, :items] - lost, 0.0), dtype=np.float64)


def _symmetric(triangles: Floats, items: int) -> Floats:
    """Return the symmetric matrices, people × items × items, with these upper triangles."""
    places = np.zeros((items, items), dtype=np.int64)
    upper = np.triu_indices(items)
    places[upper] = np.arange(len(upper[0]))
    places.T[upper] = np.arange(len(upper[0]))
    return np.asarray(triangles[:, places], dtype=np.float64)
