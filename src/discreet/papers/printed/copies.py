"""Meta-Frank–Wolfe: K online linear learners, each of which starts where those before it end.

    in round t = 1 … T:
        copy k = 1 … K answers with a vector v_t^k of the domain
        x_t^k = (v_t^1 + … + v_t^{k−1})/K, and the point x_t = (v_t^1 + … + v_t^K)/K is played
        see f_t, the person's value of every point; feed copy k the gradient of f_t at x_t^k

The papers differ in the copies and share this loop.

References  Chen, Hassani, Karbasi (2018), "Online Continuous Submodular Maximization"
"""

from typing import Protocol

import numpy as np

from discreet import require
from discreet.arrays import Floats
from discreet.functions.continuous import ContinuousFunctions


class Copies(Protocol):
    """K online linear learners that maximise."""

    def vectors(self) -> Floats:
        """The copies' vectors of the next round, one row per copy."""

    def clipped(self, gradients: Floats) -> Floats:
        """People's gradients, one row per person, clipped to the length that the noise covers."""

    def feed(self, gradients: Floats) -> None:
        """Take the gradients of a round, one row per copy."""


def play_copies(
    people: Floats, function: ContinuousFunctions, copies: Copies, *, block: int = 1
) -> Floats:
    """Return the point of every round, one row per person.

    Each point serves `block` people, whose gradients are fed together: 1 is as printed.
    """
    require.whole("block", block)
    vectors = copies.vectors()
    items = vectors.shape[1]
    rows = function.admit(np.asarray(people, dtype=np.float64), items)[0]
    points = np.empty((len(rows), items))
    for first in range(0, len(rows), block):
        part = rows[first : first + block]
        vectors = copies.vectors()
        points[first : first + block] = vectors.mean(axis=0)
        before = (np.cumsum(vectors, axis=0) - vectors) / len(vectors)
        sums = [copies.clipped(function.gradients(part, point)).sum(axis=0) for point in before]
        copies.feed(np.array(sums))
    return points
