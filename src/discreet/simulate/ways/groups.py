"""The groups of settings that are compared, by name, and how each is measured."""

from collections.abc import Callable
from typing import Any

from discreet.simulate.ways.adversaries import against
from discreet.simulate.ways.arms import actions, contexts
from discreet.simulate.ways.coefficients import classes, coefficients
from discreet.simulate.ways.costs import costs
from discreet.simulate.ways.fits import fits
from discreet.simulate.ways.once import selections, sums
from discreet.simulate.ways.passing import passing
from discreet.simulate.ways.points import points
from discreet.simulate.ways.slates import quotas, slates
from discreet.simulate.ways.verdicts import Measure

__all__ = ["GROUPS", "MEASURES", "compare"]

GROUPS: dict[str, Callable[..., dict[str, float]]] = {
    "set_maximizer": slates,
    "set_minimizer": costs,
    "streaming": coefficients,
    "streaming_passing": passing,
    "streaming_classes": classes,
    "fit": fits,
    "continuous_set": quotas,
    "continuous_point": points,
    "contextual": contexts,
    "hedge": actions,
    "selector": selections,
    "running_sum": sums,
    "adversary": against,
}
MEASURES: dict[str, Measure] = {
    "set_maximizer": "share",
    "set_minimizer": "share",
    "streaming": "loss",
    "streaming_passing": "loss",
    "streaming_classes": "loss",
    "fit": "loss",
    "continuous_set": "share",
    "continuous_point": "share",
    "contextual": "loss",
    "hedge": "loss",
    "selector": "share",
    "running_sum": "noise",
    "adversary": "loss",
}


def compare(group: str, setting: dict[str, Any], seed: int, alone: bool = False) -> dict[str, float]:
    """The value of every way in one world; empty if the world has nothing to gain.

    `alone` runs what the constructor takes and nothing else.

    >>> compare("hedge", {"epsilon": 1.0, "delta": 0.0, "horizon": 10, "actions": 2, "data": "iid"}, 3).keys()
    dict_keys(['auto'])
    """
    return GROUPS[group](seed=seed, alone=alone, **setting)
