"""Families of set functions as plain settings and back, so that a configuration can name them.

>>> describe(MinusModular(GraphCut(((0, 1),))))
{'function': 'GraphCut', 'edges': [[0, 1]], 'directed': False, 'minus_modular': True}
>>> family(**describe(ClickModel))
ClickModel()
"""

import operator
from typing import Any

from discreet.arrivals.cost_functions import GraphCut, MinusModular
from discreet.arrivals.set_functions import ClickModel, ConcaveOverModular, FacilityLocation, SetFunction, WeightedCoverage
from discreet.errors import ConfigError

__all__ = ["describe", "family"]


def describe(function: Any) -> dict[str, Any]:
    """A family, its class, or None (any callable), as settings."""
    if function is None or function is SetFunction:
        return {"function": "SetFunction"}
    kind = function if isinstance(function, type) else type(function)
    if type(function) is MinusModular:
        inner = describe(function.family)
        if inner["function"] == "SetFunction" or "minus_modular" in inner:
            raise ConfigError(f"MinusModular takes one family with rows, got {function.family!r}")
        return inner | {"minus_modular": True}
    if type(function) is WeightedCoverage:
        return {"function": "WeightedCoverage", "covers": _whole("covers", function.covers)}
    if type(function) is GraphCut:
        return {"function": "GraphCut", "edges": _whole("edges", function.edges), "directed": bool(function.directed)}
    if type(function) is ConcaveOverModular:
        return {"function": "ConcaveOverModular", "curve": function.curve}
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
        made = WeightedCoverage(tuple(tuple(row) for row in _whole("covers", covers or [])))
    elif function == "GraphCut":
        made = GraphCut(tuple((edge[0], edge[1]) if len(edge) == 2 else (0, 0) for edge in _whole("edges", edges or [])), bool(directed))
    else:
        raise ConfigError(f"function must be a family of discreet.arrivals, got {function!r}")
    return MinusModular(made) if minus_modular else made


def _whole(name: str, table: Any) -> list[list[int]]:
    """A table of whole numbers as lists; `covers` holds yes or no."""
    try:
        rows = [[operator.index(cell) for cell in row] for row in table]
    except TypeError:
        raise ConfigError(f"{name} must be rows of whole numbers") from None
    if any(not 0 <= cell <= (1 if name == "covers" else 2**31) for row in rows for cell in row):
        raise ConfigError(f"{name} must hold {'0 or 1 only' if name == 'covers' else 'numbers of items'}")
    return rows
