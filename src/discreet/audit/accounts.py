"""A second account of the budget: the plan's charges, added up without the ledger.

The ledger counts in whole units and in its own code. Here the charges of the steps that were taken
are added up in fractions. All people pay for releases without a cohort; the people of a cohort pay
for its own releases too.
"""

from collections import defaultdict
from fractions import Fraction
from typing import NamedTuple

from discreet.budget.conversion import epsilon_of
from discreet.budget.guarantee import Guarantee
from discreet.budget.privacy import Privacy
from discreet.engine.plan import Step

CLOSE = 1e-9
"""Largest relative difference between sums of floats and of whole units."""
UNUSED = 1e-3
"""Largest share of a budget that noise on a grid may leave unspent."""


def check_spending(given: Guarantee, steps: list[Step]) -> None:
    """Compare a guarantee with the charges of the steps that were taken."""
    paid = _added_up(given.privacy, steps)
    ledger = given.spent
    pairs = [
        ("everyone", ledger.everyone.amount, paid.everyone),
        ("a pure cohort", ledger.pure, paid.pure),
        ("a zCDP cohort", ledger.zcdp, paid.zcdp),
    ]
    for account, booked, charged in pairs:
        assert _close(booked, charged), (
            f"the ledger of {account} says {booked:.6g}, the plan charged {charged:.6g}"
        )
    assert given.releases == len(steps), (
        f"{given.releases} releases are counted, {len(steps)} were made"
    )
    epsilon = _epsilon(given.privacy, paid, _disjoint_blocks(given.privacy, steps))
    assert _close(given.epsilon_spent, epsilon), (
        f"the guarantee says that epsilon = {given.epsilon_spent:.6g} is spent, charges say "
        f"{epsilon:.6g}"
    )
    assert f"{epsilon:.3g}" in str(given), (
        f"the guarantee's text does not say that {epsilon:.3g} is spent"
    )


def check_all_is_spent(given: Guarantee) -> None:
    """Check that the planned budget is spent after the last release, up to the grid of noise."""
    spent = given.epsilon_spent
    planned = given.total.epsilon(given.privacy)
    assert (1 - UNUSED) * planned <= spent <= (1 + CLOSE) * planned, (
        f"in the end epsilon = {spent:.6g} is spent, the plan says {planned:.6g}"
    )


class Paid(NamedTuple):
    """Charges of all people, and of the cohort that paid most in each measure."""

    everyone: float
    pure: float
    zcdp: float


def _added_up(privacy: Privacy, steps: list[Step]) -> Paid:
    """Add up the charges of these steps."""
    everyone = Fraction(0)
    cohorts: dict[str, dict[int, Fraction]] = {
        "pure": defaultdict(Fraction),
        "zcdp": defaultdict(Fraction),
    }
    for step in steps:
        charge = step.charge
        if step.cohort is None:
            in_measure = charge.measure == privacy.whole.measure
            everyone += Fraction(charge.amount if in_measure else charge.rho)
        else:
            cohorts[charge.measure][step.cohort] += Fraction(charge.amount)
    return Paid(
        float(everyone),
        pure=float(max(cohorts["pure"].values(), default=0)),
        zcdp=float(max(cohorts["zcdp"].values(), default=0)),
    )


def _disjoint_blocks(privacy: Privacy, steps: list[Step]) -> int:
    """Return the number of blocks that paid for one release each; 0 if some paid together."""
    cohorts = [step.cohort for step in steps if step.cohort is not None or step.charge.amount]
    disjoint = privacy.keyed and None not in cohorts and len(set(cohorts)) == len(cohorts)
    return len(cohorts) if disjoint else 0


def _epsilon(privacy: Privacy, paid: Paid, blocks: int) -> float:
    """Return the ε of these charges, for all rounds of one person."""
    times = privacy.times(blocks)
    if privacy.pure:
        return times.pure * (paid.everyone + paid.pure)
    concentrated = epsilon_of(times.zcdp * (paid.everyone + paid.zcdp), privacy.delta)
    if not paid.pure:
        return max(concentrated, 0.0)
    common = epsilon_of(times.zcdp * paid.everyone, privacy.delta)
    return max(concentrated, times.pure * paid.pure + common)


def _close(one: float, two: float) -> bool:
    return abs(one - two) <= CLOSE * max(abs(one), abs(two), 1e-12)
