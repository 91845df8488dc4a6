"""What is asked for (`Privacy`) and what one release costs (`Charge`).

A charge is either a pure ε or a ρ of zero-concentrated differential privacy (zCDP).
Both add up over releases.

Guarantee   docs/guarantees/ledger.md; of rounds that name their person, docs/guarantees/returning.md
References  Bun, Steinke (2016), "Concentrated Differential Privacy"
"""

from dataclasses import KW_ONLY, dataclass
from math import inf, isfinite, nextafter
from typing import Literal, NamedTuple

from discreet import require
from discreet.budget.conversion import rho_of
from discreet.errors import ConfigError

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

    def __add__(self, other: "Charge") -> "Charge":
        if self.measure != other.measure:
            raise ConfigError(f"{self.measure} and {other.measure} charges do not add up")
        if not self.amount or not other.amount:
            return self if self.amount else other
        # Rounded up, and by a unit of the ledger besides: the door rounds every payment up to one.
        return Charge(self.measure, nextafter(self.amount + other.amount, inf) + 2**-95)

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


class Times(NamedTuple):
    """How many times as much as one round all rounds of a person cost, in either measure."""

    pure: int
    zcdp: int


@dataclass(frozen=True)
class Privacy:
    """How much the published decisions may reveal about any one person.

    Parameters
    ----------
    epsilon
        Whatever one person did, anything published is at most e^epsilon times as likely as if they
        had been somebody else. 1 is a usual choice; smaller is stricter.
    delta
        The probability with which that may fail. 0 asks for the pure guarantee, which costs more
        value; otherwise choose far less than one over the number of people.
    contributions
        In how many rounds one person may take part. The guarantee covers all of them together.
    keyed
        Every round names its person (`open(person=…)`). Of a person's rounds between two releases
        only the first one that they open counts, so `contributions` is then in how many such blocks
        they may take part. Where each release reads one block alone, zCDP costs `contributions`
        times what one round does, instead of its square.

    Examples
    --------
    >>> Privacy(1.0, 1e-6).budget
    Charge(measure='zcdp', amount=0.02435597035953837)
    >>> Privacy(1.0, contributions=2).budget
    Charge(measure='pure', amount=0.5)
    >>> Privacy(1.0, 1e-6, contributions=4, keyed=True).apart(blocks=50)[-1]
    Charge(measure='zcdp', amount=0.006088992589884592)
    """

    epsilon: float
    delta: float = 0.0
    _: KW_ONLY
    contributions: int = 1
    keyed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require.number("epsilon", self.epsilon, 1e-9, 1e6))
        object.__setattr__(
            self, "delta", require.number("delta", self.delta, 0.0, nextafter(1.0, 0.0))
        )
        object.__setattr__(
            self, "contributions", require.whole("contributions", self.contributions, 1, 10**6)
        )
        object.__setattr__(self, "keyed", require.flag("keyed", self.keyed))

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
        """What one round may cost so that c = `contributions` rounds stay within (ε, δ).

        By group privacy that is ε/c, pure, or ρ/c², zCDP.
        """
        return self.budgets[-1]

    @property
    def budgets(self) -> tuple[Charge, ...]:
        """What a person who enters ONE release may pay there: in either measure, if a δ is granted.

        (ε, 0) implies (ε, δ), and where few numbers move, noise for the pure guarantee is far
        smaller.
        """
        return self.apart(blocks=0)

    def apart(self, blocks: int) -> tuple[Charge, ...]:
        """The same, where so many releases read one block of rounds each, and no round of another.

        Only if that is ALL that is released: not beside a running sum, and all of it in one
        measure.
        """
        times = self.times(blocks)
        alone = pure(self.epsilon / times.pure)
        return (alone,) if self.pure else (alone, self.whole / times.zcdp)

    def times(self, blocks: int) -> Times:
        """How many times as much as one round do all rounds of a person cost?

        `blocks` is how many blocks pay apart, each for a release of its own; 0 where some pay
        together. If rounds name their person, one of each counts in a block: then costs add up over
        blocks, as releases of different data do. Otherwise it is group privacy.
        """
        if self.keyed and blocks:
            most = min(self.contributions, blocks)
            return Times(most, most)
        return Times(self.contributions, self.contributions**2)
