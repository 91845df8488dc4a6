"""Families of set functions as plain settings and back, so that a configuration can name them.

>>> describe(MinusModular(GraphCut(((0, 1),))))
{'function': 'GraphCut', 'edges': [[0, 1]], 'directed': False, 'minus_modular': True}
>>> family(**describe(ClickModel))
ClickModel()
"""

from typing import Any

from discreet.arrivals.cost_functions import GraphCut, MinusModular
from discreet.arrivals.set_functions import ClickModel, ConcaveOverModular, FacilityLocation, SetFunction, WeightedCoverage
from discreet.errors import ConfigError

__all__ = ["describe", "family"]


def describe(function: Any) -> dict[str, Any]:
    """A family, its class, or None (any callable), as settings."""
    if function is None or function is SetFunction:
        return {"function": "SetFunction"}
    if isinstance(function, MinusModular):
        return describe(function.family) | {"minus_modular": True}
    if isinstance(function, WeightedCoverage):
        return {"function": "WeightedCoverage", "covers": [[int(cell) for cell in row] for row in function.covers]}
    if isinstance(function, GraphCut):
        return {"function": "GraphCut", "edges": [[int(end) for end in edge] for edge in function.edges], "directed": function.directed}
    if isinstance(function, ConcaveOverModular):
        return {"function": "ConcaveOverModular", "curve": function.curve}
    kind = function if isinstance(function, type) else type(function)
    if kind in (ClickModel, FacilityLocation, ConcaveOverModular):
        return {"function": kind.__name__}
    raise ConfigError(f"function must be a family of discreet.arrivals, got {function!r}")


def family(
    *,
    function: str,
    curve: str | None = None,
    covers: list[list[int]] | None = None,
    edges: list[list[int]] | None = None,
    directed: bool | None = None,
    minus_modular: bool | None = None,
) -> Any:
    """The family that these settings describe; None for any callable."""
    made: Any
    if function == "SetFunction":
        return None
    if function == "ClickModel":
        made = ClickModel()
    elif function == "FacilityLocation":
        made = FacilityLocation()
    elif function == "ConcaveOverModular":
        made = ConcaveOverModular(curve or "cap")  # type: ignore[arg-type]
    elif function == "WeightedCoverage":
        made = WeightedCoverage(tuple(tuple(row) for row in covers or []))
    elif function == "GraphCut":
        made = GraphCut(tuple((edge[0], edge[1]) if len(edge) == 2 else (0, 0) for edge in edges or []), bool(directed))
    else:
        raise ConfigError(f"function must be a family of discreet.arrivals, got {function!r}")
    return MinusModular(made) if minus_modular else made
