"""What releases must have cost, added up from the plan's charges without the ledger; and what is
said of it.

The ledger counts in whole units and in its own code. Here the charges of the steps that were taken
are added up in fractions: everyone pays what is charged against everyone, and each cohort its own
besides.
"""

from collections import defaultdict
from fractions import Fraction

from discreet.budget.conversion import epsilon_of
from discreet.budget.guarantee import Guarantee
from discreet.budget.privacy import Privacy
from discreet.engine.plan import Step

CLOSE = 1e-9
"""How far sums of floats and of whole units may be apart, as a share."""
UNUSED = 1e-3
"""The share of a budget that noise on a grid may leave over."""


def check_spending(given: Guarantee, steps: list[Step]) -> None:
    """Compare what a guarantee says with the charges of the steps that were taken."""
    everyone, most = _added_up(given.privacy, steps)
    spent = given.spent
    pairs = [
        ("everyone", spent.everyone.amount, everyone),
        ("a pure cohort", spent.pure, most["pure"]),
        ("a zCDP cohort", spent.zcdp, most["zcdp"]),
    ]
    for whose, said, charged in pairs:
        assert _close(said, charged), (
            f"the ledger of {whose} says {said:.6g}, the plan charged {charged:.6g}"
        )
    assert given.releases == len(steps), (
        f"{given.releases} releases are counted, {len(steps)} were made"
    )
    epsilon = _epsilon(given.privacy, everyone, most, _blocks_apart(given.privacy, steps))
    assert _close(given.epsilon_spent, epsilon), (
        f"the guarantee says that epsilon = {given.epsilon_spent:.6g} is spent, charges say "
        f"{epsilon:.6g}"
    )
    assert f"{epsilon:.3g}" in str(given), (
        f"the guarantee's text does not say that {epsilon:.3g} is spent"
    )


def check_all_is_spent(given: Guarantee) -> None:
    """After the last release what was planned is spent, but for what grids of whole numbers
    leave over.
    """
    spent, planned = given.epsilon_spent, given.total.epsilon(given.privacy)
    assert (1 - UNUSED) * planned <= spent <= (1 + CLOSE) * planned, (
        f"in the end epsilon = {spent:.6g} is spent, the plan says {planned:.6g}"
    )


def _added_up(privacy: Privacy, steps: list[Step]) -> tuple[float, dict[str, float]]:
    """What everyone paid, and the cohort that paid most in each measure."""
    everyone = Fraction(0)
    cohorts: dict[tuple[int, str], Fraction] = defaultdict(Fraction)
    for step in steps:
        charge = step.charge
        if step.cohort is None:
            everyone += Fraction(
                charge.amount if charge.measure == privacy.whole.measure else charge.rho
            )
        else:
            cohorts[step.cohort, charge.measure] += Fraction(charge.amount)
    most = {
        measure: float(
            max((paid for (_, own), paid in cohorts.items() if own == measure), default=0)
        )
        for measure in ("pure", "zcdp")
    }
    return float(everyone), most


def _blocks_apart(privacy: Privacy, steps: list[Step]) -> int:
    """How many blocks paid for one release of their own each; 0 where some paid together."""
    paid = [step.cohort for step in steps if step.cohort is not None or step.charge.amount]
    apart = privacy.keyed and None not in paid and len(set(paid)) == len(paid)
    return len(paid) if apart else 0


def _epsilon(privacy: Privacy, everyone: float, most: dict[str, float], blocks: int) -> float:
    """The ε that these payments amount to, for all rounds of one person."""
    times = privacy.times(blocks)
    if privacy.pure:
        return times.pure * (everyone + most["pure"])
    common = epsilon_of(times.zcdp * everyone, privacy.delta)
    concentrated = epsilon_of(times.zcdp * (everyone + most["zcdp"]), privacy.delta)
    return max(concentrated, times.pure * most["pure"] + common if most["pure"] else 0.0)


def _close(one: float, two: float) -> bool:
    return abs(one - two) <= CLOSE * max(abs(one), abs(two), 1e-12)
