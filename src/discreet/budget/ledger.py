"""The ledger of one learner: the privacy spent so far, and the check before each charge.

The ledger follows the people who have paid most. Charges against everyone add up. Charges against
disjoint cohorts do not, because nobody is in two of them, and each cohort pays in a measure of its
own: a pure ε or a ρ of zCDP, whichever needs less noise. Amounts are whole units of 2⁻⁹⁶, with
charges rounded up and budgets down, so that a million small charges accumulate no error.

    zCDP cohort    ρ_everyone + ρ_cohort ≤ ρ(ε, δ)
    pure cohort    ε_cohort ≤ ε                          without charges against everyone
                   ε_cohort + ε(ρ_everyone, δ) ≤ ε       beside them

Guarantee   docs/guarantees/ledger.md, Theorems 2 (adding up), 3 (cohorts), 5 (cohorts in measures
            of their own); docs/guarantees/returning.md (rounds that name their person)
Runtime     O(1) per charge, O(1) memory
"""

from dataclasses import dataclass, replace
from math import exp, inf, nextafter
from typing import TYPE_CHECKING, Any

from discreet.budget.conversion import epsilon_of
from discreet.budget.privacy import Charge, Measure, Privacy, Times, pure, zcdp
from discreet.errors import BudgetError, ConfigError

if TYPE_CHECKING:
    from dp_accounting.dp_event import DpEvent


_UNITS = 2**96
"""Ledger units per 1 of ε or ρ."""


