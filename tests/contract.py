"""The learners that must keep the contract. A new learner joins by being listed here once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import Hedge, Privacy, RunningSum
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

    def people(self, count: int, seed: int = 0) -> list[Any]:
        generator = np.random.default_rng(seed)
        return [self.person(generator) for _ in range(count)]


def three_numbers(generator: np.random.Generator) -> Any:
    return generator.uniform(0, 1, size=3)


NOT_THREE_NUMBERS = ([1.0], [1.0] * 4, "abc", None, [[1.0, 2.0, 3.0]], [0.777, float("nan"), 0.0], [0.777, float("inf"), 0.0])


def running_sum(name: str, **settings: Any) -> Case:
    settings = {"privacy": APPROXIMATE, "bound": 1.0} | settings
    return Case(name, lambda **more: RunningSum(3, HORIZON, **settings, **more), three_numbers, NOT_THREE_NUMBERS)


def hedge(name: str, **settings: Any) -> Case:
    settings = {"privacy": APPROXIMATE} | settings
    return Case(name, lambda **more: Hedge(3, HORIZON, **settings, **more), three_numbers, NOT_THREE_NUMBERS)


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
]
