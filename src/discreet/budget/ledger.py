"""The account of one learner: what has been spent, and what may be.

The ledger follows the people who have paid most. Charges against everyone add up. Charges against
separate `cohort`s do not, because nobody is in two of them; and each cohort pays in a measure of
its own, a pure ε or a ρ of zCDP, whichever its release is better served by. It counts in whole
units of 2⁻⁹⁶, charges rounded up and budgets down, so that a million small charges drift by
nothing.

    zCDP cohort    ρ_everyone + ρ_cohort ≤ ρ(ε, δ)
    pure cohort    ε_cohort ≤ ε;  beside charges against everyone, ε_cohort + ε(ρ_everyone, δ) ≤ ε

Guarantee   docs/guarantees/ledger.md, Theorems 2 (adding up), 3 (cohorts), 5 (each in its own measure);
            docs/guarantees/returning.md (rounds that name their person)
Runtime     O(1) a charge, O(1) memory
"""

from dataclasses import dataclass, field, replace
from math import exp, inf, nextafter
from typing import TYPE_CHECKING, Any

from discreet.budget.conversion import epsilon_of
from discreet.budget.privacy import Charge, Privacy, Times, pure, zcdp
from discreet.errors import BudgetError, ConfigError

if TYPE_CHECKING:
    from dp_accounting.dp_event import DpEvent


_UNITS = 2**96


