"""Does what was seen follow a law that was worked out exactly?"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from math import exp, prod

from scipy import stats

Sums = tuple[tuple[float, ...], ...]
"""For every copy, its sum of every item."""
Slate = tuple[int, ...]

ALPHA = 1e-6
"""How often a statistical test in this folder may fail although all is right."""


def p_value(seen: Iterable[float], law: dict[float, float]) -> float:
    """Pearson's test of values against their exact probabilities; rare values are pooled."""
    counts = Counter(round(value, 9) for value in seen)
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
    """The law of one draw from every copy."""
    laws = []
    for copy in sums:
        weights = [exp(rate * value) for value in copy]
        laws.append([weight / sum(weights) for weight in weights])
    slates = product(range(len(sums[0])), repeat=len(sums))
    return {
        slate: prod(law[item] for law, item in zip(laws, slate, strict=True)) for slate in slates
    }


def clicked(chances: Sequence[float], shown: Slate) -> float:
    """The chance that a visitor clicks something of what is shown."""
    return 1 - prod(1 - chances[item] for item in set(shown))
