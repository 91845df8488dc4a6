"""Shares of a problem's value: of printed algorithms, with sound noise, and of discreet.

A share is that of the problem (discreet/simulate/problems): 1 is the value without privacy and 0
is the problem's baseline. Where the baseline is nothing at all, the share of random decisions is
measured too (`random`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from discreet.budget.privacy import Privacy
from discreet.papers.printed import (
    bandit_dp,
    dpcg,
    fi_dp,
    glm_for_world,
    streaming_frank_wolfe,
    streaming_frank_wolfe_l1,
)
from discreet.papers.printed.costs import cost_as_published
from discreet.papers.printed.promise import Noise, compared
from discreet.papers.reproduce.points import printed_value
from discreet.simulate.problems import Coefficients, Contextual, Costs, Display, Problem, Selection
from discreet.simulate.problems.contexts import World as Contexts
from discreet.simulate.problems.contextual import play
from discreet.simulate.problems.continuous import Moving, Tastes, click_value
from discreet.simulate.problems.costs import BundleWorld
from discreet.simulate.problems.display import World
from discreet.simulate.problems.regression import Regression
from discreet.simulate.problems.selection import City, value_to

Who = Literal["printed", "sound", "discreet", "random"]
DELTA = 1e-6
ITEMS, SLOTS = 100, 5
"""Numbers of items and slots of slates, points and online sets."""
WHOLE_COSTS, COSTS_OF_SETS = 50, 10
"""Numbers of items of the bundles."""
ARMS, FEATURES, DIMENSION = 3, 100, 10
"""Numbers of arms and features of contexts, and of coefficients of regressions."""
SITES, OPENED = 300, 10


@dataclass(frozen=True)
class Compared:
    """A problem, the algorithm printed for it, and the numbers of people of the comparison."""

    title: str
    problem: Callable[[int, float], Problem[Any, Any]]
    """Returns the problem of a number of people and an ε."""
    printed: str | None
    """Name of the printed algorithm in the catalogue; None: there is none."""
    outcome: Callable[[Any, Any, Who, int], float] | None
    """Returns the outcome of the printed algorithm or of random decisions (people, seed)."""
    horizons: tuple[int, int, int]
    quick: tuple[int, int, int]
    random: bool = False
    """Whether random decisions have a share above 0."""

    @property
    def who(self) -> tuple[Who, ...]:
        """The methods whose shares are measured."""
        published: tuple[Who, ...] = () if self.printed is None else ("printed", "sound")
        return (*published, "discreet", *(("random",) if self.random else ()))


@compared()
def share(name: str, who: Who, people: int, epsilon: float, seed: int) -> float:
    """Return the share of one run."""
    problem = PROBLEMS[name].problem(people, epsilon)
    outcome = PROBLEMS[name].outcome
    if who == "discreet" or outcome is None:
        return problem.share(seed)
    world = problem.people(seed)
    return problem.share_of(outcome(problem, world, who, seed), world)


def _noise(who: Who) -> Noise:
    return "sound" if who == "sound" else "printed"


# --- problems of a number of people and an ε


def _slates(people: int, epsilon: float, **settings: Any) -> Display:
    return Display(people, Privacy(epsilon, DELTA), ITEMS, SLOTS, **settings)


def _costs(people: int, epsilon: float) -> Costs:
    return Costs(people, Privacy(epsilon, DELTA), WHOLE_COSTS)


def _costs_of_sets(people: int, epsilon: float) -> Costs:
    return Costs(people, Privacy(epsilon, DELTA), COSTS_OF_SETS, "bandit")


def _regression(people: int, epsilon: float, *, p: float = 1.5) -> Coefficients:
    return Coefficients(people, Privacy(epsilon, 1 / people), DIMENSION, kind="drawn", p=p)


def _arms(people: int, epsilon: float) -> Contextual:
    return Contextual(people, Privacy(epsilon, DELTA), ARMS, FEATURES, kind="sparse")


def _sites(people: int, epsilon: float) -> Selection:
    return Selection(people, Privacy(epsilon, DELTA), SITES, OPENED, "city")


def _points(people: int, epsilon: float) -> Moving:
    return Moving(people, Privacy(epsilon, DELTA), ITEMS, SLOTS)


# --- outcomes of printed algorithms and of random decisions with the people of a problem


def _printed_slates(problem: Display, world: World, who: Who, seed: int) -> float:
    run = fi_dp.run if problem.feedback == "full" else bandit_dp.run
    return run(world, SLOTS, problem.privacy.epsilon, DELTA, noise=_noise(who), seed=seed).value


def _printed_costs(problem: Costs, world: BundleWorld, who: Who, seed: int) -> float:
    bandit = problem.feedback == "bandit"
    epsilon = problem.privacy.epsilon
    return cost_as_published(world, epsilon=epsilon, bandit=bandit, noise=_noise(who), seed=seed)


def _printed_coefficients(problem: Coefficients, world: Regression, who: Who, seed: int) -> float:
    algorithm: Any = streaming_frank_wolfe if problem.p > 1 else streaming_frank_wolfe_l1
    targets = np.clip(world.targets, -1.0, 1.0)
    budget = problem.privacy.epsilon, problem.privacy.delta
    played = algorithm.play(
        world.features, targets, world.domain, *budget, noise=_noise(who), seed=seed
    )
    return world.suboptimality(played.decisions[-1])


def _printed_arms(problem: Contextual, world: Contexts, who: Who, seed: int) -> float:
    made = glm_for_world.with_sound_noise if who == "sound" else glm_for_world.as_printed
    rival = made(world, problem.rounds, problem.privacy.epsilon, DELTA, seed=seed)
    return play(world, rival, problem.rounds, seed=seed)


def _other_sites(problem: Selection, city: City, who: Who, seed: int) -> float:
    domain = problem.domain
    if who == "random":
        generator = np.random.default_rng(seed)
        chosen = generator.choice(domain.items, domain.rank, replace=False).tolist()
        return value_to(city.worths, chosen)
    settings: dict[str, Any] = {"noise": _noise(who)}
    if who == "sound":
        settings |= {"clip": 2.0, "steps": 10}  # the best that we tried; no steps are printed
    budget = problem.privacy.epsilon, DELTA
    chosen = dpcg.run(city.homes, city.function, domain, *budget, seed=seed, **settings).chosen
    return value_to(city.worths, chosen)


def _other_points(
    problem: Moving, world: Tastes, who: Who, seed: int, *, printed: str = "alg4"
) -> float:
    if who == "random":
        return click_value(world.chances, np.full(ITEMS, SLOTS / ITEMS))
    epsilon = problem.privacy.epsilon
    return printed_value(
        printed, world.chances, problem.sets.domain, epsilon, noise=_noise(who), seed=seed
    )


LONG = ((10_000, 100_000, 1_000_000), (3_000, 30_000, 200_000))
LONGER = ((100_000, 300_000, 1_000_000), (10_000, 100_000, 300_000))
"""Numbers of people where one person's feedback carries little information."""
SHORT = ((3_000, 10_000, 30_000), (300, 1_000, 3_000))
SAMPLES = ((1_000, 4_000, 16_000), (500, 2_000, 8_000))
PROBLEMS = {
    "slates": Compared("slates, whole preferences", _slates, "FI-DP", _printed_slates, *LONG),
    "rewards": Compared(
        "slates, rewards only",
        partial(_slates, feedback="bandit"),
        "BanditDP",
        _printed_slates,
        *LONGER,
    ),
    "clicks": Compared("slates, clicks", partial(_slates, feedback="clicks"), None, None, *LONGER),
    "costs": Compared(
        "least cost, whole costs",
        _costs,
        "SUBMODPRFTL",
        _printed_costs,
        (10_000, 100_000, 300_000),
        (3_000, 20_000, 100_000),
    ),
    "costs of sets": Compared(
        "least cost, sets shown", _costs_of_sets, "BANDITSUBMODPRFTL", _printed_costs, *LONGER
    ),
    "regression": Compared(
        "regression, p = 1.5", _regression, "streaming Frank–Wolfe", _printed_coefficients, *SAMPLES
    ),
    "sparse regression": Compared(
        "regression, p = 1",
        partial(_regression, p=1.0),
        "streaming Frank–Wolfe l1",
        _printed_coefficients,
        *SAMPLES,
    ),
    "arms": Compared(
        "arms given contexts",
        _arms,
        "GLM bandit",
        _printed_arms,
        (10_000, 100_000, 1_000_000),
        (3_000, 30_000, 100_000),
    ),
    "sites": Compared(
        "sites chosen once",
        _sites,
        "DPCG",
        _other_sites,
        (1_000, 10_000, 100_000),
        (300, 1_000, 5_000),
        random=True,
    ),
    "points": Compared(
        "points online", _points, "PFTAL copies", _other_points, *SHORT, random=True
    ),
    "sets": Compared(
        "sets online",
        _points,
        "DPMFW",
        partial(_other_points, printed="dpmfw"),
        *SHORT,
        random=True,
    ),
}
"""The problems by name; ε varies at the middle of the three numbers of people."""
