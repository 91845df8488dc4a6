"""The privacy asked for (`Privacy`) and the price of releases (`Charge`).

A charge is either a pure ε or a ρ of zero-concentrated differential privacy (zCDP). Both add up
over releases.

Guarantee   docs/guarantees/ledger.md
            docs/guarantees/returning.md (rounds that name their person)
References  Bun, Steinke (2016), "Concentrated Differential Privacy"
"""

from dataclasses import KW_ONLY, dataclass
from math import inf, isfinite, nextafter
from typing import Literal, NamedTuple

from discreet import require
from discreet.budget.conversion import rho_of
from discreet.errors import ConfigError

Measure = Literal["pure", "zcdp"]
"""The unit of a charge: ε of pure DP, or ρ of zCDP."""


@dataclass(frozen=True)
class Charge:
    """The price of one or more releases, for the person who pays most.

    Parameters
    ----------
    measure
        "pure" for an ε of pure DP, "zcdp" for a ρ of zCDP.
    amount
        That ε or ρ.

    Examples
    --------
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
        # Rounded up, plus two units of the ledger: the door rounds every payment up to whole units.
        return Charge(self.measure, nextafter(self.amount + other.amount, inf) + 2**-95)

    def __mul__(self, times: float) -> "Charge":
        # Rounded up, so that a product is never less than the same charge added repeatedly.
        product = self.amount * times
        return Charge(self.measure, product if times in (0, 1) else nextafter(product, inf))

    def __truediv__(self, parts: float) -> "Charge":
        return Charge(self.measure, self.amount / parts)

    @property
    def rho(self) -> float:
        """The charge as ρ of zCDP; an ε-DP release is ε²/2-zCDP."""
        return self.amount if self.measure == "zcdp" else nextafter(self.amount**2 / 2, inf)


def pure(epsilon: float) -> Charge:
    """Return a charge of ε-DP."""
    return Charge("pure", epsilon)


def zcdp(rho: float) -> Charge:
    """Return a charge of ρ-zCDP."""
    return Charge("zcdp", rho)


class Times(NamedTuple):
    """The price of all rounds of a person, in multiples of one round's, per measure."""

    pure: int
    zcdp: int


@dataclass(frozen=True)
class Privacy:
    """The privacy asked for: how much published results may reveal about any one person.

    Guarantee   docs/guarantees/ledger.md

    Parameters
    ----------
    epsilon
        Replacing one person changes the probability of any published result by a factor of at most
        e^epsilon. 1 is a usual choice; a smaller number is a stronger guarantee.
    delta
        The probability with which the guarantee may fail. 0 asks for the pure guarantee, which
        costs more value; otherwise choose far less than one over the number of people.
    contributions
        The largest number of rounds in which one person may take part. The guarantee covers all of
        them together.
    keyed
        Whether every round names its person (`open(person=…)`). Only the first round that a person
        opens between two releases counts, so `contributions` is then the largest number of such
        blocks per person. Where each release reads one block alone, all rounds of a person cost
        `contributions` times one round in zCDP, instead of the square of that.

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
        """Whether the pure guarantee, with δ = 0, is asked for."""
        return self.delta == 0

    @property
    def whole(self) -> Charge:
        """The largest charge of all rounds of one person together."""
        return pure(self.epsilon) if self.pure else zcdp(rho_of(self.epsilon, self.delta))

    @property
    def budget(self) -> Charge:
        """The largest charge of one round with which c = `contributions` rounds stay in (ε, δ).

        By group privacy it is ε/c, pure, or ρ/c², zCDP.

        Guarantee   docs/guarantees/ledger.md, Theorem 4
        """
        return self.budgets[-1]

    @property
    def budgets(self) -> tuple[Charge, ...]:
        """The largest charges of a person who enters ONE release: per measure, if δ > 0.

        (ε, 0) implies (ε, δ), and where a person moves few numbers, noise for the pure guarantee is
        far smaller.

        Guarantee   docs/guarantees/ledger.md, Theorem 5
        """
        return self.apart(blocks=0)

    def apart(self, blocks: int) -> tuple[Charge, ...]:
        """The largest charges per measure if each of `blocks` releases reads a block of its own.

        They hold only if nothing else is released, such as a running sum, and if all releases are
        in one measure.

        Guarantee   docs/guarantees/returning.md
        """
        times = self.times(blocks)
        alone = pure(self.epsilon / times.pure)
        return (alone,) if self.pure else (alone, self.whole / times.zcdp)

    def times(self, blocks: int) -> Times:
        """The price of all rounds of a person, in multiples of one round's.

        `blocks` is the number of blocks that each pay for a release of their own; 0 where blocks
        pay together. If rounds name their person, one round per person and block counts: charges
        then add up over blocks, as releases of different data do. Otherwise group privacy applies.
        """
        if self.keyed and blocks:
            most = min(self.contributions, blocks)
            return Times(most, most)
        return Times(self.contributions, self.contributions**2)


def delta_notice(delta: float, people: int) -> str:
    """Return a warning if publishing one person's data as it is would be allowed; "" if not.

    >>> delta_notice(1e-6, 1000)
    ''
    """
    if delta * people <= 1 + 1e-9:
        return ""
    return (
        f"delta = {delta:.3g} is more than 1/{people}, one over the number of people: "
        "choose far less, or publishing one person's data as it is would be allowed"
    )
