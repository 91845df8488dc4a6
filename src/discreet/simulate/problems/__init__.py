"""The problems that our learners solve, each once: its world, our learner, how they meet, and the
share.

    display.py      slates of items                        SetMaximizer
    costs.py        sets of least cost                     SetMinimizer
    regression.py   coefficients of a linear model         StreamingLearner
    contextual.py   arms, given contexts (contexts.py)     ContextualBandit
    selection.py    a set that is chosen once              SetSelector
    continuous.py   points of a polytope, played as sets   ContinuousMaximizer

problem.py says what a problem is. Planning, the demo, the papers' runs and the benchmarks read
these.
"""

from discreet.simulate.problems.contextual import Contextual
from discreet.simulate.problems.continuous import Continuous
from discreet.simulate.problems.costs import Costs
from discreet.simulate.problems.display import Display
from discreet.simulate.problems.problem import Problem
from discreet.simulate.problems.regression import Coefficients
from discreet.simulate.problems.selection import Selection

__all__ = ["Coefficients", "Contextual", "Continuous", "Costs", "Display", "Problem", "Selection"]
