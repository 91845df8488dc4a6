"""Value of person keys where people return: one budget with and without `keyed`.

Prints one JSON line. Each person may come c times. "uneven" visits are as on most sites: 1.7 on
average, and twenty people who come c times; "even" visits are the worst case for keys: each person
comes c times, so that most rounds of a block are repeated visits. Shares are of the best fixed
slate in hindsight (greedy), errors are excess squared errors of the coefficients; ± are standard
errors over seeds. Noise is the standard deviation of the last of R totals of 20 numbers.
"""

from math import sqrt
from typing import Any

import numpy as np

from discreet import Privacy, RunningSum, SetMaximizer, StreamingLearner
from discreet.arrays import Floats, Integers
from discreet.domains import LpBall
from discreet.losses import SquaredLoss
from report import write

SEEDS = 12
ITEMS, SLOTS, FEATURES = 20, 3, 5


def asked(most: int, keyed: bool) -> Privacy:
    """Return ε = 1 for all rounds of a person together."""
    return Privacy(1.0, 1e-6, contributions=most, keyed=keyed)


def visits(rounds: int, most: int, even: bool, generator: np.random.Generator) -> Integers:
    """Return the person of each round."""
    times = (
        np.full(rounds, most) if even else np.minimum(most, generator.geometric(0.6, size=rounds))
    )
    times[:20] = most
    whose: Integers = np.repeat(np.arange(rounds), times)[:rounds]
    generator.shuffle(whose)
    return whose


def share(rounds: int, most: int, even: bool, keyed: bool, seed: int) -> float:
    """Return the share of slates from disjoint blocks."""
    generator = np.random.default_rng(seed)
    whose = visits(rounds, most, even, generator)
    liked = 0.5 * generator.beta(0.5, 2, size=ITEMS)
    rows = (generator.random((int(whose.max()) + 1, ITEMS)) < liked).astype(np.float64)[whose]
    shop = SetMaximizer(ITEMS, SLOTS, rounds, asked(most, keyed), stream="iid", seed=seed)
    slates = shop.replay(rows, persons=whose if keyed else None)
    earned = np.take_along_axis(rows, slates, axis=1).max(axis=1).mean()
    served = np.zeros(rounds)
    for _ in range(SLOTS):
        best = int(np.argmax(np.maximum(served[:, None], rows).mean(axis=0)))
        served = np.maximum(served, rows[:, best])
    return float(earned / served.mean())


def excess(rounds: int, most: int, even: bool, keyed: bool, seed: int) -> float:
    """Return the excess error of regression in one release with many passes."""
    generator = np.random.default_rng(seed)
    whose = visits(rounds, most, even, generator)
    people: Floats = generator.normal(size=(int(whose.max()) + 1, FEATURES))
    people /= np.maximum(1.0, np.linalg.norm(people, axis=1, keepdims=True))
    truth = generator.normal(size=FEATURES)
    truth *= 0.8 / np.linalg.norm(truth)
    features = people[whose]
    targets = features @ truth + generator.normal(0, 0.1, rounds)
    bounds: dict[str, Any] = {
        "feature_bound": 1.0,
        "target_bound": 1.0,
        "method": "passes",
        "seed": seed,
    }
    model = StreamingLearner(LpBall(FEATURES), SquaredLoss(), rounds, asked(most, keyed), **bounds)
    model.observe_stream(features, targets, persons=whose if keyed else None)
    return float(np.mean((people @ (model.coefficients - truth)) ** 2))


def noise(most: int, releases: int, keyed: bool) -> float:
    """Return the standard deviation of the last total, by the chosen mechanism."""
    sums = RunningSum(20, 100 * releases, asked(most, keyed), bound=1.0, block=100)
    problem: Any = RunningSum.problem_for(sums.settings)
    return float(problem.standard_deviation(releases))


def over_seeds(measure: Any, *case: Any) -> list[float]:
    """Return the mean and its standard error."""
    found = [measure(*case, seed) for seed in range(SEEDS)]
    return [float(np.mean(found)), float(np.std(found) / sqrt(SEEDS))]


def main() -> None:
    """Measure everything and print one line."""
    found: dict[str, Any] = {"seeds": SEEDS}
    for most, releases in ((5, 10), (10, 10), (30, 10), (30, 50)):
        found[f"noise, c={most}, R={releases}"] = [
            noise(most, releases, keyed) for keyed in (False, True)
        ]
    for even in (False, True):
        kind = "even" if even else "uneven"
        for rounds, most in ((10_000, 5), (10_000, 30), (30_000, 30)):
            both = [over_seeds(share, rounds, most, even, keyed) for keyed in (False, True)]
            found[f"share, {kind}, T={rounds}, c={most}"] = both
        for most in (5, 20):
            both = [over_seeds(excess, 20_000, most, even, keyed) for keyed in (False, True)]
            found[f"excess, {kind}, T=20000, c={most}"] = both
    write(found)


if __name__ == "__main__":
    main()
