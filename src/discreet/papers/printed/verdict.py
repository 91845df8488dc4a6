"""Is an algorithm private as it is printed? One answer an algorithm, in one form."""

from dataclasses import dataclass
from math import isinf


@dataclass(frozen=True)
class Verdict:
    """Whether the printed calibration keeps what the text claims, for streams that differ in one
    person.

    >>> print(Verdict(False, "one vector moves the sum by 2μ, not by μ", 2.0))
    not private as printed: one vector moves the sum by 2μ, not by μ (ε = 2 where 1 is claimed)
    """

    private: bool
    text: str
    """Why; and if not, which neighbouring streams show it."""
    epsilon: float | None = None
    """What is really given, by the best accounting, at the claimed δ where ε = 1 is claimed; it
    may be ∞.
    """
    at_least: bool = False
    """Whether that is a lower bound, from one pair of neighbours."""

    def __str__(self) -> str:
        heading = "private as printed" if self.private else "not private as printed"
        if self.epsilon is None:
            return f"{heading}: {self.text}"
        return f"{heading}: {self.text} ({self.given} where 1 is claimed)"

    @property
    def given(self) -> str:
        """The ε in words; only where one is known.

        >>> Verdict(False, "the index is too small", 1.67, at_least=True).given
        'ε ≥ 1.67'
        """
        assert self.epsilon is not None
        number = "∞" if isinf(self.epsilon) else f"{self.epsilon:.3g}"
        return f"ε {'≥' if self.at_least else '='} {number}"
