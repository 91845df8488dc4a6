"""What is chosen once, and running sums: SetSelector's share by mode, RunningSum's noise by mode."""

from discreet.arrivals import ClickModel, Nearby
from discreet.budget.privacy import Privacy
from discreet.domains import UniformMatroid
from discreet.errors import ConfigError
from discreet.learners.running_sum import RunningSum
from discreet.learners.running_sum.prefixes import Prefixes
from discreet.learners.set_selector import SetSelector
from discreet.simulate.selection import City, FilmLog, greedy_without_noise, value_to
from discreet.simulate.ways.way import AUTO, Way, modes

__all__ = ["selections", "sums"]

RANK = 10
"""How many sites or titles are chosen."""


def selections(
    *, world: str, epsilon: float, delta: float, people: int, seed: int, alone: bool = False
) -> dict[str, float]:
    """Shares of `SetSelector` by mode: the value of the chosen set over that of greedy without noise."""
    function: Nearby | ClickModel
    if world == "city":
        city = City.drawn(people, seed=seed)
        records, worths, function = city.homes, city.worths, city.nearby
    else:
        log = FilmLog.drawn(people, seed=seed)
        records, worths, function = log.liked, log.liked, log.function
    domain = UniformMatroid(worths.shape[1], RANK)
    best = value_to(worths, greedy_without_noise(worths, domain))
    found: dict[str, float] = {}
    taken = ""
    for mode in ("auto",) if alone else ("auto", *SetSelector.modes):
        if mode == taken:
            continue
        way = AUTO if mode == "auto" else Way(mode, mode)
        try:
            selector = way.learner(SetSelector, domain, Privacy(epsilon, delta), function=function, seed=seed)
            chosen = selector.fit(records)
        except ConfigError:
            continue
        taken = taken or chosen.method
        found[mode] = value_to(worths, chosen.numbers) / best
    return found


def sums(
    *, dimension: int, releases: int, epsilon: float, delta: float, seed: int, alone: bool = False
) -> dict[str, float]:
    """The largest standard deviation of a release of `RunningSum`, which it makes least, by mode: exact."""
    found: dict[str, float] = {}
    ways = (AUTO,) if alone else (AUTO, *modes(*RunningSum.modes))
    for way in ways:
        try:
            learner = way.learner(RunningSum, dimension, releases, Privacy(epsilon, delta), bound=1.0)
            found[way.name] = _largest_deviation(learner, releases)
        except ConfigError:
            continue
    return found


def _largest_deviation(learner: RunningSum, releases: int) -> float:
    """The largest standard deviation of a total."""
    total = Prefixes(learner.settings).total
    return max(total.standard_deviation(release) for release in range(1, releases + 1))
