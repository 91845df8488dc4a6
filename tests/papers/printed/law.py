"""Tests of samples against exactly computed laws."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from math import exp, prod

import numpy as np
from scipy import stats

Sums = tuple[tuple[float, ...], ...]
"""The sums of every item, for every copy."""
Slate = tuple[int, ...]

ALPHA = 1e-6
"""Level of the statistical tests in this folder."""


def p_value(sample: Iterable[float], law: dict[float, float]) -> float:
    """Return the p-value of Pearson's test against exact probabilities; rare values are pooled."""
    counts = Counter(round(value, 9) for value in sample)
    assert counts.keys() <= law.keys()
    total = counts.total()
    common = [value for value, chance in law.items() if chance * total >= 10]
    observed = [counts[value] for value in common]
    expected = [law[value] * total for value in common]
    observed.append(total - sum(observed))
    expected.append(total - sum(expected))
    if expected[-1] < 10:  # too few for a cell of their own
        observed[-2:] = [sum(observed[-2:])]
        expected[-2:] = [sum(expected[-2:])]
    return float(stats.chisquare(observed, expected).pvalue)


def redrawn(sums: Sums, rate: float) -> dict[Slate, float]:
    """Return the law of one draw from every copy."""
    laws = []
    for copy in sums:
        weights = [exp(rate * value) for value in copy]
        laws.append([weight / sum(weights) for weight in weights])
    slates = product(range(len(sums[0])), repeat=len(sums))
    return {
        slate: prod(law[item] for law, item in zip(laws, slate, strict=True)) for slate in slates
    }


def clicked(chances: Sequence[float] | np.ndarray, shown: Slate) -> float:
    """Return the probability that a visitor clicks a shown item."""
    return float(1 - prod(1 - chances[item] for item in set(shown)))
