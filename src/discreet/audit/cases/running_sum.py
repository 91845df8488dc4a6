"""Cases of `RunningSum`: one per way of adding up."""

from discreet import Privacy, RunningSum
from discreet.audit.cases.case import Case
from discreet.audit.cases.parts import (
    HORIZON,
    NAN,
    Budgets,
    maker,
    not_numbers,
    three_numbers,
)


def cases(budgets: Budgets) -> list[Case]:
    """Return one case per mode."""
    usual = budgets.usual
    pure = budgets.pure
    twice = budgets.twice
    return [
        _sum("sum", usual),
        _sum("sum, toeplitz", usual, mode="toeplitz"),
        _sum("sum, blocks, toeplitz", usual, block=5, mode="toeplitz"),
        _sum("sum, honaker", usual, mode="honaker"),
        _sum("sum, honaker, pure", pure, mode="honaker"),
        _sum("sum, l1, nonnegative", usual, norm=1, nonnegative=True, mode="toeplitz"),
        _sum("sum, linf, two contributions", twice, norm="inf", mode="honaker"),
    ]


def keyed_cases(budgets: Budgets) -> list[Case]:
    """Return one case per mode whose rounds name their person."""
    several = budgets.returning
    pure = budgets.returning_pure
    return [
        _sum("keyed, sum, disjoint", several(4), mode="disjoint", block=2),
        _sum("keyed, sum, disjoint, more than blocks", several(40), mode="disjoint", block=3),
        _sum("keyed, sum, disjoint, pure", pure(2), mode="disjoint", block=3),
        _sum("keyed, sum, toeplitz", several(2), mode="toeplitz", block=2),
        _sum("keyed, sum, honaker", several(3), mode="honaker", block=2),
    ]


def _sum(name: str, privacy: Privacy, **settings: object) -> Case:
    usual = {"dimension": 3, "horizon": HORIZON, "bound": 1.0, "privacy": privacy}
    return Case(
        name,
        maker(RunningSum, usual | settings),
        person=three_numbers,
        refused=not_numbers(3),
        broken=[NAN] * 3,
    )
