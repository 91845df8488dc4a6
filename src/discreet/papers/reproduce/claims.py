"""What the papers' theorems say of regret, and runs that measure it, as printed and by our learners.

References  those of discreet/papers/printed/catalogue.py, where every algorithm has its name
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import e, sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Privacy
from discreet.decide.matroids import UniformMatroid
from discreet.learners.contextual_bandit import ContextualBandit
from discreet.learners.continuous_maximizer import ContinuousMaximizer
from discreet.learners.set_maximizer import SetMaximizer
from discreet.learners.set_minimizer import SetMinimizer
from discreet.papers.printed import (
    bandit_dp,
    bandit_submod_prftl,
    continuous,
    dpmfw,
    fi_dp,
    submod_prftl,
)
from discreet.papers.printed import bandit_dp_variants as variants
from discreet.papers.printed.catalogue import CATALOGUE
from discreet.papers.printed.costs import cost_as_published
from discreet.papers.printed.glm_theory import Theory, printed_warm_up_by_order
from discreet.papers.printed.meeting import SetValue
from discreet.papers.printed.promise import compared
from discreet.papers.rivals.contextual import RIVALS
from discreet.papers.rivals.continuous import played_value, printed_value
from discreet.simulate.bundle import BundleWorld, run_bundle
from discreet.simulate.contextual import LearnerPolicy, SparseWorld, play
from discreet.simulate.display import World, run_display

__all__ = [
    "CLAIMS",
    "COSTS_OF_SETS",
    "FEATURES",
    "ITEMS",
    "OURS",
    "PROBLEMS",
    "SLOTS",
    "WHOLE_COSTS",
    "Claim",
    "Problem",
    "regret",
]

OURS = "discreet"
EPSILON, DELTA = 1.0, 1e-6
PRIVACY = Privacy(EPSILON, DELTA)
WHOLE_COSTS, COSTS_OF_SETS = 20, 10
"""Items of the bundles, from whole costs and from the costs of the sets shown."""
ITEMS, SLOTS = 20, 3
FEATURES, JUDGES = 100, 20_000


@dataclass(frozen=True)
class Problem:
    """What is decided, by which learner of ours, and for how many people."""

    ours: str
    horizons: tuple[int, ...]
    quick: tuple[int, ...]
    most: float
    """The largest regret, of the kind that the theorem bounds, that a round can have."""


@dataclass(frozen=True)
class Claim:
    """What a theorem says of an algorithm."""

    problem: str
    title: str
    power: str
    """How the bound grows with the horizon T, up to logarithms."""
    bound: Callable[[int], float]
    """At a horizon, with all constants."""


PROBLEMS = {
    "costs": Problem(
        "SetMinimizer", (3_000, 10_000, 30_000, 100_000, 300_000), (3_000, 10_000, 30_000, 100_000), 2.0
    ),
    "costs of sets": Problem(
        "SetMinimizer, bandit",
        (30_000, 100_000, 300_000, 1_000_000),
        (10_000, 30_000, 100_000, 300_000),
        2.0,
    ),
    "slates": Problem(
        "SetMaximizer",
        (3_000, 10_000, 30_000, 100_000, 300_000),
        (3_000, 10_000, 30_000, 100_000),
        1 - 1 / e,
    ),
    "rewards": Problem(
        "SetMaximizer, bandit", (10_000, 30_000, 100_000, 300_000), (3_000, 10_000, 30_000), 1 - 1 / e
    ),
    "points": Problem(
        "ContinuousMaximizer", (1_000, 3_000, 10_000, 30_000), (500, 1_000, 2_000, 4_000), 1 - 1 / e
    ),
    "arms": Problem(
        "ContextualBandit",
        (3_000, 10_000, 30_000, 100_000, 300_000),
        (3_000, 10_000, 30_000, 100_000),
        1.0,
    ),
}


def _bandit_bound(horizon: int) -> float:
    gamma = bandit_dp.printed_exploration(ITEMS, SLOTS, horizon)
    return bandit_dp.regret_bound(ITEMS, SLOTS, horizon, EPSILON, DELTA, gamma)


def _every_round_bound(horizon: int) -> float:
    gamma = variants.every_round_exploration(ITEMS, SLOTS, horizon, EPSILON, DELTA)
    return variants.every_round_bound(ITEMS, SLOTS, horizon, EPSILON, DELTA, gamma)


def _presampled_bound(horizon: int) -> float:
    gamma = variants.presampled_exploration(ITEMS, SLOTS, horizon, EPSILON, DELTA)
    return variants.presampled_bound(ITEMS, SLOTS, horizon, EPSILON, DELTA, gamma)


def _points_bound(horizon: int) -> float:
    return continuous.regret_bound(
        ITEMS, horizon, EPSILON, bound=sqrt(ITEMS), diameter=sqrt(2 * SLOTS), smoothness=1.0
    )


def _sets_bound(horizon: int) -> float:
    copies = dpmfw.copies_for(horizon)
    return dpmfw.regret_bound(ITEMS, horizon, EPSILON, DELTA, rank=SLOTS, copies=copies)


def _arms_bound(horizon: int) -> float:
    warm_up = printed_warm_up_by_order(FEATURES, horizon, EPSILON)
    return Theory(FEATURES, horizon, EPSILON, DELTA).regret_bound(warm_up)


CLAIMS = {
    "SUBMODPRFTL": Claim(
        "costs",
        "whole costs",
        "√T",
        lambda time: submod_prftl.regret_bound(WHOLE_COSTS, time, EPSILON),
    ),
    "BANDITSUBMODPRFTL": Claim(
        "costs of sets",
        "cost of the set shown",
        "T^2/3",
        lambda time: bandit_submod_prftl.regret_bound(COSTS_OF_SETS, time, EPSILON),
    ),
    "FI-DP": Claim(
        "slates",
        "whole preferences",
        "√T",
        lambda time: fi_dp.regret_bound(ITEMS, SLOTS, time, fi_dp.rate(EPSILON, DELTA, SLOTS, time)),
    ),
    "BanditDP": Claim("rewards", "rewards of slates", "T^2/3", _bandit_bound),
    "BanditDP, B.1": Claim("rewards", "drawn again every round", "T^3/4", _every_round_bound),
    "BanditDP, B.2": Claim("rewards", "coins thrown in advance", "T^2/3", _presampled_bound),
    "PFTAL copies": Claim("points", "whole preferences", "T^3/4", _points_bound),
    "DPMFW": Claim("points", "whole preferences", "√T", _sets_bound),
    "GLM bandit": Claim("arms", "arms given contexts", "ln² T", _arms_bound),
}


# --- runs


@compared()
def regret(problem: str, who: str, horizon: int, seed: int) -> list[float]:
    """What one run loses, and what trivial decisions lose, in the same world."""
    return _RUNS[problem](who, horizon, seed)


def _of_costs(who: str, horizon: int, seed: int, *, bandit: bool = False) -> list[float]:
    world = BundleWorld.drawn(horizon, items=COSTS_OF_SETS if bandit else WHOLE_COSTS, seed=seed)
    if who == OURS:
        feedback: dict[str, Any] = {"feedback": "bandit"} if bandit else {"function": world.function}
        learner = SetMinimizer(world.items, horizon, PRIVACY, seed=seed, **feedback)
        cost = run_bundle(learner, world).cost
    else:
        cost = cost_as_published(world, epsilon=EPSILON, bandit=bandit, noise="printed", seed=seed)
    best = world.cost_of(world.best)
    return [cost - best, world.naive - best]


def _of_costs_of_sets(who: str, horizon: int, seed: int) -> list[float]:
    return _of_costs(who, horizon, seed, bandit=True)


def _of_slates(who: str, horizon: int, seed: int) -> list[float]:
    world = World.drawn(horizon, items=ITEMS, seed=seed)
    if who == OURS:
        learner = SetMaximizer(ITEMS, SLOTS, horizon, PRIVACY, seed=seed)
        return _short_of_greedy(world, run_display(learner, world, seed=seed).value)
    earned = fi_dp.run(world, SLOTS, EPSILON, DELTA, noise="printed", seed=seed).value
    return _short_of_greedy(world, earned)


def _of_rewards(who: str, horizon: int, seed: int) -> list[float]:
    world = World.drawn(horizon, items=ITEMS, seed=seed)
    if who == OURS:
        learner = SetMaximizer(ITEMS, SLOTS, horizon, PRIVACY, feedback="bandit", seed=seed)
        return _short_of_greedy(world, run_display(learner, world, seed=seed).value)
    if who == "BanditDP":
        earned = bandit_dp.run(world, SLOTS, EPSILON, DELTA, noise="printed", seed=seed).value
        return _short_of_greedy(world, earned)
    visitors = [_clicks_of(chances) for chances in world.chances]
    stream = [visitors[kind] for kind in world.types]
    met = CATALOGUE[who].play(stream, ITEMS, SLOTS, horizon, EPSILON, DELTA, noise="printed", seed=seed)
    return _short_of_greedy(world, met.total)


def _clicks_of(chances: Floats) -> SetValue:
    """The chance that a visitor of this type clicks something of a set."""
    return lambda chosen: float(1 - np.prod(1 - chances[chosen]))


def _of_points(who: str, horizon: int, seed: int) -> list[float]:
    world = World.drawn(horizon, items=ITEMS, seed=seed)
    rows, domain = world.rows(0, horizon), UniformMatroid(ITEMS, SLOTS)
    if who == OURS:
        value = played_value(ContinuousMaximizer(domain, horizon, PRIVACY, seed=seed), rows)
    else:
        name = "dpmfw" if who == "DPMFW" else "alg4"
        value = printed_value(name, rows, domain, EPSILON, noise="printed", seed=seed)
    return _short_of_greedy(world, value)


def _short_of_greedy(world: World, value: float) -> list[float]:
    return [world.regret(value, SLOTS), world.regret(world.random_worth(SLOTS), SLOTS)]


def _of_arms(who: str, horizon: int, seed: int) -> list[float]:
    world = SparseWorld.drawn(FEATURES, seed=seed)
    if who == OURS:
        learner = ContextualBandit(
            world.arms, FEATURES, horizon, PRIVACY, context_bound=world.context_bound, seed=seed
        )
        lost = play(world, LearnerPolicy(learner), horizon, seed=seed).regret
    else:
        rival = RIVALS["glm_bandit_printed"](world, horizon, EPSILON, DELTA, seed=seed)
        lost = play(world, rival, horizon, seed=seed).regret
    means = world.sample(JUDGES, np.random.default_rng([seed, 5])).means
    at_random = horizon * float(np.mean(means.max(axis=1) - means.mean(axis=1)))
    return [lost * at_random, at_random]


_RUNS = {
    "costs": _of_costs,
    "costs of sets": _of_costs_of_sets,
    "slates": _of_slates,
    "rewards": _of_rewards,
    "points": _of_points,
    "arms": _of_arms,
}
