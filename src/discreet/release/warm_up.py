"""Compile every kernel once, ahead of the first person."""

import numpy as np

from discreet.release.noise import DiscreteGaussian, DiscreteLaplace, bernoulli_exp, uniform_below
from discreet.release.privacy import zcdp
from discreet.release.randomness import seeded_words
from discreet.release.selection import Selection, SelectionTree
from discreet.release.sums import Stream, calibrate

__all__ = ["warm_up"]


def warm_up() -> None:
    """Run each kernel on a few numbers that nobody contributed."""
    from discreet.release.entrance import Entrance

    words = seeded_words(0, 0)
    scores = np.zeros(2, dtype=np.int64)
    DiscreteLaplace(2).draw(1, words)
    DiscreteGaussian(2).draw(1, words)
    uniform_below(2, 1, words)
    bernoulli_exp(1, 2, 1, words)
    Entrance(2, 1.0, 2, 8).add(np.zeros((1, 2)), scores)
    selection = Selection.at_rate(0.5, span=2)
    selection.draw(scores, words)
    tree = SelectionTree(selection, scores)
    tree.change(0, 1)
    tree.change(1, 1)
    tree.draw(words)
    sums = calibrate("toeplitz", zcdp(0.01), Stream(4, 2, 2, False))
    sums.step(*sums.start(), scores, words)
