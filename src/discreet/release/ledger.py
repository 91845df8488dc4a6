"""The account of one learner: what has been spent, and what may be.

The ledger follows the person who has paid most. Charges add up; charges against people of separate `cohort`s do not, because
nobody is in two of them. It counts in whole units of 2⁻⁹⁶, charges rounded up and the budget down, so that a million small
charges drift by nothing.

Guarantee   docs/guarantees/ledger.md, Theorems 2 (adding up) and 3 (cohorts)
Runtime     O(1) a charge, O(1) memory
"""

from dataclasses import dataclass, replace
from math import exp
from typing import Any

from discreet.errors import BudgetError, ConfigError
from discreet.release.privacy import Charge

__all__ = ["Ledger", "event_of", "units_of"]

_UNITS = 2**96


def units_of(charge: Charge) -> int:
    """A charge in whole units, rounded up."""
    numerator, denominator = charge.amount.as_integer_ratio()
    return -(-numerator * _UNITS // denominator)


@dataclass(frozen=True)
class Ledger:
    """An immutable account: charging it gives the next one, or raises before anything is drawn.

    Examples
    --------
    >>> from discreet.release.privacy import zcdp
    >>> ledger = Ledger(zcdp(0.01)).charge(zcdp(0.004)).charge(zcdp(0.004))
    >>> round(ledger.spent.amount, 6)
    0.008
    >>> ledger.charge(zcdp(0.004))
    Traceback (most recent call last):
    discreet.errors.BudgetError: a charge of 0.004 (zcdp) would exceed the budget of 0.01: 0.008 is spent; plan fewer releases or more noise

    People of different cohorts pay side by side:

    >>> ledger = Ledger(zcdp(0.01)).charge(zcdp(0.01), cohort=0).charge(zcdp(0.01), cohort=1)
    >>> ledger.spent.amount
    0.01
    """

    budget: Charge
    everyone: int = 0
    """Units charged against all people."""
    cohort: int = -1
    """The newest cohort; older ones are closed."""
    newest: int = 0
    """Units charged against the newest cohort alone."""
    closed: int = 0
    """The most units that were charged against one closed cohort alone."""

    def charge(self, charge: Charge, *, cohort: int | None = None) -> "Ledger":
        """The ledger after this charge, against everyone or against one cohort (numbered in order of time)."""
        units = self._units(charge)
        if cohort is None:
            after = replace(self, everyone=self.everyone + units)
        elif cohort == self.cohort:
            after = replace(self, newest=self.newest + units)
        elif cohort > self.cohort:
            after = replace(self, cohort=cohort, newest=units, closed=max(self.closed, self.newest))
        else:
            raise ConfigError(f"cohort {cohort} is closed: charges may go to cohort {self.cohort} or later")
        numerator, denominator = self.budget.amount.as_integer_ratio()
        if after._spent > numerator * _UNITS // denominator:
            raise BudgetError(
                f"a charge of {charge.amount:.4g} ({charge.measure}) would exceed the budget of {self.budget.amount:.4g}: "
                f"{self.spent.amount:.4g} is spent; plan fewer releases or more noise"
            )
        return after

    @property
    def spent(self) -> Charge:
        """What the person who paid most has paid."""
        return Charge(self.budget.measure, self._spent / _UNITS)

    @property
    def _spent(self) -> int:
        return self.everyone + max(self.newest, self.closed)

    def _units(self, charge: Charge) -> int:
        if charge.measure == self.budget.measure:
            return units_of(charge)
        if self.budget.measure == "zcdp":
            return units_of(Charge("zcdp", charge.rho))
        raise BudgetError("a zCDP charge cannot be paid from a pure budget; ask for delta > 0 or use a pure mechanism")

    def event(self) -> Any:
        """The spending as a dp-accounting event (needs the extra `accounting`)."""
        return event_of(self.spent)

    def as_plain(self) -> dict[str, Any]:
        """A dictionary of numbers and strings, for the journal."""
        return {"measure": self.budget.measure, "budget": self.budget.amount, "cohort": self.cohort} | {
            name: str(getattr(self, name)) for name in ("everyone", "newest", "closed")
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "Ledger":
        """The inverse of `as_plain`."""
        counts = {name: int(plain[name]) for name in ("everyone", "newest", "closed")}
        return cls(Charge(plain["measure"], plain["budget"]), cohort=plain["cohort"], **counts)


def event_of(charge: Charge) -> Any:
    """A dp-accounting event that is at least as revealing as this charge.

    dp-accounting has no event for "any ε-DP mechanism"; two-sided randomised response at the same ε dominates them all.
    """
    try:
        from dp_accounting import dp_event
    except ImportError as error:
        raise ConfigError("events need dp-accounting: pip install 'discreet[accounting]'") from error
    if charge.amount == 0:
        return dp_event.NoOpDpEvent()
    if charge.measure == "zcdp":
        return dp_event.ZCDpEvent(charge.amount)
    return dp_event.RandomizedResponseDpEvent(noise_parameter=2 / (exp(min(charge.amount, 700.0)) + 1), num_buckets=2)
