"""ContextualBandit: regret of rivals in untuned worlds, speed of peers, and memory.

Prints one JSON line. ε = 1, δ = 10⁻⁶, ours with its defaults. Regret is over that of uniform play,
every round counted; see discreet/simulate/problems/contextual.py. Rivals (benchmarks/rivals) have
the best settings of a grid, found in two other worlds of the same kind, and FLIPHAT knows how many
features are relevant. Times are those of single calls: the least median of several groups, on one
thread.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import sqrt
from statistics import mean, median, stdev
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from discreet import ContextualBandit, Privacy, warm_up
from discreet.progress import shown
from discreet.simulate.problems.contexts import DenseWorld, SparseWorld, World, digits
from discreet.simulate.problems.contextual import LearnerPolicy, play
from discreet.tasks import repeat
from report import write
from rivals.contextual import RIVALS, tuned

PRIVACY = Privacy(1.0, 1e-6)
FIRST_SEED = 500
TUNING_SEEDS = (0, 1)
OURS = "discreet"
SPARSE_RIVALS = ("linucb", "fliphat", "private_linucb")
DENSE_RIVALS = ("linucb", "private_linucb")
SLOW_WORLDS = 2
"""Number of worlds of rivals whose regressions take a minute each, with their usual settings."""


@dataclass(frozen=True)
class Case:
    """A kind of world, and the policies that play in it."""

    world: Callable[[int], World]
    horizon: int
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of discreet's learner."""
    rivals: tuple[str, ...] = DENSE_RIVALS
    known: dict[str, Any] = field(default_factory=dict)
    """Further settings of FLIPHAT."""
    worlds: int = 12
    slow: tuple[str, ...] = ()
    """Rivals that take a minute a world."""


def sparse(features: int, horizon: int = 10**5, **world: Any) -> Case:
    """Return a case with many features, of which some matter."""
    many = features > 500
    return Case(
        lambda seed: SparseWorld.drawn(features, seed=seed, **world),
        horizon,
        rivals=SPARSE_RIVALS,
        known={"relevant": world.get("relevant", 5)},
        worlds=6 if many else 12,
        slow=("linucb", "private_linucb") if many else (),
    )


def dense(features: int, arms: int, horizon: int, **world: Any) -> Case:
    """Return a case with few features, all of which matter, and contexts of known length 1."""
    return Case(
        lambda seed: DenseWorld.drawn(features, arms, seed=seed, **world),
        horizon,
        settings={"context_length": 1.0},
    )


def told_all(case: Case) -> Case:
    """Return the case for a learner with the setting that all features are relevant."""
    return Case(case.world, case.horizon, settings={"relevant": "all"}, rivals=())


MANY_RELEVANT = sparse(100, relevant=20, reward="bernoulli")
EVERYONE = Case(
    sparse(100).world, 10**5, rivals=tuple(name for name in RIVALS if name != "uniform")
)
CASES: dict[str, Case] = {
    "sparse_d100_gaussian": EVERYONE,
    "sparse_d100_bernoulli": sparse(100, reward="bernoulli"),
    "sparse_d1000_gaussian": sparse(1000),
    "sparse_d1000_bernoulli": sparse(1000, reward="bernoulli"),
    "dense_10_5_1e5": dense(10, 5, 10**5),
    "dense_20_10_1e5": dense(20, 10, 10**5),
    "dense_20_10_1e6": dense(20, 10, 10**6),
    "dense_5_5_1e4": dense(5, 5, 10**4),
    "logistic_10_5_1e5": dense(10, 5, 10**5, link="logistic"),
    "sparse_logistic_d100": sparse(100, link="logistic", reward="bernoulli"),
    "digits_1e5": Case(lambda seed: digits(), 10**5),
    "digits_3e5": Case(lambda seed: digits(), 3 * 10**5),
    "sparse_k10_d100_bernoulli": sparse(100, arms=10, reward="bernoulli"),
    "sparse_20_relevant_bernoulli": MANY_RELEVANT,
    "sparse_20_relevant_told_all": told_all(MANY_RELEVANT),
    "sparse_correlated_d100": sparse(100, correlation=0.5),
    "sparse_skewed_d100": sparse(100, skewed=True),
}


# --- regret


def best_settings(name: str, rival: str) -> dict[str, Any]:
    """Return a rival's settings with the least regret in other worlds of this kind."""
    case = CASES[name]
    if rival in case.slow:
        return {}
    known = case.known if rival == "fliphat" else {}
    with threadpool_limits(1):
        return tuned(rival, case.world, case.horizon, TUNING_SEEDS) | known


def regret(name: str, who: str, settings: dict[str, Any], seed: int) -> float:
    """Return the regret of one run."""
    case = CASES[name]
    world = case.world(seed)
    with threadpool_limits(1):
        if who != OURS:
            rival = RIVALS[who](
                world, case.horizon, PRIVACY.epsilon, PRIVACY.delta, seed=seed, **settings
            )
            return play(world, rival, case.horizon, seed=seed)
        settings = settings | {"context_bound": world.context_bound, "seed": seed}
        learner = ContextualBandit(world.arms, world.features, case.horizon, PRIVACY, **settings)
        return play(world, LearnerPolicy(learner), case.horizon, seed=seed)


