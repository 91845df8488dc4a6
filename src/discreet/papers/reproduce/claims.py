"""The papers' regret bounds, and runs that measure regret as printed and by discreet.

References  those of discreet/papers/printed/catalogue.py, which names every algorithm
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import e, sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Privacy
from discreet.optim.matroids import UniformMatroid
from discreet.papers.printed import (
    bandit_dp,
    bandit_submod_prftl,
    continuous,
    dpmfw,
    fi_dp,
    glm_for_world,
    submod_prftl,
)
from discreet.papers.printed import bandit_dp_variants as variants
from discreet.papers.printed.catalogue import CATALOGUE
from discreet.papers.printed.costs import cost_as_published
from discreet.papers.printed.episode import SetValue
from discreet.papers.printed.glm_theory import Theory, printed_warm_up_by_order
from discreet.papers.printed.promise import compared
from discreet.papers.reproduce.points import printed_value
from discreet.simulate.problems import Contextual, Continuous, Costs, Display, Problem
from discreet.simulate.problems.contexts import World as Contexts
from discreet.simulate.problems.contextual import play
from discreet.simulate.problems.costs import BundleWorld
from discreet.simulate.problems.display import World

OURS = "discreet"
EPSILON, DELTA = 1.0, 1e-6
PRIVACY = Privacy(EPSILON, DELTA)
WHOLE_COSTS, COSTS_OF_SETS = 20, 10
"""Number of items of the bundles, with full information and with bandit feedback."""
ITEMS, SLOTS = 20, 3
ARMS, FEATURES, JUDGES = 3, 100, 20_000


@dataclass(frozen=True)
class Measured:
    """A problem whose regret is measured, discreet's learner for it, and the horizons."""

    ours: str
    posed: Callable[[int], Problem[Any, Any]]
    """Returns the problem of a horizon."""
    lost: Callable[[float, Any, int, int], list[float]]
    """Returns the regrets of an outcome and of trivial decisions (people, horizon, seed)."""
    horizons: tuple[int, ...]
    quick: tuple[int, ...]
    most: float
    """Largest possible regret per round, of the kind that the theorem bounds."""


@dataclass(frozen=True)
class Claim:
    """The regret bound of an algorithm."""

    problem: str
    title: str
    power: str
    """Growth of the bound with the horizon T, up to logarithms."""
    bound: Callable[[int], float]
    """Returns the bound at a horizon, with all constants."""


def _over_best_set(cost: float, world: BundleWorld, horizon: int, seed: int) -> list[float]:
    best = world.cost_of(world.best)
    return [cost - best, world.naive - best]


def _short_of_greedy(value: float, world: World, horizon: int, seed: int) -> list[float]:
    return [world.regret(value, SLOTS), world.regret(world.random_worth(SLOTS), SLOTS)]


def _of_uniform_play(regret: float, world: Contexts, horizon: int, seed: int) -> list[float]:
    means = world.sample(JUDGES, np.random.default_rng([seed, 5])).means
    at_random = horizon * float(np.mean(means.max(axis=1) - means.mean(axis=1)))
    return [regret * at_random, at_random]


SHORTER = (3_000, 10_000, 30_000, 100_000)
USUAL = (*SHORTER, 300_000)
PROBLEMS = {
    "costs": Measured(
        "SetMinimizer",
        lambda horizon: Costs(horizon, PRIVACY, WHOLE_COSTS),
        _over_best_set,
        USUAL,
        SHORTER,
        2.0,
    ),
    "costs of sets": Measured(
        "SetMinimizer, bandit",
        lambda horizon: Costs(horizon, PRIVACY, COSTS_OF_SETS, "bandit"),
        _over_best_set,
        (30_000, 100_000, 300_000, 1_000_000),
        (10_000, 30_000, 100_000, 300_000),
        2.0,
    ),
    "slates": Measured(
        "SetMaximizer",
        lambda horizon: Display(horizon, PRIVACY, ITEMS, SLOTS),
        _short_of_greedy,
        USUAL,
        SHORTER,
        1 - 1 / e,
    ),
    "rewards": Measured(
        "SetMaximizer, bandit",
        lambda horizon: Display(horizon, PRIVACY, ITEMS, SLOTS, "bandit"),
        _short_of_greedy,
        (10_000, 30_000, 100_000, 300_000),
        (3_000, 10_000, 30_000),
        1 - 1 / e,
    ),
    "points": Measured(
        "ContinuousMaximizer",
        lambda horizon: Continuous(horizon, PRIVACY, ITEMS, SLOTS),
        _short_of_greedy,
        (1_000, 3_000, 10_000, 30_000),
        (500, 1_000, 2_000, 4_000),
        1 - 1 / e,
    ),
    "arms": Measured(
        "ContextualBandit",
        lambda horizon: Contextual(horizon, PRIVACY, ARMS, FEATURES, kind="sparse"),
        _of_uniform_play,
        USUAL,
        SHORTER,
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
        lambda time: fi_dp.regret_bound(
            ITEMS, SLOTS, time, fi_dp.rate(EPSILON, DELTA, SLOTS, time)
        ),
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
    """Return the regret of one run and that of trivial decisions, with the same people."""
    measured = PROBLEMS[problem]
    posed = measured.posed(horizon)
    people = posed.people(seed)
    if who == OURS:
        outcome = posed.outcome(posed.learner(people, seed), people, seed)
    else:
        outcome = _printed_outcome(who, people, horizon, seed)
    return measured.lost(outcome, people, horizon, seed)


def _printed_outcome(who: str, people: Any, horizon: int, seed: int) -> float:
    """Return the outcome of a printed algorithm: cost, value, or regret over uniform play's."""
    if who in ("SUBMODPRFTL", "BANDITSUBMODPRFTL"):
        bandit = who == "BANDITSUBMODPRFTL"
        return cost_as_published(people, epsilon=EPSILON, bandit=bandit, noise="printed", seed=seed)
    if who == "FI-DP":
        return fi_dp.run(people, SLOTS, EPSILON, DELTA, noise="printed", seed=seed).value
    if who == "BanditDP":
        return bandit_dp.run(people, SLOTS, EPSILON, DELTA, noise="printed", seed=seed).value
    if who in ("PFTAL copies", "DPMFW"):
        name = "dpmfw" if who == "DPMFW" else "alg4"
        rows = people.rows(0, horizon)
        domain = UniformMatroid(ITEMS, SLOTS)
        return printed_value(name, rows, domain, EPSILON, noise="printed", seed=seed)
    if who == "GLM bandit":
        rival = glm_for_world.as_printed(people, horizon, EPSILON, DELTA, seed=seed)
        return play(people, rival, horizon, seed=seed)
    visitors = [_clicks_of(chances) for chances in people.chances]
    stream = [visitors[kind] for kind in people.types]
    episode = CATALOGUE[who].play(
        stream, ITEMS, SLOTS, horizon, EPSILON, DELTA, noise="printed", seed=seed
    )
    return float(episode.total)


def _clicks_of(chances: Floats) -> SetValue:
    """Return the set function of a visitor type: the probability of a click on a set."""
    return lambda chosen: float(1 - np.prod(1 - chances[chosen]))
