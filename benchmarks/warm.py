"""Value of a log of another policy: shares with and without it, 10⁵ visitors, ε = 1.

Prints one JSON line: the share kept (discreet/simulate/problems/display.py) in the first 2·10⁴
rounds, from there to the end, and in all, each a mean over seeds (a world each) with its standard
deviation.

    none                 no log: the learner screens by itself
    uniform_N            N uniform slates
    favourites_N         every second slate is one of ten good ones, with the chance of every place
    rewards, …           the same, with the reward of the whole slate in place of the click
"""

import sys
from itertools import islice
from statistics import mean, pstdev
from typing import Any

import numpy as np

from discreet import Privacy, SetMaximizer, warm_up
from discreet.arrays import Integers
from discreet.progress import shown
from discreet.simulate.problems.display import World, run_display
from discreet.tasks import repeat
from measures.logs import Log
from report import write

ITEMS, SLOTS, VISITORS, FIRST = 100, 5, 10**5, 20_000
PRIVACY = Privacy(1.0, 1e-6)
SEEDS = range(3100, 3124)
"""Worlds that nothing was tuned on."""
CASES: dict[str, dict[str, Any]] = {
    "none": {},
    "uniform_2e4": {"rows": 20_000},
    "uniform_1e5": {"rows": 10**5},
    "favourites_2e4": {"rows": 20_000, "biased": True},
    "favourites_1e5": {"rows": 10**5, "biased": True},
    "rewards_none": {"feedback": "bandit"},
    "rewards_uniform_2e4": {"feedback": "bandit", "rows": 20_000},
    "rewards_uniform_1e5": {"feedback": "bandit", "rows": 10**5},
    "rewards_favourites_1e5": {"feedback": "bandit", "rows": 10**5, "biased": True},
}


def good_slates(world: World, seed: int) -> Integers:
    """Return ten random slates of the forty best items."""
    popular = np.argsort(-(world.weights @ world.chances))[:40]
    generator = np.random.default_rng([seed, 13])
    return np.array([generator.choice(popular, size=SLOTS, replace=False) for _ in range(10)])


def kept(settings: dict[str, Any], seed: int) -> tuple[float, float, float]:
    """Return the shares of the first rounds, of the others, and of all."""
    rows, feedback = settings.get("rows", 0), settings.get("feedback", "clicks")
    world = World.drawn(VISITORS, items=ITEMS, seed=seed)
    learner = SetMaximizer(ITEMS, SLOTS, VISITORS, PRIVACY, feedback=feedback, stream="iid")
    if rows:
        biased = settings.get("biased", False)
        favourites = good_slates(world, seed) if biased else None
        log = Log.drawn(world, rows, SLOTS, favourites=favourites, seed=seed)
        if log.chances is None:
            learner.warm_start(log.rows(feedback), "uniform")
        else:
            learner.warm_start(log.rows(feedback), log.chances, least_propensity=0.5 / ITEMS)
    run = run_display(learner, world, seed=seed)
    early = float(np.interp(FIRST, run.visitors, run.earned))
    parts = [World(world.weights, world.chances, types) for types in np.split(world.types, [FIRST])]
    return (
        parts[0].share(early, SLOTS),
        parts[1].share(run.value - early, SLOTS),
        world.share(run.value, SLOTS),
    )


def main() -> None:
    """Measure and print."""
    warm_up()
    names = [name for name in CASES if len(sys.argv) < 2 or name in sys.argv[1:]]
    tasks = [(CASES[name], seed) for name in names for seed in SEEDS]
    with shown():
        found = iter(repeat(kept, tasks, label="logs"))
    report: dict[str, Any] = {"settings": {"cases": names, "first_seed": SEEDS.start}}
    for name in names:
        shares = list(zip(*islice(found, len(SEEDS)), strict=True))
        parts = zip(("first", "later", "all"), shares, strict=True)
        report[name] = {
            part: {"mean": mean(s), "standard_deviation": pstdev(s)} for part, s in parts
        }
    write(report, "warm" if len(names) == len(CASES) else "warm-part")


if __name__ == "__main__":
    main()
