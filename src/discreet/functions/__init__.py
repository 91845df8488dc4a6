"""Families of functions: what one person's row of numbers means to a learner.

    sets, places      f(S), the value of a set: SetMaximizer, SetSelector
    costs             f(S), the cost of a set: SetMinimizer
    continuous        f(x), the value of amounts x ∈ [0, 1]ⁿ: ContinuousMaximizer

A family reads people's data before the door. It clips every row to the range that its docstring
states; an aggregator then clips and quantises what the family computed from the row.
"""

from discreet.functions.allocations import BudgetAllocation, ConcaveOfLinear, Quadratic
from discreet.functions.continuous import ContinuousFunctions, Gradient, Multilinear
from discreet.functions.costs import CostFunctions, GraphCut, MinusModular
from discreet.functions.places import Nearby, Types
from discreet.functions.sampled_sets import SampledSets
from discreet.functions.sets import (
    AnyFunction,
    ClickModel,
    ConcaveOverModular,
    FacilityLocation,
    SetFunction,
    SetFunctions,
    WeightedCoverage,
    check_set_function,
)

__all__ = [
    "AnyFunction",
    "BudgetAllocation",
    "ClickModel",
    "ConcaveOfLinear",
    "ConcaveOverModular",
    "ContinuousFunctions",
    "CostFunctions",
    "FacilityLocation",
    "Gradient",
    "GraphCut",
    "MinusModular",
    "Multilinear",
    "Nearby",
    "Quadratic",
    "SampledSets",
    "SetFunction",
    "SetFunctions",
    "Types",
    "WeightedCoverage",
    "check_set_function",
]
