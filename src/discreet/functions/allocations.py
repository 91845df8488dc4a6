"""How much of each item: functions of amounts, with diminishing returns in every amount.

    BudgetAllocation         1 − ∏(1 − p_a)^{x_a}: the chance of reaching a person, with so much a channel
    ConcaveOfLinear(curve)   h(scale · ⟨a, x⟩) with a concave h: what amounts of interest add up to, cut down
    Quadratic                ⟨b, x⟩ − ½·⟨x, Hx⟩ with H ≥ 0 in every entry: items that are in each other's way

Rows are admitted so that every function is monotone on [0, 1]ⁿ, whatever was sent.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet import require
from discreet.arrays import Floats, Mask
from discreet.engine.codec import check_fields
from discreet.functions.sets import ClickModel

SURE = 0.999
"""A channel reaches nobody more surely than this."""


@dataclass(frozen=True)
class BudgetAllocation:
    """How much of each channel: f(x) = 1 − ∏(1 − p_a)^{x_a}, with a row of probabilities p_a;
    concave.

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
    """Diminishing returns of a weighted sum: f(x) = h(scale·⟨a, x⟩), with a row of weights a_i in
    [0, 1].

    `curve` names h: "log" is ln(1 + s), "root" is √(1 + s) − 1, "cap" is min(1, s).

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
    """Items in each other's way: f(x) = Σ b_i·x_i − ½·Σ h_ij·x_i·x_j, with all b and h in [0, 1].

    A row holds the n gains b_i and then the upper triangle of h, row by row with its diagonal:
    h_11, h_12, …, h_1n, h_22, …. Where Σ_j h_ij exceeds b_i, h is scaled down until it does not, so
    more of an item never loses.

    >>> person = np.array([[0.8, 0.6, 0.2, 0.5, 0.1]])        # b = (.8, .6), h = ((.2, .5), (.5, .1))
    >>> Quadratic().gradients(person, np.array([1.0, 0.0])).round(3)
    array([[0.6, 0.1]])
    """

    is_concave = False

    def width(self, items: int) -> int:
        return items + items * (items + 1) // 2

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        rows, fine = ClickModel().admit(rows, items)
        gains, ways = rows[:, :items], _symmetric(rows[:, items:], items)
        lost = ways.sum(axis=2)
        with np.errstate(all="ignore"):
            room = np.where(lost > gains, gains / np.maximum(lost, 1e-300), 1.0)
        if (room == 1).all():
            return rows, fine
        # h_ij · min(r_i, r_j): row i then sums up to at most r_i · Σ_j h_ij ≤ b_i.
        ways = ways * np.minimum(room[:, :, None], room[:, None, :])
        upper = np.triu_indices(items)
        admitted = np.concatenate([gains, ways[:, upper[0], upper[1]]], axis=1)
        return admitted, fine & (lost <= gains + 1e-12).all(axis=1)

    def gradients(self, rows: Floats, point: Floats) -> Floats:
        items = len(point)
        lost = (_symmetric(rows[:, items:], items) * point).sum(axis=2)
        return np.asarray(np.maximum(rows[:, :items] - lost, 0.0), dtype=np.float64)


def _symmetric(triangles: Floats, items: int) -> Floats:
    """The matrices, people × items × items, of which these are the upper triangles."""
    places = np.zeros((items, items), dtype=np.int64)
    upper = np.triu_indices(items)
    places[upper] = np.arange(len(upper[0]))
    places.T[upper] = np.arange(len(upper[0]))
    return np.asarray(triangles[:, places], dtype=np.float64)