def units_of(charge: Charge) -> int:
    """A charge in whole units, rounded up."""
    numerator, denominator = charge.amount.as_integer_ratio()
    return -(-numerator * _UNITS // denominator)


def _units_within(charge: Charge) -> int:
    """A budget in whole units, rounded down."""
    numerator, denominator = charge.amount.as_integer_ratio()
    return numerator * _UNITS // denominator


@dataclass(frozen=True)
class Spending:
    """What people pay for one of their rounds.

    `everyone` is paid by all people; `pure` and `zcdp` are what the cohort that pays most in each
    measure pays besides.

    >>> Spending(zcdp(0.01)).epsilon(Privacy(1.0, 1e-6)) < 1.0
    True
    >>> Spending(zcdp(0.0), pure=0.5).epsilon(Privacy(1.0, 1e-6))
    0.5
    """

    everyone: Charge
    pure: float = 0.0
    zcdp: float = 0.0
    blocks: int = field(default=0, metadata={"later": True})
    """How many blocks of rounds pay apart, each for a release of its own; 0 where some pay
    together.
    """

    @property
    def takes_delta(self) -> bool:
        """Whether some of it is zCDP, which has an ε only together with a δ."""
        return self.everyone.measure == "zcdp" and bool(self.everyone.amount or self.zcdp)

    def times(self, privacy: Privacy) -> Times:
        """How many times as much as one round all rounds of a person cost."""
        return privacy.times(0 if self.everyone.amount else self.blocks)

    def payments(self, privacy: Privacy) -> int:
        """The same, in the measure in which this is paid; pure, if some of it is."""
        times = self.times(privacy)
        return times.pure if self.pure or self.everyone.measure == "pure" else times.zcdp

    def epsilon(self, privacy: Privacy) -> float:
        """The ε that this amounts to for all rounds of one person, at the δ that was asked for."""
        times, common = self.times(privacy), self.everyone.amount
        if self.everyone.measure == "pure":
            return times.pure * (common + self.pure)
        concentrated = epsilon_of(times.zcdp * (common + self.zcdp), privacy.delta)
        if not self.pure:
            return concentrated
        return max(
            concentrated, times.pure * self.pure + epsilon_of(times.zcdp * common, privacy.delta)
        )

    def rho(self, privacy: Privacy) -> float:
        """The zCDP that this amounts to for all rounds of one person."""
        times, common = self.times(privacy), self.everyone.amount
        if self.everyone.measure == "pure":
            return pure(times.pure * (common + self.pure)).rho
        beside = times.zcdp * common
        of_pure_cohort = pure(times.pure * self.pure).rho if self.pure else 0.0
        of_zcdp_cohort = times.zcdp * self.zcdp
        return beside + max(of_pure_cohort, of_zcdp_cohort)

    def event(self, privacy: Privacy) -> "DpEvent":
        """A dp-accounting event that is at least as revealing as this spending.

        Where some cohorts paid pure and others zCDP, neither dominates the other: both are
        composed, which is loose. Needs the extra `accounting`.
        """
        times, common = self.times(privacy), self.everyone.amount
        if self.everyone.measure == "pure":
            return _event_of([pure(times.pure * (common + self.pure))])
        return _event_of([zcdp(times.zcdp * (common + self.zcdp)), pure(times.pure * self.pure)])


@dataclass(frozen=True)
class Ledger:
    """An immutable account: charging it gives the next one, or raises before anything is drawn.

    Examples
    --------
    >>> ledger = Ledger(Privacy(1.0, 1e-6)).charge(zcdp(0.01)).charge(zcdp(0.01))
    >>> round(ledger.spent.everyone.amount, 6)
    0.02
    >>> ledger.charge(zcdp(0.01))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    discreet.errors.BudgetError: a charge of 0.01 (zcdp) would exceed epsilon = 1: epsilon = 0.9 is spent; ...

    People of different cohorts pay side by side, each cohort in its own measure:

    >>> ledger = Ledger(Privacy(1.0, 1e-6)).charge(pure(1.0), cohort=0).charge(zcdp(0.024), cohort=1)
    >>> ledger.spent.epsilon(ledger.privacy)
    1.0
    """

    privacy: Privacy
    everyone: int = 0
    """Units charged against all people, in the measure of the privacy that was asked for."""
    cohort: int = -1
    """The newest cohort; older ones are closed."""
    newest_pure: int = 0
    newest_zcdp: int = 0
    """Units charged against the newest cohort alone, in one of the two measures."""
    closed_pure: int = 0
    closed_zcdp: int = 0
    """The most units that were charged against one closed cohort alone, in each measure."""
    apart: int = 0
    """How many cohorts have paid, each for one release; −1 once one has paid for several, as those
    who are in
    a running sum do. Counted only if rounds name their person."""

    @classmethod
    def of(cls, privacy: Privacy, spending: Spending) -> "Ledger":
        """The account after all of this was spent; raises if it may not be."""
        ledger = cls(privacy, apart=spending.blocks - 1 if privacy.keyed else 0).charge(
            spending.everyone
        )
        if spending.pure:
            ledger = ledger.charge(pure(spending.pure), cohort=0)
        return ledger.charge(zcdp(spending.zcdp), cohort=1) if spending.zcdp else ledger

    def charge(self, charge: Charge, *, cohort: int | None = None) -> "Ledger":
        """The ledger after this charge, against everyone or one cohort (numbered in order of
        time).
        """
        if charge.measure == "zcdp" and self.privacy.pure and charge.amount > 0:
            raise BudgetError(
                "a zCDP charge cannot be paid from a pure budget; ask for delta > 0 or use a pure "
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
            asked, spent = self.privacy.epsilon, self.spent.epsilon(self.privacy)
            raise BudgetError(
                f"a charge of {charge.amount:.4g} ({charge.measure}) would exceed epsilon = "
                f"{asked:.4g}: "
                f"epsilon = {spent:.3g} is spent; plan fewer releases or more noise"
            )
        return after

    @property
    def _measure(self) -> str:
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
            self, cohort=cohort, newest_pure=0, newest_zcdp=0,
            apart=self.apart + (self.privacy.keyed and self.apart >= 0),
            closed_pure=max(self.closed_pure, self.newest_pure),
            closed_zcdp=max(self.closed_zcdp, self.newest_zcdp),
        )  # fmt: skip

    def _paid(self, charge: Charge) -> "Ledger":
        """The ledger after the newest cohort paid this."""
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
                "measure"
            )
        return after

    def _zcdp_anywhere(self) -> bool:
        return bool(
            self.newest_zcdp or self.closed_zcdp or (self.everyone and not self.privacy.pure)
        )

    def _fits(self) -> bool:
        """Whether the people who have paid most are within the privacy that was asked for."""
        privacy, budgets = self.privacy, self.privacy.apart(self.blocks)
        most_pure = max(self.newest_pure, self.closed_pure)
        if privacy.pure:
            return self.everyone + most_pure <= _units_within(budgets[0])
        if self.everyone + max(self.newest_zcdp, self.closed_zcdp) > _units_within(budgets[1]):
            return False
        if not self.everyone:
            return most_pure <= _units_within(budgets[0])
        if not most_pure:
            return True
        if (
            privacy.contributions > 1
        ):  # charged against everyone after pure cohorts: not covered by the proof
            return False
        beside = nextafter(most_pure / _UNITS, inf)
        common = nextafter(self.everyone / _UNITS, inf)
        return nextafter(beside + epsilon_of(common, privacy.delta), inf) <= privacy.epsilon

    @property
    def blocks(self) -> int:
        """How many blocks paid apart so far, each for a release of its own; 0 where some paid
        together.
        """
        return 0 if self.everyone else max(0, self.apart)

    @property
    def spent(self) -> Spending:
        """What the people who paid most have paid."""
        return Spending(
            Charge("pure" if self.privacy.pure else "zcdp", self.everyone / _UNITS),
            pure=max(self.newest_pure, self.closed_pure) / _UNITS,
            zcdp=max(self.newest_zcdp, self.closed_zcdp) / _UNITS,
            blocks=self.blocks,
        )

    def as_plain(self) -> dict[str, object]:
        """The counts as strings, for the journal; the privacy is in the settings."""
        plain: dict[str, object] = {name: str(getattr(self, name)) for name in _COUNTS}
        plain = {"cohort": self.cohort} | plain
        return plain | {"apart": self.apart} if self.privacy.keyed else plain

    @classmethod
    def from_plain(cls, privacy: Privacy, plain: dict[str, Any]) -> "Ledger":
        """The inverse of `as_plain`; refuses an account that no charges lead to."""
        counts = {name: int(plain[name]) for name in _COUNTS}
        cohort, apart = plain["cohort"], plain["apart"] if privacy.keyed else 0
        ledger = cls(privacy, cohort=cohort, apart=apart, **counts)
        whole = type(cohort) is int and type(apart) is int and min(cohort, apart) >= -1
        if not whole or min(counts.values()) < 0 or not ledger._fits():
            raise BudgetError("this account is not within the privacy that was asked for")
        return ledger


_COUNTS = ("everyone", "newest_pure", "newest_zcdp", "closed_pure", "closed_zcdp")


def _event_of(charges: list[Charge]) -> "DpEvent":
    """The charges as dp-accounting events, composed.

    dp-accounting has no event for "any ε-DP mechanism"; two-sided randomised response at the same ε
    dominates them all.
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
