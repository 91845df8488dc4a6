"""The learners that must keep the contract. A new learner joins by being listed here once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import Hedge, Privacy, RunningSum, SetMaximizer, SetMinimizer, StreamingLearner
from discreet.arrivals import GraphCut, MinusModular, SetFunction, SquaredLoss
from discreet.domains import LpBall
from discreet.release.learner import Learner

HORIZON = 12
APPROXIMATE, PURE = Privacy(1.0, 1e-6), Privacy(1.0)


@dataclass(frozen=True)
class Case:
    """How to make a learner with a horizon of 12 rounds, a person for it, and feedback that it must refuse."""

    name: str
    make: Callable[..., Learner]
    person: Callable[[np.random.Generator], Any]
    refused: tuple[Any, ...]
    broken: Any = None
    """A person among many rows who must count as nothing; None if anything can be read as something."""
    full: bool = True
    """Whether feedback does not depend on what was shown, so that a log can be replayed."""

    def people(self, count: int, seed: int = 0) -> list[Any]:
        generator = np.random.default_rng(seed)
        return [self.person(generator) for _ in range(count)]


def three_numbers(generator: np.random.Generator) -> Any:
    return generator.uniform(0, 1, size=3)


NOT_THREE_NUMBERS = ([1.0], [1.0] * 4, "abc", None, [[1.0, 2.0, 3.0]], [0.777, float("nan"), 0.0], [0.777, float("inf"), 0.0])


def running_sum(name: str, **settings: Any) -> Case:
    settings = {"privacy": APPROXIMATE, "bound": 1.0} | settings
    return Case(name, lambda **more: RunningSum(3, HORIZON, **settings, **more), three_numbers, NOT_THREE_NUMBERS, [np.nan] * 3)


def hedge(name: str, **settings: Any) -> Case:
    settings = {"privacy": APPROXIMATE} | settings
    return Case(name, lambda **more: Hedge(3, HORIZON, **settings, **more), three_numbers, NOT_THREE_NUMBERS, [np.nan] * 3)


def sets(name: str, **settings: Any) -> Case:
    settings = {"privacy": APPROXIMATE} | settings
    refused = (*NOT_THREE_NUMBERS, [0.777, -0.1, 0.0], [0.777, 1.5, 0.0])
    return Case(name, lambda **more: SetMaximizer(3, 2, HORIZON, **settings, **more), three_numbers, refused, [np.nan] * 3)


def bandit(name: str, **settings: Any) -> Case:
    settings = {"privacy": APPROXIMATE, "feedback": "bandit"} | settings
    refused = ("abc", None, [0.777, 0.1], float("nan"), float("inf"))
    return Case(name, lambda **more: SetMaximizer(4, 2, HORIZON, **settings, **more), lambda g: g.uniform(), refused, np.nan, full=False)


def clicks(name: str, **settings: Any) -> Case:
    settings = {"privacy": APPROXIMATE, "feedback": "clicks"} | settings
    refused = (0.777, 4, -1, "pear", [1, 2], True)

    def person(generator: np.random.Generator) -> Any:
        return [None, 0, 1, 2, 3][generator.integers(5)]

    return Case(name, lambda **more: SetMaximizer(4, 2, HORIZON, **settings, **more), person, refused, 99, full=False)


def callables(name: str, **settings: Any) -> Case:
    settings = {"privacy": APPROXIMATE, "function": SetFunction} | settings

    def person(generator: np.random.Generator) -> Any:
        worth = generator.uniform(0, 0.3, size=3)
        return lambda chosen: float(worth[chosen].sum())

    return Case(name, lambda **more: SetMaximizer(3, 2, HORIZON, **settings, **more), person, (0.777, None, "abc"), lambda chosen: 1 / 0)


def costs(name: str, **settings: Any) -> Case:
    settings = {"privacy": APPROXIMATE, "function": MinusModular(GraphCut(((0, 1), (1, 2))))} | settings
    refused = (*NOT_THREE_NUMBERS, [0.777, -0.1, 0.0, 0.0, 0.0])

    def person(generator: np.random.Generator) -> Any:
        return generator.uniform(0, 0.3, size=5)

    if settings["function"] is None:

        def callable_person(generator: np.random.Generator) -> Any:
            worth = generator.uniform(-0.3, 0.3, size=3)
            return lambda chosen: float(worth[chosen].sum())

        return Case(name, lambda **more: SetMinimizer(3, HORIZON, **settings, **more), callable_person, (0.777, None), lambda chosen: 1 / 0)
    return Case(name, lambda **more: SetMinimizer(3, HORIZON, **settings, **more), person, refused, [np.nan] * 5)


def trials(name: str, **settings: Any) -> Case:
    settings = {"privacy": APPROXIMATE, "feedback": "bandit"} | settings
    refused = ("abc", None, [0.777, 0.1], float("nan"), float("inf"))
    return Case(name, lambda **more: SetMinimizer(2, HORIZON, **settings, **more), lambda g: g.uniform(-1, 1), refused, np.nan, full=False)


def streaming(name: str, **settings: Any) -> Case:
    settings = {"domain": LpBall(3), "loss": SquaredLoss(), "privacy": APPROXIMATE, "feature_bound": 1.0, "target_bound": 1.0} | settings
    refused = ([0.777], ([0.777] * 2, 0.1), ([0.777] * 3, float("nan")), ([0.777, float("inf"), 0.0], 0.1), "abc", None, ([0.777] * 3, "y"))

    def person(generator: np.random.Generator) -> Any:
        return generator.uniform(-1, 1, size=3), float(generator.uniform(-1, 1))

    return Case(name, lambda **more: StreamingLearner(horizon=HORIZON, **settings, **more), person, refused, ([np.nan] * 3, 0.3))


CASES = [
    running_sum("sum"),
    running_sum("sum, blocks", block=5),
    running_sum("sum, honaker", method="honaker"),
    running_sum("sum, tree, pure", method="tree", privacy=PURE),
    running_sum("sum, l1, nonnegative", norm=1, nonnegative=True),
    hedge("hedge", block=4),
    hedge("hedge, auto"),
    hedge("hedge, pure", block=3, privacy=PURE),
    hedge("hedge, published", calibration="published"),
    sets("sets", block=4),
    sets("sets, hedge", block=4, expert="hedge"),
    sets("sets, pure", block=5, privacy=PURE),
    sets("sets, published", calibration="published"),
    sets("sets, iid", stream="iid", block=3),
    callables("sets, callables", block=5),
    bandit("bandit", explore=0.9),
    bandit("bandit, iid", stream="iid", explore=0.5),
    bandit("bandit, experts", expert="hedge", explore=0.5),
    bandit("bandit, experts every round", expert="hedge", block=1, explore=0.5),
    bandit("bandit, published", calibration="published"),
    clicks("clicks", explore=0.9),
    clicks("clicks, iid, pure", stream="iid", explore=0.5, privacy=PURE),
    costs("costs", block=4),
    costs("costs, pure, bound", block=5, privacy=PURE, regulariser="bound"),
    costs("costs, callables", block=4, function=None),
    trials("trials", explore=0.9),
    trials("trials, iid", stream="iid", explore=0.9),
    streaming("streaming", block=4),
    streaming("streaming, convex, pure", block=5, privacy=PURE, curvature=0.0),
    streaming("streaming, frank-wolfe", block=4, method="frank-wolfe"),
    streaming("streaming, corners", block=4, method="frank-wolfe", domain=LpBall(3, 1)),
]
