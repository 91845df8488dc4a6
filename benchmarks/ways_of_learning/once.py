"""Sets chosen once, and running sums: SetSelector's share and RunningSum's noise by mode."""

from typing import Literal

from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.learners.running_sum import RunningSum
from discreet.learners.running_sum.prefixes import Prefixes
from discreet.learners.set_selector import SetSelector
from discreet.simulate.problems import Selection
from discreet.simulate.problems.problem import made
from discreet.simulate.problems.selection import value_to
from ways_of_learning.modes import AUTO

SITES, RANK = 300, 10
"""How many sites or titles there are, and how many are chosen."""


def selections(
    *,
    world: Literal["city", "films"],
    epsilon: float,
    delta: float,
    people: int,
    seed: int,
    alone: bool = False,
) -> dict[str, float]:
    """Return the shares of `SetSelector` by mode, over greedy without noise."""
    problem = Selection(people, Privacy(epsilon, delta), SITES, RANK, world)
    records = problem.people(seed)
    found: dict[str, float] = {}
    taken = ""
    for mode in (AUTO,) if alone else (AUTO, *SetSelector.modes):
        if mode == taken:
            continue
        try:
            chosen = problem.learner(records, seed, mode=mode).fit(records.records)
        except ConfigError:
            continue
        taken = taken or chosen.method
        found[mode] = problem.share_of(value_to(records.worths, chosen.numbers), records)
    return found


def sums(
    *, dimension: int, releases: int, epsilon: float, delta: float, seed: int, alone: bool = False
) -> dict[str, float]:
    """Return the largest standard deviation of a release of `RunningSum` by mode: exact."""
    found: dict[str, float] = {}
    for mode in (AUTO,) if alone else (AUTO, *RunningSum.modes):
        try:
            learner = made(
                RunningSum, mode, dimension, releases, Privacy(epsilon, delta), bound=1.0
            )
            found[mode] = _largest_deviation(learner, releases)
        except ConfigError:
            continue
    return found


def _largest_deviation(learner: RunningSum, releases: int) -> float:
    """Return the largest standard deviation of a total."""
    total = Prefixes(learner.settings).total
    return max(total.standard_deviation(release) for release in range(1, releases + 1))
