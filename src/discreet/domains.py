"""Where decisions lie: boxes, balls and simplices for points; matroids and knapsacks for sets.

From discreet/optim/domains.py, matroids.py and knapsack.py.
"""

from discreet.optim.domains import Box, Domain, LpBall, Simplex
from discreet.optim.knapsack import Knapsack
from discreet.optim.matroids import (
    GraphicMatroid,
    LaminarMatroid,
    OracleMatroid,
    PartitionMatroid,
    UniformMatroid,
)

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
"""Where sets lie."""