@shown()
def regrets(quick: bool) -> dict[str, dict[str, Any]]:
    """Return the regrets by case: of discreet, and of rivals in the same worlds."""
    pairs = (
        [] if quick else [(name, rival) for name, case in CASES.items() for rival in case.rivals]
    )
    found = repeat(best_settings, pairs, label="settings of rivals")
    settings = dict(zip(pairs, found, strict=True))
    settings |= {(name, OURS): case.settings for name, case in CASES.items()}
    tasks = [
        (name, who, settings[name, who], FIRST_SEED + world)
        for name, who in settings
        for world in range(_worlds(name, who, quick))
    ]
    played = repeat(regret, tasks, label="regret")
    values: dict[tuple[str, str], list[float]] = {pair: [] for pair in settings}
    for (name, who, *_), value in zip(tasks, played, strict=True):
        values[name, who].append(value)
    return {
        name: _summary(values[name, OURS])
        | {
            "rivals": {
                rival: _summary(values[name, rival]) | {"settings": settings[name, rival]}
                for rival in ([] if quick else case.rivals)
            }
        }
        for name, case in CASES.items()
    }


def _worlds(name: str, who: str, quick: bool) -> int:
    if quick or who in CASES[name].slow:
        return SLOW_WORLDS
    return CASES[name].worlds


def _summary(values: list[float]) -> dict[str, float]:
    return {
        "mean": mean(values),
        "standard_error": stdev(values) / sqrt(len(values)),
        "worst": max(values),
        "worlds": len(values),
    }


# --- speed

FEATURES, ARMS = 50, 20
TRAINING = 1000
GROUPS, CALLS = 12, 40


def require_peers() -> None:
    """Refuse to measure if a peer is missing."""
    missing = [name for name in ("mabwiser", "river") if find_spec(name) is None]
    if missing:
        sys.exit(f"{' and '.join(missing)} missing: python -m pip install --group peers")


def speeds() -> dict[str, dict[str, float]]:
    """Return microseconds of single calls at 50 features and 20 arms, with all arms trained."""
    from mabwiser.mab import MAB, LearningPolicy
    from river.bandit import LinUCBDisjoint

    generator = np.random.default_rng(0)
    contexts = generator.uniform(-1, 1, size=(TRAINING, FEATURES))
    arms = np.arange(TRAINING) % ARMS
    rewards = (generator.random(TRAINING) < 0.5).astype(float)
    ours = trained_learner(generator)
    mab = MAB(list(range(ARMS)), LearningPolicy.LinUCB())
    mab.fit(arms, rewards, contexts)
    policy = LinUCBDisjoint(seed=1)
    rows = [dict(enumerate(row.tolist())) for row in contexts]
    for arm, row, reward in zip(arms.tolist(), rows, rewards.tolist(), strict=True):
        policy.update(arm, row, reward)
    choices = list(range(ARMS))
    with threadpool_limits(1):
        return {
            "decide": {
                OURS: microseconds_of(lambda row: ours.act(contexts[row]), lambda row: ours.skip()),
                "mabwiser": microseconds_of(lambda row: mab.predict(contexts[row : row + 1])),
                "river": microseconds_of(lambda row: policy.pull(choices, rows[row])),
            },
            "update": {
                OURS: microseconds_of(
                    lambda row: ours.observe(rewards[row]),
                    before=lambda row: ours.act(contexts[row]),
                ),
                "mabwiser": microseconds_of(
                    lambda row: mab.partial_fit(
                        arms[row : row + 1], rewards[row : row + 1], contexts[row : row + 1]
                    )
                ),
            },
        }


def trained_learner(generator: np.random.Generator) -> ContextualBandit:
    """Return a learner in the middle of a long block, with released weights."""
    learner = ContextualBandit(ARMS, FEATURES, 10**6, PRIVACY)
    while learner.releases < 5:
        people = generator.uniform(-1, 1, size=(min(learner.rounds_until_release, 10**4), FEATURES))
        tickets = learner.open_many(people)
        learner.close_many(tickets, (generator.random(len(people)) < 0.5).astype(float))
        learner.release_if_due()
    return learner


def microseconds_of(
    call: Callable[[int], object],
    after: Callable[[int], object] | None = None,
    before: Callable[[int], object] | None = None,
) -> float:
    """Return microseconds of a call: the least median of groups, since speed varies in bursts."""
    medians = []
    for group in range(GROUPS):
        times = []
        for number in range(CALLS):
            row = (group * CALLS + number) % TRAINING
            if before is not None:
                before(row)
            began = perf_counter()
            call(row)
            times.append(perf_counter() - began)
            if after is not None:
                after(row)
        medians.append(median(times))
    return min(medians) * 1e6


def memory() -> dict[str, dict[str, int]]:
    """Return the bytes of the state for this number of rounds."""
    shapes = {"ridge_50_20": (20, 50), "screen_1000_3": (3, 1000)}
    return {
        name: {
            f"1e{power}": ContextualBandit(arms, features, 10**power, PRIVACY).state_bytes
            for power in (5, 8)
        }
        for name, (arms, features) in shapes.items()
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="two worlds a case, and no rivals")
    quick = parser.parse_args().quick
    require_peers()
    warm_up()
    microseconds = speeds()
    decide, update = microseconds["decide"], microseconds["update"]
    found = regrets(quick)
    report: dict[str, Any] = {
        "settings": {"first_seed": FIRST_SEED, "quick": quick},
        "regret": found,
    }
    for reward in () if quick else ("gaussian", "bernoulli"):
        case = found[f"sparse_d1000_{reward}"]
        report[f"over_fliphat_d1000_{reward}"] = case["mean"] / case["rivals"]["fliphat"]["mean"]
    report |= {
        "decide_speedup_over_mabwiser": decide["mabwiser"] / decide[OURS],
        "decide_speedup_over_river": decide["river"] / decide[OURS],
        "update_speedup_over_mabwiser": update["mabwiser"] / update[OURS],
        "microseconds": microseconds,
        "memory": memory(),
    }
    write(report, "contextual-quick" if quick else "contextual")


if __name__ == "__main__":
    main()
