"""What a person brings. Everything here stands before the door: it is clipped and quantised on its way in."""

from discreet.arrivals.allocations import BudgetAllocation, ConcaveOfLinear, Quadratic
from discreet.arrivals.continuous import ContinuousFunctions, Gradient, Multilinear
from discreet.arrivals.cost_functions import CostFunctions, GraphCut, MinusModular
from discreet.arrivals.losses import (
    CallableLoss,
    GeneralisedLinearLoss,
    HuberLoss,
    LogisticLoss,
    Loss,
    Samples,
    SoftmaxLoss,
    SquaredLoss,
)
from discreet.arrivals.places import Nearby, Types
from discreet.arrivals.sampled_sets import SampledSets
from discreet.arrivals.set_functions import (
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
    "CallableLoss",
    "ClickModel",
    "ConcaveOfLinear",
    "ConcaveOverModular",
    "ContinuousFunctions",
    "CostFunctions",
    "FacilityLocation",
    "GeneralisedLinearLoss",
    "Gradient",
    "GraphCut",
    "HuberLoss",
    "LogisticLoss",
    "Loss",
    "MinusModular",
    "Multilinear",
    "Nearby",
    "Quadratic",
    "SampledSets",
    "Samples",
    "SetFunction",
    "SetFunctions",
    "SoftmaxLoss",
    "SquaredLoss",
    "Types",
    "WeightedCoverage",
    "check_set_function",
]
