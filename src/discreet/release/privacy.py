"""What is asked for (`Privacy`) and what one release costs (`Charge`).

A charge is either a pure ε or a ρ of zero-concentrated differential privacy (zCDP); both add up over releases.

Guarantee   docs/guarantees/ledger.md
References  Bun, Steinke (2016), "Concentrated Differential Privacy"
"""

from dataclasses import KW_ONLY, dataclass
from math import inf, isfinite, nextafter
from typing import Literal

from discreet.errors import ConfigError
from discreet.release.conversion import rho_of

__all__ = ["Charge", "Privacy", "pure", "zcdp"]

Measure = Literal["pure", "zcdp"]


@dataclass(frozen=True)
class Charge:
    """The price of one or more releases, for the person who pays most.

    >>> zcdp(0.25) * 3
    Charge(measure='zcdp', amount=0.7500000000000001)
    """

    measure: Measure
    amount: float

    def __post_init__(self) -> None:
        if not (isfinite(self.amount) and self.amount >= 0):
            raise ConfigError(f"a charge must be finite and at least 0, got {self.amount}")

    def __mul__(self, times: float) -> "Charge":
        # Rounded up, so that a product is never less than the same charge added up.
        product = self.amount * times
        return Charge(self.measure, product if times in (0, 1) else nextafter(product, inf))

    def __truediv__(self, parts: float) -> "Charge":
        return Charge(self.measure, self.amount / parts)

    @property
    def rho(self) -> float:
        """The charge as zCDP; an ε-DP release is ε²/2-zCDP."""
        return self.amount if self.measure == "zcdp" else nextafter(self.amount**2 / 2, inf)


def pure(epsilon: float) -> Charge:
    """A charge of ε-differential privacy."""
    return Charge("pure", epsilon)


def zcdp(rho: float) -> Charge:
    """A charge of ρ-zCDP."""
    return Charge("zcdp", rho)


@dataclass(frozen=True)
class Privacy:
    """How much the published decisions may reveal about any one person.

    Parameters
    ----------
    epsilon
        Whatever one person did, anything published is at most e^epsilon times as likely as if they had been somebody else.
        1 is a usual choice; smaller is stricter.
    delta
        The probability with which that may fail. 0 asks for the pure guarantee, which costs more value; otherwise choose
        far less than one over the number of people.
    contributions
        In how many rounds one person may take part. The guarantee covers all of them together.

    Examples
    --------
    >>> Privacy(1.0, 1e-6).budget
    Charge(measure='zcdp', amount=0.02435597035953837)
    >>> Privacy(1.0, contributions=2).budget
    Charge(measure='pure', amount=0.5)
    """

    epsilon: float
    delta: float = 0.0
    _: KW_ONLY
    contributions: int = 1

    def __post_init__(self) -> None:
        if not 1e-9 <= self.epsilon <= 1e6:
            raise ConfigError(f"epsilon must be finite and greater than 0 (1e-9 to 1e6), got {self.epsilon}")
        if not 0 <= self.delta < 1:
            raise ConfigError(f"delta must be at least 0 and less than 1, got {self.delta}")
        if not isinstance(self.contributions, int) or not 1 <= self.contributions <= 10**6:
            raise ConfigError(f"contributions must be a whole number of rounds, at least 1 (and at most 10^6), got {self.contributions!r}")

    @property
    def pure(self) -> bool:
        """Whether the guarantee is asked for without a δ."""
        return self.delta == 0

    @property
    def whole(self) -> Charge:
        """What all rounds of one person may cost together."""
        return pure(self.epsilon) if self.pure else zcdp(rho_of(self.epsilon, self.delta))

    @property
    def budget(self) -> Charge:
        """What one round may cost, so that `contributions` rounds stay within (ε, δ): group privacy, ε/c or ρ/c²."""
        return self.whole / (self.contributions if self.pure else self.contributions**2)
