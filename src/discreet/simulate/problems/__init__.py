"""The problems that discreet's learners solve: world, learner, simulation and share of each.

    display.py      slates of items                        SetMaximizer
    costs.py        sets of least cost                     SetMinimizer
    regression.py   coefficients of a linear model         StreamingLearner
    contextual.py   arms, given contexts (contexts.py)     ContextualBandit
    selection.py    a set that is chosen once              SetSelector
    continuous.py   points of a polytope, played as sets   ContinuousMaximizer

problem.py has the base class. Plans, the demo, the papers' runs and the benchmarks use these
problems.
"""

from discreet.simulate.problems.contextual import Contextual
from discreet.simulate.problems.continuous import Continuous
from discreet.simulate.problems.costs import Costs
from discreet.simulate.problems.display import Display
from discreet.simulate.problems.problem import Problem
from discreet.simulate.problems.regression import Coefficients
from discreet.simulate.problems.selection import Selection

__all__ = ["Coefficients", "Contextual", "Continuous", "Costs", "Display", "Problem", "Selection"]
