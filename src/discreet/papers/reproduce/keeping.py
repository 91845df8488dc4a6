"""What is kept of a problem's value: runs of printed algorithms, of the same with sound noise, and of ours.

A share is that of the problem's world: 1 is what could be had without privacy, and 0 what trivial decisions
have; where 0 is nothing at all, `random` says what random decisions keep.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from discreet.arrivals import Multilinear, SquaredLoss
from discreet.budget.privacy import Privacy
from discreet.decide.matroids import UniformMatroid
from discreet.learners.contextual_bandit import ContextualBandit
from discreet.learners.continuous_maximizer import ContinuousMaximizer
from discreet.learners.set_maximizer import SetMaximizer
from discreet.learners.set_minimizer import SetMinimizer
from discreet.learners.set_selector import SetSelector
from discreet.learners.streaming_learner import StreamingLearner
from discreet.papers.printed import bandit_dp, dpcg, fi_dp, streaming_frank_wolfe, streaming_frank_wolfe_l1
from discreet.papers.printed.costs import cost_as_published
from discreet.papers.printed.promise import Noise, compared
from discreet.papers.rivals.contextual import RIVALS
from discreet.papers.rivals.continuous import (
    Tastes,
    click_value,
    meta_frank_wolfe,
    played_value,
    printed_value,
)
from discreet.simulate.bundle import BundleWorld, run_bundle
from discreet.simulate.contextual import LearnerPolicy, SparseWorld, play
from discreet.simulate.display import World, run_display
from discreet.simulate.regression import Regression
from discreet.simulate.selection import City, greedy_without_noise, value_to

__all__ = ["PROBLEMS", "Problem", "Who", "kept"]

Who = Literal["printed", "sound", "discreet", "random"]
DELTA = 1e-6
ITEMS, SLOTS = 100, 5
"""Of slates, points and online sets."""
EVENLY = np.full(ITEMS, SLOTS / ITEMS)
"""The point of random sets."""
WHOLE_COSTS, COSTS_OF_SETS = 50, 10
"""Items of the bundles."""
FEATURES, DIMENSION = 100, 10
"""Of contexts, and of regressions."""


@dataclass(frozen=True)
class Problem:
    """What is decided, which algorithm was printed for it, and for how many people."""

    title: str
    printed: str | None
    """Its name in the catalogue; None: there is none."""
    horizons: tuple[int, int, int]
    quick: tuple[int, int, int]
    random: bool = False
    """Whether random decisions keep something."""

    @property
    def who(self) -> tuple[Who, ...]:
        """Whose shares are measured."""
        published: tuple[Who, ...] = () if self.printed is None else ("printed", "sound")
        return (*published, "discreet", *(("random",) if self.random else ()))


LONG = ((10_000, 100_000, 1_000_000), (3_000, 30_000, 200_000))
LONGER = ((100_000, 300_000, 1_000_000), (10_000, 100_000, 300_000))
"""Where little is told of each person."""
SHORT = ((3_000, 10_000, 30_000), (300, 1_000, 3_000))
PROBLEMS = {
    "slates": Problem("slates, whole preferences", "FI-DP", *LONG),
    "rewards": Problem("slates, rewards only", "BanditDP", *LONGER),
    "clicks": Problem("slates, clicks", None, *LONGER),
    "costs": Problem(
        "least cost, whole costs", "SUBMODPRFTL", (10_000, 100_000, 300_000), (3_000, 20_000, 100_000)
    ),
    "costs of sets": Problem("least cost, sets shown", "BANDITSUBMODPRFTL", *LONGER),
    "regression": Problem(
        "regression, p = 1.5", "streaming Frank–Wolfe", (1_000, 4_000, 16_000), (500, 2_000, 8_000)
    ),
    "sparse regression": Problem(
        "regression, p = 1", "streaming Frank–Wolfe l1", (1_000, 4_000, 16_000), (500, 2_000, 8_000)
    ),
    "arms": Problem(
        "arms given contexts", "GLM bandit", (10_000, 100_000, 1_000_000), (3_000, 30_000, 100_000)
    ),
    "sites": Problem("sites chosen once", "DPCG", (1_000, 10_000, 100_000), (300, 1_000, 5_000), random=True),
    "points": Problem("points online", "PFTAL copies", *SHORT, random=True),
    "sets": Problem("sets online", "DPMFW", *SHORT, random=True),
}
"""The middle of three numbers of people is that at which ε varies."""


@compared()
def kept(problem: str, who: Who, people: int, epsilon: float, seed: int) -> float:
    """The share that one run keeps."""
    return _RUNS[problem](who, people, epsilon, seed)


def _noise(who: Who) -> Noise:
    return "sound" if who == "sound" else "printed"


# --- slates


def _slates(who: Who, people: int, epsilon: float, seed: int) -> float:
    world = World.drawn(people, items=ITEMS, seed=seed)
    if who == "discreet":
        return _shown(world, epsilon, seed)
    earned = fi_dp.run(world, SLOTS, epsilon, DELTA, noise=_noise(who), seed=seed)
    return world.share(earned.value, SLOTS)


def _rewards(who: Who, people: int, epsilon: float, seed: int) -> float:
    world = World.drawn(people, items=ITEMS, seed=seed)
    if who == "discreet":
        return _shown(world, epsilon, seed, feedback="bandit")
    earned = bandit_dp.run(world, SLOTS, epsilon, DELTA, noise=_noise(who), seed=seed)
    return world.share(earned.value, SLOTS)


def _clicks(who: Who, people: int, epsilon: float, seed: int) -> float:
    return _shown(World.drawn(people, items=ITEMS, seed=seed), epsilon, seed, feedback="clicks")


def _shown(world: World, epsilon: float, seed: int, **settings: Any) -> float:
    """What our slates keep, on streams of any kind."""
    privacy = Privacy(epsilon, DELTA)
    learner = SetMaximizer(ITEMS, SLOTS, len(world.types), privacy, seed=seed, **settings)
    return world.share(run_display(learner, world, seed=seed).value, SLOTS)


# --- sets of least cost


def _costs(who: Who, people: int, epsilon: float, seed: int) -> float:
    world = BundleWorld.drawn(people, items=WHOLE_COSTS, seed=seed)
    if who != "discreet":
        return _cost_in_print(world, who, epsilon, seed, bandit=False)
    privacy = Privacy(epsilon, DELTA)
    learner = SetMinimizer(WHOLE_COSTS, people, privacy, function=world.function, seed=seed)
    return world.share(run_bundle(learner, world).cost)


def _costs_of_sets(who: Who, people: int, epsilon: float, seed: int) -> float:
    world = BundleWorld.drawn(people, items=COSTS_OF_SETS, seed=seed)
    if who != "discreet":
        return _cost_in_print(world, who, epsilon, seed, bandit=True)
    learner = SetMinimizer(COSTS_OF_SETS, people, Privacy(epsilon, DELTA), feedback="bandit", seed=seed)
    return world.share(run_bundle(learner, world).cost)


def _cost_in_print(world: BundleWorld, who: Who, epsilon: float, seed: int, *, bandit: bool) -> float:
    cost = cost_as_published(world, epsilon=epsilon, bandit=bandit, noise=_noise(who), seed=seed)
    return world.share(cost)


# --- regression: 1 − SubOpt of the last coefficients, δ = 1/T


def _regression(who: Who, people: int, epsilon: float, seed: int, *, p: float = 1.5) -> float:
    world = Regression.drawn(people, DIMENSION, p, seed=seed)
    if who == "discreet":
        learner = StreamingLearner(
            world.domain,
            SquaredLoss(),
            people,
            Privacy(epsilon, 1 / people),
            feature_bound=1.0,
            target_bound=1.0,
            seed=seed,
        )
        learner.observe_stream(world.features, world.targets)
        return 1 - world.suboptimality(learner.coefficients)
    algorithm: Any = streaming_frank_wolfe if p > 1 else streaming_frank_wolfe_l1
    targets = np.clip(world.targets, -1.0, 1.0)
    played = algorithm.play(
        world.features, targets, world.domain, epsilon, 1 / people, noise=_noise(who), seed=seed
    )
    return 1 - world.suboptimality(played.decisions[-1])


def _sparse_regression(who: Who, people: int, epsilon: float, seed: int) -> float:
    return _regression(who, people, epsilon, seed, p=1.0)


# --- arms: 1 − regret over that of uniform play


def _arms(who: Who, people: int, epsilon: float, seed: int) -> float:
    world = SparseWorld.drawn(FEATURES, seed=seed)
    if who == "discreet":
        privacy = Privacy(epsilon, DELTA)
        learner = ContextualBandit(
            world.arms, FEATURES, people, privacy, context_bound=world.context_bound, seed=seed
        )
        return 1 - play(world, LearnerPolicy(learner), people, seed=seed).regret
    rival = RIVALS[f"glm_bandit_{_noise(who)}"](world, people, epsilon, DELTA, seed=seed)
    return 1 - play(world, rival, people, seed=seed).regret


# --- sites, points and sets: of what is had without noise


def _sites(who: Who, people: int, epsilon: float, seed: int) -> float:
    city = City.drawn(people, seed=seed)
    domain = city.domain("uniform")
    if who == "discreet":
        privacy = Privacy(epsilon, DELTA)
        chosen = SetSelector(domain, privacy, function=city.nearby, seed=seed).fit(city.homes).numbers
    elif who == "random":
        chosen = np.random.default_rng(seed).choice(domain.items, domain.rank, replace=False).tolist()
    else:
        best_sound = {"clip": 2.0, "steps": 10}  # of what we tried; no steps are printed
        settings: dict[str, Any] = {"noise": _noise(who)} | (best_sound if who == "sound" else {})
        chosen = dpcg.run(city.homes, city.nearby, domain, epsilon, DELTA, seed=seed, **settings).chosen
    return value_to(city.worths, chosen) / value_to(city.worths, greedy_without_noise(city.worths, domain))


def _points(who: Who, people: int, epsilon: float, seed: int, *, printed: str = "alg4") -> float:
    rows, domain = Tastes.drawn(people, items=ITEMS, seed=seed).rows, UniformMatroid(ITEMS, SLOTS)
    if who == "discreet":
        learner = ContinuousMaximizer(domain, people, Privacy(epsilon, DELTA), seed=seed)
        earned = played_value(learner, rows)
    elif who == "random":
        earned = click_value(rows, EVENLY)
    else:
        earned = printed_value(printed, rows, domain, epsilon, noise=_noise(who), seed=seed)
    return earned / _points_without_noise(people, seed)


@cache
def _points_without_noise(people: int, seed: int) -> float:
    """What meta-Frank–Wolfe earns from the same people; it takes longer than most of what is measured."""
    rows = Tastes.drawn(people, items=ITEMS, seed=seed).rows
    return meta_frank_wolfe(rows, Multilinear(), UniformMatroid(ITEMS, SLOTS).vertex, EVENLY)


def _sets(who: Who, people: int, epsilon: float, seed: int) -> float:
    return _points(who, people, epsilon, seed, printed="dpmfw")


_RUNS: dict[str, Callable[[Who, int, float, int], float]] = {
    "slates": _slates,
    "rewards": _rewards,
    "clicks": _clicks,
    "costs": _costs,
    "costs of sets": _costs_of_sets,
    "regression": _regression,
    "sparse regression": _sparse_regression,
    "arms": _arms,
    "sites": _sites,
    "points": _points,
    "sets": _sets,
}
