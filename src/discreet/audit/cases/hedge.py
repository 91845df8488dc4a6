"""Cases of `Hedge`."""

from discreet import Hedge, Privacy
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
    """Return cases by block length and budget."""
    return [
        _hedge("hedge", budgets.usual, block=4),
        _hedge("hedge, auto", budgets.usual),
        _hedge("hedge, pure", budgets.pure, block=3),
    ]


def keyed_cases(budgets: Budgets) -> list[Case]:
    """Return one case whose rounds name their person."""
    return [_hedge("keyed, hedge", budgets.returning(2), block=3)]


def _hedge(name: str, privacy: Privacy, **settings: object) -> Case:
    usual = {"actions": 3, "horizon": HORIZON, "privacy": privacy}
    return Case(
        name,
        maker(Hedge, usual | settings),
        person=three_numbers,
        refused=not_numbers(3),
        broken=[NAN] * 3,
    )
