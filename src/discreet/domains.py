"""Domains, the sets from which decisions are taken.

    points    Box, LpBall, Simplex                                       StreamingLearner
    sets      UniformMatroid, PartitionMatroid, LaminarMatroid,          SetSelector,
              GraphicMatroid, OracleMatroid, Knapsack                    ContinuousMaximizer

Domains are public: they never depend on a person's data.
"""

from discreet.optim.domains import Box, Domain, LpBall, Simplex
from discreet.optim.general_matroids import GraphicMatroid, OracleMatroid
from discreet.optim.knapsack import Knapsack
from discreet.optim.matroids import LaminarMatroid, PartitionMatroid, UniformMatroid

__all__ = [
    "Box",
    "Domain",
    "GraphicMatroid",
    "Knapsack",
    "LaminarMatroid",
    "LpBall",
    "OracleMatroid",
    "PartitionMatroid",
    "SetDomain",
    "Simplex",
    "UniformMatroid",
]

SetDomain = (
    UniformMatroid | PartitionMatroid | LaminarMatroid | GraphicMatroid | OracleMatroid | Knapsack
)
"""A domain of sets: a matroid or a knapsack."""
