"""What several learners give away together, about people who may be in all of them.

    pure learners         ε = Σ cᵢ·εᵢ
    with zCDP learners    ε = Σ cᵢ·εᵢ + ε(Σ cᵢ²·ρᵢ, δ)      some of the pure ones counted as zCDP, (cᵢ·εᵢ)²/2

cᵢ is in how many rounds of learner i a person may take part; where blocks of rounds that name their
person pay apart, cᵢ takes the place of cᵢ² (docs/guarantees/returning.md). Every way of counting is
valid; the one that says least is taken.

Guarantee   docs/guarantees/ledger.md, Theorem 6
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce

from discreet.budget.guarantee import Guarantee, Wording
from discreet.budget.ledger import Spending
from discreet.budget.privacy import Charge, Privacy, pure, zcdp
from discreet.errors import ConfigError

LEAST_EPSILON = 1e-9
"""The least that a promise can be of: learners that plan no release at all."""


def together(*learners: object, delta: float | None = None) -> Guarantee:
    """The guarantee of several learners for people who may be in all of them.

    They may run one after another or at the same time, and learn from what the others published.

    Parameters
    ----------
    learners
        Learners, what a `SetSelector` chose, or guarantees; two or more.
    delta
        The δ at which to state it; by default the largest that one of them asked for.

    Examples
    --------
    >>> from discreet import Privacy, RunningSum
    >>> visits = RunningSum(1, 10_000, Privacy(1.0, 1e-6), bound=1.0)
    >>> sales = RunningSum(1, 10_000, Privacy(1.0, 1e-6), bound=50.0)
    >>> both = together(visits, sales)
    >>> round(both.epsilon, 2), both.epsilon_spent        # less than 1 + 1: what zCDP is for
    (1.45, 0.0)
    >>> print(both)  # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
    Differential privacy for one round of each of 2 learners: whatever a person did in their rounds,
    ...
    """
    parts = tuple(part for learner in learners for part in _parts_of(learner))
    if len(parts) < 2:
        raise ConfigError(f"together takes two or more learners, got {len(parts)}")
    at = max(part.delta for part in parts) if delta is None else delta
    terms = Privacy(1.0, at)
    total = _composed(parts, terms, lambda part: part.total)
    planned = [part.planned for part in parts]
    return Guarantee(
        replace(terms, epsilon=max(total.epsilon(terms), LEAST_EPSILON)),
        spent=_composed(parts, terms, lambda part: part.spent),
        total=total,
        releases=sum(part.releases for part in parts),
        planned=None if None in planned else sum(count or 0 for count in planned),
        notion="DP" if all(part.notion == "DP" for part in parts) else "joint DP",
        assumes=", and ".join(_different(part.assumes for part in parts)),
        simulated=any(part.simulated for part in parts),
        neighbours=f"in every learner, {'; '.join(_different(part.neighbours for part in parts))}",
        proof="ledger.md",
        parts=parts,
        words=reduce(Wording.combined, [part.words for part in parts]),
    )


def _parts_of(learner: object) -> tuple[Guarantee, ...]:
    """The guarantee of a learner; those of which one for several was made."""
    found = learner if isinstance(learner, Guarantee) else getattr(learner, "guarantee", None)
    if not isinstance(found, Guarantee):
        raise ConfigError(f"together takes learners and guarantees, got {type(learner).__name__}")
    return found.parts or (found,)


def _different(texts: Iterable[str]) -> list[str]:
    """Each text once, in order, but for empty ones."""
    return list(dict.fromkeys(text for text in texts if text))


@dataclass(frozen=True)
class _Paid:
    """What all rounds of a person pay in one learner: both of these, whatever their cohort is."""

    pure: Charge
    zcdp: Charge
    converted: Charge
    """All of it as zCDP."""

    @classmethod
    def of(cls, spending: Spending, privacy: Privacy) -> "_Paid":
        times = spending.times(privacy)
        if spending.everyone.measure == "pure":
            alone = _times(times.pure, spending.everyone + pure(spending.pure))
            return cls(alone, zcdp(0.0), _as_zcdp(alone))
        common = _times(times.zcdp, spending.everyone)
        of_pure_cohort = _times(times.pure, pure(spending.pure))
        of_zcdp_cohort = _times(times.zcdp, zcdp(spending.zcdp))
        dearest = max(_as_zcdp(of_pure_cohort), of_zcdp_cohort, key=lambda charge: charge.amount)
        return cls(of_pure_cohort, common + of_zcdp_cohort, common + dearest)

    @property
    def dearness(self) -> float:
        """How much zCDP it takes to be rid of one unit of pure ε."""
        if not self.pure.amount:
            return 0.0
        return (self.converted.amount - self.zcdp.amount) / self.pure.amount


def _times(times: int, charge: Charge) -> Charge:
    """The charge so many times, rounded up; nothing stays nothing."""
    return charge * times if charge.amount else charge


def _as_zcdp(charge: Charge) -> Charge:
    """The charge as zCDP, rounded up; nothing stays nothing."""
    return zcdp(charge.rho if charge.amount else 0.0)


def _composed(
    parts: tuple[Guarantee, ...], terms: Privacy, which: Callable[[Guarantee], Spending]
) -> Spending:
    """The composed spending of one person, counted in the way that says least at the δ of these
    terms.
    """
    paid = [_Paid.of(which(part), part.privacy) for part in parts]
    if terms.pure:
        if any(entry.zcdp.amount for entry in paid):
            raise ConfigError(
                "learners that pay in zCDP together have no pure guarantee: state a delta > 0"
            )
        return Spending(sum((entry.pure for entry in paid), pure(0.0)))
    # ε(ρ, δ) is concave in ρ, so the best entries to convert are those that are converted most
    # cheaply.
    paid.sort(key=lambda entry: entry.dearness)
    all_zcdp = sum(
        not entry.pure.amount for entry in paid
    )  # these come first, and are what they become
    ways = [_counted(paid, converted) for converted in range(all_zcdp, len(paid) + 1)]
    return min(ways, key=lambda spending: spending.epsilon(terms))


def _counted(paid: list[_Paid], converted: int) -> Spending:
    """The sum, with the first so many entries as zCDP throughout."""
    concentrated = [entry.converted for entry in paid[:converted]] + [
        entry.zcdp for entry in paid[converted:]
    ]
    alone = [entry.pure for entry in paid[converted:]]
    return Spending(sum(concentrated, zcdp(0.0)), pure=sum(alone, pure(0.0)).amount)