def units_of(charge: Charge) -> int:
    """Return a charge in ledger units, rounded up."""
    numerator, denominator = charge.amount.as_integer_ratio()
    return -(-numerator * _UNITS // denominator)


def _units_within(charge: Charge) -> int:
    """A budget in ledger units, rounded down."""
    numerator, denominator = charge.amount.as_integer_ratio()
    return numerator * _UNITS // denominator


@dataclass(frozen=True)
class Spending:
    """The price of one round for the people who pay most.

    Parameters
    ----------
    everyone
        The charge that all people pay.
    pure, zcdp
        The additional amount of the cohort that pays most in each measure.
    blocks
        The number of blocks that each pay for a release of their own; 0 where blocks pay together.

    Examples
    --------
    >>> Spending(zcdp(0.01)).epsilon(Privacy(1.0, 1e-6)) < 1.0
    True
    >>> Spending(zcdp(0.0), pure=0.5).epsilon(Privacy(1.0, 1e-6))
    0.5
    """

    everyone: Charge
    pure: float = 0.0
    zcdp: float = 0.0
    blocks: int = 0

    @property
    def takes_delta(self) -> bool:
        """Whether some of it is zCDP, which converts to an ε only with a δ > 0."""
        return self.everyone.measure == "zcdp" and bool(self.everyone.amount or self.zcdp)

    def times(self, privacy: Privacy) -> Times:
        """The price of all rounds of a person, in multiples of one round's."""
        return privacy.times(0 if self.everyone.amount else self.blocks)

    def payments(self, privacy: Privacy) -> int:
        """The multiple of `times` in the measure of this spending; pure, if some of it is."""
        times = self.times(privacy)
        return times.pure if self.pure or self.everyone.measure == "pure" else times.zcdp

    def epsilon(self, privacy: Privacy) -> float:
        """The ε of all rounds of one person together, at the δ asked for."""
        times = self.times(privacy)
        common = self.everyone.amount
        if self.everyone.measure == "pure":
            return times.pure * (common + self.pure)
        concentrated = epsilon_of(times.zcdp * (common + self.zcdp), privacy.delta)
        if not self.pure:
            return concentrated
        of_everyone = epsilon_of(times.zcdp * common, privacy.delta)
        return max(concentrated, times.pure * self.pure + of_everyone)

    def rho(self, privacy: Privacy) -> float:
        """The ρ of zCDP of all rounds of one person together."""
        times = self.times(privacy)
        common = self.everyone.amount
        if self.everyone.measure == "pure":
            return pure(times.pure * (common + self.pure)).rho
        beside = times.zcdp * common
        of_pure_cohort = pure(times.pure * self.pure).rho if self.pure else 0.0
        of_zcdp_cohort = times.zcdp * self.zcdp
        return beside + max(of_pure_cohort, of_zcdp_cohort)

    def event(self, privacy: Privacy) -> "DpEvent":
        """Return a dp-accounting event that is at least as revealing as this spending.

        Where some cohorts paid pure and others zCDP, neither dominates the other: both are
        composed, which is loose. Needs the extra `accounting`.
        """
        times = self.times(privacy)
        common = self.everyone.amount
        if self.everyone.measure == "pure":
            return _event_of([pure(times.pure * (common + self.pure))])
        return _event_of([zcdp(times.zcdp * (common + self.zcdp)), pure(times.pure * self.pure)])


@dataclass(frozen=True)
class Ledger:
    """An immutable account: a charge returns the next ledger, or raises before anything is drawn.

    Guarantee   docs/guarantees/ledger.md, Theorems 2, 3 and 5

    Examples
    --------
    >>> ledger = Ledger(Privacy(1.0, 1e-6)).charge(zcdp(0.01)).charge(zcdp(0.01))
    >>> round(ledger.spent.everyone.amount, 6)
    0.02
    >>> ledger.charge(zcdp(0.01))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    discreet.errors.BudgetError: a charge of 0.01 (zcdp) would exceed epsilon = 1: ...

    People of different cohorts compose in parallel, each cohort in its own measure:

    >>> ledger = Ledger(Privacy(1.0, 1e-6)).charge(pure(1.0), cohort=0)
    >>> ledger = ledger.charge(zcdp(0.024), cohort=1)
    >>> ledger.spent.epsilon(ledger.privacy)
    1.0
    """

    privacy: Privacy
    everyone: int = 0
    """Units charged against all people, in the measure of the privacy asked for."""
    cohort: int = -1
    """The number of the newest cohort; older ones are closed."""
    newest_pure: int = 0
    newest_zcdp: int = 0
    """Units charged against the newest cohort alone; one of the two is 0."""
    closed_pure: int = 0
    closed_zcdp: int = 0
    """The largest number of units charged against one closed cohort alone, per measure."""
    apart: int = 0
    """The number of cohorts that have paid, each for one release; −1 once one paid for several.

    A cohort of a running sum pays for several. Counted only if rounds name their person.
    """

    @classmethod
    def of(cls, privacy: Privacy, spending: Spending) -> "Ledger":
        """Return the ledger after this spending, or raise if it exceeds the privacy."""
        apart = spending.blocks - 1 if privacy.keyed else 0
        ledger = cls(privacy, apart=apart).charge(spending.everyone)
        if spending.pure:
            ledger = ledger.charge(pure(spending.pure), cohort=0)
        return ledger.charge(zcdp(spending.zcdp), cohort=1) if spending.zcdp else ledger

    def charge(self, charge: Charge, *, cohort: int | None = None) -> "Ledger":
        """Return the ledger after this charge, against everyone or against one cohort.

        Cohorts are numbered in order of time.
        """
        if charge.measure == "zcdp" and self.privacy.pure and charge.amount > 0:
            raise BudgetError(
                "a zCDP charge cannot be paid from a pure budget: ask for delta > 0 or use a pure "
                "mechanism"
            )
        if cohort is None and charge.amount == 0:
            return self
        if cohort is None:
            same = charge.measure == self._measure
            after = replace(
                self, everyone=self.everyone + units_of(charge if same else zcdp(charge.rho))
            )
        else:
            after = self._opened(cohort)._paid(charge)
        if not after._fits():
            spent = self.spent.epsilon(self.privacy)
            raise BudgetError(
                f"a charge of {charge.amount:.4g} ({charge.measure}) would exceed epsilon = "
                f"{self.privacy.epsilon:.4g}: epsilon = {spent:.3g} is spent; plan fewer releases "
                "or more noise"
            )
        return after

    @property
    def _measure(self) -> Measure:
        """The measure of charges against everyone."""
        return "pure" if self.privacy.pure else "zcdp"

    def _opened(self, cohort: int) -> "Ledger":
        """The ledger with this cohort as the newest one."""
        if cohort == self.cohort:
            return replace(self, apart=-1) if self.privacy.keyed else self
        if cohort < self.cohort:
            raise ConfigError(
                f"cohort {cohort} is closed: charges may go to cohort {self.cohort} or later"
            )
        return replace(
            self,
            cohort=cohort,
            newest_pure=0,
            newest_zcdp=0,
            apart=self.apart + (self.privacy.keyed and self.apart >= 0),
            closed_pure=max(self.closed_pure, self.newest_pure),
            closed_zcdp=max(self.closed_zcdp, self.newest_zcdp),
        )

    def _paid(self, charge: Charge) -> "Ledger":
        """The ledger after the newest cohort paid this charge."""
        if charge.measure == "pure":
            after = replace(self, newest_pure=self.newest_pure + units_of(charge))
        else:
            after = replace(self, newest_zcdp=self.newest_zcdp + units_of(charge))
        if after.newest_pure and after.newest_zcdp:
            raise ConfigError(
                "a cohort pays in one measure: plan its releases all pure or all zCDP"
            )
        mixed = (after.newest_pure or after.closed_pure) and after._zcdp_anywhere()
        if self.privacy.contributions > 1 and mixed:
            raise ConfigError(
                f"with {self.privacy.contributions} contributions all people of a plan pay in one "
                "measure: plan its releases all pure or all zCDP"
            )
        return after

    def _zcdp_anywhere(self) -> bool:
        """Whether any charge so far is in zCDP."""
        return bool(
            self.newest_zcdp or self.closed_zcdp or (self.everyone and not self.privacy.pure)
        )

    def _fits(self) -> bool:
        """Whether the people who have paid most are within the privacy asked for."""
        privacy = self.privacy
        budgets = privacy.apart(self.blocks)
        most_pure = max(self.newest_pure, self.closed_pure)
        if privacy.pure:
            return self.everyone + most_pure <= _units_within(budgets[0])
        if self.everyone + max(self.newest_zcdp, self.closed_zcdp) > _units_within(budgets[1]):
            return False
        if not self.everyone:
            return most_pure <= _units_within(budgets[0])
        if not most_pure:
            return True
        if privacy.contributions > 1:
            return False  # the proof does not cover charges against everyone after pure cohorts
        beside = nextafter(most_pure / _UNITS, inf)
        common = nextafter(self.everyone / _UNITS, inf)
        return nextafter(beside + epsilon_of(common, privacy.delta), inf) <= privacy.epsilon

    @property
    def blocks(self) -> int:
        """The number of blocks that each paid for their own release; 0 if some paid together."""
        return 0 if self.everyone else max(0, self.apart)

    @property
    def spent(self) -> Spending:
        """The spending of the people who have paid most."""
        return Spending(
            Charge(self._measure, self.everyone / _UNITS),
            pure=max(self.newest_pure, self.closed_pure) / _UNITS,
            zcdp=max(self.newest_zcdp, self.closed_zcdp) / _UNITS,
            blocks=self.blocks,
        )

    def as_plain(self) -> dict[str, object]:
        """Return the counts as strings, for the journal; the settings hold the privacy."""
        plain: dict[str, object] = {name: str(getattr(self, name)) for name in _COUNTS}
        plain = {"cohort": self.cohort} | plain
        return plain | {"apart": self.apart} if self.privacy.keyed else plain

    @classmethod
    def from_plain(cls, privacy: Privacy, plain: dict[str, Any]) -> "Ledger":
        """Return the ledger with these counts; raise if no charges can lead to them."""
        counts = {name: int(plain[name]) for name in _COUNTS}
        cohort = plain["cohort"]
        apart = plain["apart"] if privacy.keyed else 0
        ledger = cls(privacy, cohort=cohort, apart=apart, **counts)
        whole = type(cohort) is int and type(apart) is int and min(cohort, apart) >= -1
        if not whole or min(counts.values()) < 0 or not ledger._fits():
            raise BudgetError(
                "the saved ledger exceeds the privacy asked for: the file is damaged or was changed"
            )
        return ledger


_COUNTS = ("everyone", "newest_pure", "newest_zcdp", "closed_pure", "closed_zcdp")
"""The fields in ledger units."""


def _event_of(charges: list[Charge]) -> "DpEvent":
    """The charges as dp-accounting events, composed.

    dp-accounting has no event for "any ε-DP mechanism"; two-sided randomised response at the same ε
    dominates all of them.
    """
    try:
        from dp_accounting import dp_event
    except ImportError as error:
        raise ConfigError(
            "events need dp-accounting: pip install 'discreet[accounting]'"
        ) from error
    events: list[dp_event.DpEvent] = []
    for charge in charges:
        if charge.amount == 0:
            continue
        if charge.measure == "zcdp":
            events.append(dp_event.ZCDpEvent(charge.amount))
        else:
            lie = 2 / (exp(min(charge.amount, 700.0)) + 1)
            events.append(dp_event.RandomizedResponseDpEvent(noise_parameter=lie, num_buckets=2))
    if not events:
        return dp_event.NoOpDpEvent()
    return events[0] if len(events) == 1 else dp_event.ComposedDpEvent(events)
