"""The groups of settings that are compared, by name, with their measures."""

from collections.abc import Callable
from typing import Any

from ways_of_learning.adversaries import against
from ways_of_learning.arms import actions, contexts
from ways_of_learning.coefficients import classes, coefficients
from ways_of_learning.costs import costs
from ways_of_learning.fits import fits
from ways_of_learning.once import selections, sums
from ways_of_learning.passing import passing
from ways_of_learning.points import points
from ways_of_learning.slates import quotas, slates
from ways_of_learning.verdicts import Measure

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


def compare(
    group: str, setting: dict[str, Any], seed: int, alone: bool = False
) -> dict[str, float]:
    """Return the value of every mode in one world; empty if the world has nothing to gain.

    `alone` runs only the mode that the constructor chooses.

    >>> setting = {"epsilon": 1.0, "delta": 0.0, "horizon": 10, "actions": 2, "data": "iid"}
    >>> compare("hedge", setting, 3).keys()
    dict_keys(['auto'])
    """
    return GROUPS[group](seed=seed, alone=alone, **setting)
