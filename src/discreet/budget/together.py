"""The joint guarantee of several learners, for people who may be in all of them.

    pure learners         ε = Σ cᵢ·εᵢ
    with zCDP learners    ε = Σ cᵢ·εᵢ + ε(Σ cᵢ²·ρᵢ, δ)

Some pure learners may be counted as zCDP, with (cᵢ·εᵢ)²/2. cᵢ is the largest number of rounds of
learner i per person. Where rounds name their person and each block pays for a release of its own,
cᵢ takes the place of cᵢ² (docs/guarantees/returning.md). Every way of counting is valid; the one
with the smallest ε is taken.

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
"""The ε of learners that plan no release; `Privacy` needs a positive one."""


def together(*learners: object, delta: float | None = None) -> Guarantee:
    """Return the joint guarantee of several learners, for people who may be in all of them.

    The learners may run one after another or at the same time, and may learn from each other's
    published results.

    Guarantee   docs/guarantees/ledger.md, Theorem 6

    Parameters
    ----------
    learners
        Two or more learners, results of a `SetSelector`, or guarantees.
    delta
        The δ at which to state the guarantee; by default the largest δ of the learners.

    Examples
    --------
    >>> from discreet import Privacy, RunningSum
    >>> visits = RunningSum(1, 10_000, Privacy(1.0, 1e-6), bound=1.0)
    >>> sales = RunningSum(1, 10_000, Privacy(1.0, 1e-6), bound=50.0)
    >>> both = together(visits, sales)
    >>> round(both.epsilon, 2), both.epsilon_spent        # zCDP composes to less than 1 + 1
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
    """The guarantee of a learner, or the parts of a joint guarantee."""
    guarantee = learner if isinstance(learner, Guarantee) else getattr(learner, "guarantee", None)
    if not isinstance(guarantee, Guarantee):
        raise ConfigError(f"together takes learners and guarantees, got {type(learner).__name__}")
    return guarantee.parts or (guarantee,)


def _different(texts: Iterable[str]) -> list[str]:
    """The distinct non-empty texts, in order."""
    return list(dict.fromkeys(text for text in texts if text))


@dataclass(frozen=True)
class _Paid:
    """The price of all rounds of a person in one learner.

    A person pays both `pure` and `zcdp` at most, in whichever cohort they are.
    """

    pure: Charge
    zcdp: Charge
    converted: Charge
    """The whole price as zCDP."""

    @classmethod
    def of(cls, spending: Spending, privacy: Privacy) -> "_Paid":
        """Return the price of a spending, for all rounds of a person."""
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
        """The zCDP that replaces one unit of pure ε."""
        if not self.pure.amount:
            return 0.0
        return (self.converted.amount - self.zcdp.amount) / self.pure.amount


def _times(times: int, charge: Charge) -> Charge:
    """The charge multiplied by `times`, rounded up; zero stays zero."""
    return charge * times if charge.amount else charge


def _as_zcdp(charge: Charge) -> Charge:
    """The charge as zCDP, rounded up; zero stays zero."""
    return zcdp(charge.rho if charge.amount else 0.0)


def _composed(
    parts: tuple[Guarantee, ...], terms: Privacy, which: Callable[[Guarantee], Spending]
) -> Spending:
    """The joint spending of one person, counted so that ε is least at the δ of these terms."""
    paid = [_Paid.of(which(part), part.privacy) for part in parts]
    if terms.pure:
        if any(entry.zcdp.amount for entry in paid):
            raise ConfigError(
                "learners that pay in zCDP have no pure guarantee together: state a delta > 0"
            )
        return Spending(sum((entry.pure for entry in paid), pure(0.0)))
    # ε(ρ, δ) is concave in ρ, so the best entries to convert are those that convert most cheaply.
    paid.sort(key=lambda entry: entry.dearness)
    # Entries without pure ε come first; conversion does not change them.
    all_zcdp = sum(not entry.pure.amount for entry in paid)
    ways = [_counted(paid, converted) for converted in range(all_zcdp, len(paid) + 1)]
    return min(ways, key=lambda spending: spending.epsilon(terms))


def _counted(paid: list[_Paid], converted: int) -> Spending:
    """The sum of all entries, with the first `converted` ones counted as zCDP."""
    concentrated = [entry.converted for entry in paid[:converted]]
    concentrated += [entry.zcdp for entry in paid[converted:]]
    alone = [entry.pure for entry in paid[converted:]]
    return Spending(sum(concentrated, zcdp(0.0)), pure=sum(alone, pure(0.0)).amount)
