"""SetMinimizer: its share of the gain, growth of regret, and speed of built-in functions.

Prints one JSON line. share = (naive − cost) / (naive − cost of the plain leader), where naive is
the best of nothing, everything and random sets, and the plain leader is non-private FTRL with full
information and the best of five regularisers in hindsight.
"""

import sys
from statistics import mean, pstdev
from time import perf_counter
from typing import Any

import numpy as np

from discreet import Privacy, SetMinimizer, warm_up
from discreet.functions import GraphCut, MinusModular
from discreet.papers.printed.costs import cost_without_privacy
from discreet.progress import shown
from discreet.simulate.exponent import fit_exponent
from discreet.simulate.problems.costs import BundleWorld, Costs
from discreet.tasks import repeat
from measures.concave_costs import ConcaveWorld
from report import write

FIRST_SEED = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 800
SEEDS = range(FIRST_SEED, FIRST_SEED + 12)
"""Worlds 0 to 29 are those that defaults were chosen on; these are others."""
PRIVACY = Privacy(1.0, 1e-6)
NOISE_OFF = Privacy(1e4, 1e-6)
PURE = Privacy(1.0)
Size = tuple[int, int]
"""Items and visitors."""
FULL: Size = (50, 10**5)
BANDIT: Size = (10, 10**6)
BANDIT_20: Size = (20, 3 * 10**5)
CASES: dict[str, tuple[Size, dict[str, Any]]] = {
    "full": (FULL, {}),
    "full_noise_off": (FULL, {"noise_off": True}),
    "full_pure": (FULL, {"pure": True}),
    "bandit": (BANDIT, {"feedback": "bandit"}),
    "bandit_noise_off": (BANDIT, {"feedback": "bandit", "noise_off": True}),
    "bandit_iid": (BANDIT, {"feedback": "bandit", "stream": "iid"}),
    "bandit_n20": (BANDIT_20, {"feedback": "bandit"}),
    "bandit_n20_iid": (BANDIT_20, {"feedback": "bandit", "stream": "iid"}),
}
STIFFNESSES = (10.0, 30.0, 100.0, 300.0, 1000.0)
FULL_HORIZONS = (3_000, 10_000, 30_000, 100_000, 300_000)
BANDIT_HORIZONS = (30_000, 100_000, 300_000, 1_000_000)


def share(size: Size, settings: dict[str, Any], seed: int) -> tuple[float, float]:
    """Return a run's share of the plain leader's gain, and of the gain in hindsight."""
    items, visitors = size
    world = BundleWorld.drawn(visitors, items=items, seed=seed)
    leader = min(cost_without_privacy(world, stiffness) for stiffness in STIFFNESSES)
    cost = cost_of(world, dict(settings))
    return (world.naive - cost) / (world.naive - leader), world.share(cost)


def cost_of(world: BundleWorld, settings: dict[str, Any]) -> float:
    """Return the cost of one method."""
    privacy = PRIVACY
    if settings.pop("noise_off", False):
        privacy = NOISE_OFF
    if settings.pop("pure", False):
        privacy = PURE
    problem = Costs(world.visitors, privacy, world.items, **settings)
    return problem.outcome(problem.learner(world), world)


def gains(seed: int) -> tuple[float, float]:
    """Return the gain from single costs that are not quadratic, and that of the best fixed set."""
    items, visitors = BANDIT_20
    world = ConcaveWorld.drawn(visitors, items=items, seed=seed)
    problem = Costs(visitors, PRIVACY, items, "bandit")
    return world.naive - problem.outcome(problem.learner(), world), world.gain


@shown()
def concave_share() -> float:
    """Return the sum of gains over that of the best fixed sets, since some worlds have none."""
    found = repeat(gains, [(seed,) for seed in SEEDS], label="concave")
    ours, best = zip(*found, strict=True)
    return float(sum(ours) / sum(best))


def regret(size: Size, settings: dict[str, Any], seed: int) -> float:
    """Return the default learner's regret against the best set in hindsight."""
    items, visitors = size
    world = BundleWorld.drawn(visitors, items=items, seed=seed)
    return cost_of(world, dict(settings)) - world.cost_of(world.best)


def round_seconds(
    items: int = 1000, rounds: int = 1000, callables: int = 20
) -> tuple[float, float]:
    """Return the time of a round with a built-in function, and with an equal callable."""
    generator = np.random.default_rng(0)
    edges = generator.choice(items, size=(5 * items, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    rows = generator.random((rounds, len(edges) + items)) / len(edges)
    family = MinusModular(GraphCut(tuple((int(a), int(b)) for a, b in edges)))

    def person(row: Any) -> Any:
        def cost(chosen: Any) -> float:
            inside = np.zeros(items, dtype=np.bool_)
            inside[chosen] = True
            torn = row[: len(edges)] @ (inside[edges[:, 0]] != inside[edges[:, 1]])
            return float(torn - row[len(edges) :][chosen].sum())

        return cost

    times = []
    for function, people in ((family, rows), (None, [person(row) for row in rows[:callables]])):
        learner = SetMinimizer(items, 10**6, PRIVACY, function=function)
        learner.observe_many(people[:1])
        began = perf_counter()
        learner.observe_many(people[1:])
        times.append((perf_counter() - began) / (len(people) - 1))
    return times[0], times[1]


@shown()
def tables_of_shares() -> list[dict[str, dict[str, float]]]:
    """Return shares of the plain leader's gain, and of the gain in hindsight, by case."""
    tasks = [(size, settings, seed) for size, settings in CASES.values() for seed in SEEDS]
    found = repeat(share, tasks, label="shares")
    tables: list[dict[str, dict[str, float]]] = [{}, {}]
    for place, name in enumerate(CASES):
        values = found[place * len(SEEDS) : (place + 1) * len(SEEDS)]
        for table, numbers in zip(tables, zip(*values, strict=True), strict=True):
            table[name] = {
                "mean": mean(numbers),
                "standard_deviation": pstdev(numbers),
                "worst": min(numbers),
            }
    return tables


def main() -> None:
    """Measure and print."""
    warm_up()
    builtin, plain = round_seconds()
    shares, of_hindsight = tables_of_shares()
    full: list[tuple[Any, ...]] = [
        ((50, horizon), {}, seed) for horizon in FULL_HORIZONS for seed in SEEDS
    ]
    bandit: list[tuple[Any, ...]] = [
        ((10, horizon), {"feedback": "bandit"}, seed)
        for horizon in BANDIT_HORIZONS
        for seed in SEEDS
    ]
    with shown():
        regrets = repeat(regret, full + bandit, label="regret")
    report = {
        "settings": {"first_seed": FIRST_SEED},
        "share_full": shares["full"]["mean"],
        "share_bandit": shares["bandit"]["mean"],
        "share_bandit_n10": of_hindsight["bandit"]["mean"],
        "share_bandit_n10_iid": of_hindsight["bandit_iid"]["mean"],
        "share_bandit_n20": of_hindsight["bandit_n20"]["mean"],
        "share_bandit_n20_iid": of_hindsight["bandit_n20_iid"]["mean"],
        "share_bandit_concave": concave_share(),
        "slope_full": fit_exponent(FULL_HORIZONS, regrets[: len(full)]),
        "slope_bandit": fit_exponent(BANDIT_HORIZONS, regrets[len(full) :]),
        "speedup_builtin": plain / builtin,
        "microseconds_a_round": {"builtin": builtin * 1e6, "callable": plain * 1e6},
        "share": shares,
        "share_of_hindsight": of_hindsight,
    }
    write(report)


if __name__ == "__main__":
    main()
