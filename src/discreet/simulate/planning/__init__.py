"""`discreet plan`: the search (`search.py`), the problems (`cases.py`), and the result (`plan.py`).

>>> from discreet import Privacy
>>> from discreet.simulate.planning import SelectionCase, make_plan
>>> case = SelectionCase(rounds=20, privacy=Privacy(1.0), items=4, slots=1)
>>> plan = make_plan(case, minutes=0.01)
>>> plan.people, plan.facts["method"]
(20, 'sampled')
"""

from discreet.simulate.planning.cases import (
    ContextualCase,
    ContinuousCase,
    CostsCase,
    DisplayCase,
    RegressionCase,
    SelectionCase,
)
from discreet.simulate.planning.plan import Plan
from discreet.simulate.planning.search import make_plan

__all__ = [
    "ContextualCase",
    "ContinuousCase",
    "CostsCase",
    "DisplayCase",
    "Plan",
    "RegressionCase",
    "SelectionCase",
    "make_plan",
]
