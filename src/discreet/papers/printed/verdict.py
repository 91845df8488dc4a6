"""`Verdict`: whether an algorithm is private as printed, one per algorithm."""

from dataclasses import dataclass
from math import isinf


@dataclass(frozen=True)
class Verdict:
    """Whether the printed calibration gives the claimed ε, for streams that differ in one person.

    >>> print(Verdict(False, "one vector moves the sum by 2μ, not by μ", 2.0))
    not private as printed: one vector moves the sum by 2μ, not by μ (ε = 2 where 1 is claimed)
    """

    private: bool
    text: str
    """The reason; for an algorithm that is not private, neighbouring streams that show it."""
    epsilon: float | None = None
    """The ε given at the claimed δ where ε = 1 is claimed, by the best accounting; it may be ∞."""
    at_least: bool = False
    """Whether `epsilon` is a lower bound, from one pair of neighbours."""

    def __str__(self) -> str:
        heading = "private as printed" if self.private else "not private as printed"
        if self.epsilon is None:
            return f"{heading}: {self.text}"
        return f"{heading}: {self.text} ({self.given} where 1 is claimed)"

    @property
    def given(self) -> str:
        """Return the given ε as text; `epsilon` must be known.

        >>> Verdict(False, "the index is too small", 1.67, at_least=True).given
        'ε ≥ 1.67'
        """
        assert self.epsilon is not None
        number = "∞" if isinf(self.epsilon) else f"{self.epsilon:.3g}"
        return f"ε {'≥' if self.at_least else '='} {number}"
