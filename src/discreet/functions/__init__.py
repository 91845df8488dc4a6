"""What a person brings. Everything here stands before the door: it is clipped and quantised on
its way in.
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
