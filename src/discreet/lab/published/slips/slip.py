"""What a slip of a paper is: what is claimed, what was computed, and whether that shows it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp, log, sqrt

__all__ = ["Showing", "Slip", "gaussian_delta", "gaussian_epsilon"]


@dataclass(frozen=True)
class Slip:
    """One slip, shown by numbers that were computed here and now.

    >>> print(Slip("lost-factor", "MIN", "the sum moves by μ", {"moved": 2.0}, shown=True))
    lost-factor (MIN) "the sum moves by μ": moved = 2 — shown
    """

    name: str
    paper: str
    claim: str
    """What is printed."""
    computed: dict[str, float] = field(default_factory=dict)
    shown: bool = False

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} = {value:.4g}" for name, value in self.computed.items())
        return (
            f'{self.name} ({self.paper}) "{self.claim}": {numbers} — {"shown" if self.shown else "not shown"}'
        )


Showing = Callable[[], Slip]


def gaussian_delta(epsilon: float, change: float) -> float:
    """The exact δ of Gaussian noise with σ = 1 for a change of this length.

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
    """The exact ε of Gaussian noise with σ = 1 at this δ, by bisection.

    >>> f"{gaussian_epsilon(1e-6, 0.2367):.3f}"
    '1.000'
    """
    low, high = 0.0, change**2 / 2 + change * sqrt(2 * log(1 / delta))
    for _ in range(100):
        middle = (low + high) / 2
        if gaussian_delta(middle, change) > delta:
            low = middle
        else:
            high = middle
    return high
