"""All cases of online learners: what the contract suite and `discreet audit` run over.

A new learner joins by a file of cases beside this one, named in `FAMILIES`.
"""

from dataclasses import replace

from discreet.audit.cases import (
    contextual_bandit,
    continuous_maximizer,
    hedge,
    running_sum,
    set_maximizer,
    set_minimizer,
    streaming_learner,
)
from discreet.audit.cases.case import Case
from discreet.audit.cases.parts import HORIZON, Budgets

__all__ = ["HORIZON", "cases", "keyed_cases", "long_cases"]

FAMILIES = (
    running_sum,
    hedge,
    set_maximizer,
    set_minimizer,
    contextual_bandit,
    continuous_maximizer,
    streaming_learner,
)
KEYED = (running_sum, hedge, set_maximizer, set_minimizer, contextual_bandit, streaming_learner)
LONG = (set_maximizer, set_minimizer, streaming_learner)


def cases(epsilon: float = 1.0, delta: float = 1e-6) -> list[Case]:
    """Return one case per mode of every learner, at (ε, δ); pure modes are at (ε, 0)."""
    budgets = Budgets(epsilon, delta)
    return [case for family in FAMILIES for case in family.cases(budgets)]


def long_cases(epsilon: float = 1.0, delta: float = 1e-6) -> list[Case]:
    """Return long cases, with exchanges, trials and a second screening.

    The audit runs over them; they take too long for every rule of the contract.
    """
    budgets = Budgets(epsilon, delta)
    long = [case for family in LONG for case in family.long_cases(budgets)]
    return [replace(case, at_once=case.horizon // 5) for case in long]


def keyed_cases(epsilon: float = 1.0, delta: float = 1e-6) -> list[Case]:
    """Return the cases whose rounds name their person, who returns."""
    budgets = Budgets(epsilon, delta)
    keyed = [case for family in KEYED for case in family.keyed_cases(budgets)]
    return [replace(case, keyed=True) for case in keyed]
