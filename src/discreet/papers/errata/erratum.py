"""`Erratum`: a printed statement, its correction, and the computed numbers that show it."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log, sqrt

__all__ = ["Erratum", "Showing", "gaussian_delta", "gaussian_epsilon"]


@dataclass(frozen=True)
class Erratum:
    """One erratum of a paper, with the numbers that show it."""

    claim: str
    """The printed statement."""
    needs: str
    """The change that makes the statement hold."""
    computed: dict[str, float]
    """The computed numbers, by what they are."""
    shown: bool
    """Whether the numbers differ from the print."""
    name: str = ""
    paper: str = ""

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} = {value:.4g}" for name, value in self.computed.items())
        return f'{self.name} ({self.paper}) "{self.claim}": {numbers}. {self.needs}'


Showing = Callable[[], Erratum]


def gaussian_delta(epsilon: float, change: float) -> float:
    """Return the exact δ of Gaussian noise with σ = 1 for a change of this length.

    >>> f"{gaussian_delta(1.0, 0.2367):.2g}"
    '1e-06'
    """
    from scipy.special import ndtr

    if change == 0:
        return 0.0
    above = ndtr(change / 2 - epsilon / change)
    below = ndtr(-change / 2 - epsilon / change)
    return float(above - exp(epsilon) * below) if epsilon < 700 else float(above)


def gaussian_epsilon(delta: float, change: float) -> float:
    """Return the exact ε of Gaussian noise with σ = 1 at this δ, by bisection.

    >>> f"{gaussian_epsilon(1e-6, 0.2367):.3f}"
    '1.000'
    """
    low = 0.0
    high = change**2 / 2 + change * sqrt(2 * log(1 / delta))
    for _ in range(100):
        middle = (low + high) / 2
        if gaussian_delta(middle, change) > delta:
            low = middle
        else:
            high = middle
    return high
