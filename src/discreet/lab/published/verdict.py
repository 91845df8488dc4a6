"""Is an algorithm private as it is printed? One answer an algorithm, in one form."""

from dataclasses import dataclass

__all__ = ["Verdict"]


@dataclass(frozen=True)
class Verdict:
    """Whether the printed calibration keeps what the text claims, for streams that differ in one person.

    >>> print(Verdict(False, "one vector moves the sum by 2μ, not by μ", 2.0))
    not private as printed: one vector moves the sum by 2μ, not by μ (ε = 2 where 1 is claimed)
    """

    private: bool
    text: str
    """Why; and if not, which neighbouring streams show it."""
    epsilon: float | None = None
    """What is really given, by the best accounting, at the claimed δ where ε = 1 is claimed."""

    def __str__(self) -> str:
        heading = "private as printed" if self.private else "not private as printed"
        given = "" if self.epsilon is None else f" (ε = {self.epsilon:.3g} where 1 is claimed)"
        return f"{heading}: {self.text}{given}"
