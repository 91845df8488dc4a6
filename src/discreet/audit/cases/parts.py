"""Parts that the cases of several learners share: budgets, people, masks, malformed feedback."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.budget.privacy import Privacy
from discreet.learners.base import Learner
from discreet.learners.forced import forced

Worth = Callable[[Integers], float]
"""A person's value of a set of items."""
Arguments = dict[str, Any]
"""Arguments of a learner, by name."""

HORIZON = 12
"""Number of rounds of most cases."""
NAN = float("nan")
INFINITE = float("inf")
MARKER = 0.777
"""A number of malformed feedback: no error text may contain it."""
NOT_A_NUMBER: tuple[object, ...] = ("abc", [MARKER, 0.1], NAN, INFINITE)
"""Feedback that is refused where a person has one number."""


def not_numbers(width: int) -> tuple[object, ...]:
    """Return feedback that is refused where a person has `width` numbers."""
    rest = [0.0] * (width - 2)
    return (
        [1.0] * (width - 1),
        [1.0] * (width + 1),
        "abc",
        [[1.0] * width],
        [MARKER, NAN, *rest],
        [MARKER, INFINITE, *rest],
    )


def not_in_unit_range(width: int) -> tuple[object, ...]:
    """Return feedback that is refused where a person has `width` numbers between 0 and 1."""
    rest = [0.0] * (width - 2)
    return (*not_numbers(width), [MARKER, -0.1, *rest], [MARKER, 1.5, *rest])


@dataclass(frozen=True)
class Budgets:
    """The privacy budgets at which cases run, made from one (ε, δ)."""

    epsilon: float
    delta: float

    @property
    def usual(self) -> Privacy:
        """(ε, δ), with one contribution per person."""
        return Privacy(self.epsilon, self.delta)

    @property
    def pure(self) -> Privacy:
        """(ε, 0), with one contribution per person."""
        return Privacy(self.epsilon)

    @property
    def twice(self) -> Privacy:
        """(ε, δ), with up to two contributions per person."""
        return Privacy(self.epsilon, self.delta, contributions=2)

    def returning(self, contributions: int) -> Privacy:
        """(ε, δ) for rounds that name their person, who comes up to `contributions` times."""
        return Privacy(self.epsilon, self.delta, contributions=contributions, keyed=True)

    def returning_pure(self, contributions: int) -> Privacy:
        """(ε, 0) for rounds that name their person, who comes up to `contributions` times."""
        return Privacy(self.epsilon, 0.0, contributions=contributions, keyed=True)


def maker(kind: type[Learner], settings: Arguments) -> Callable[..., Learner]:
    """Return a function that makes the learner; `mode` in the settings forces a mode of it."""
    plain = {name: value for name, value in settings.items() if name != "mode"}
    if "mode" not in settings:
        return lambda **more: kind(**(plain | more))
    return lambda **more: forced(kind, settings["mode"], **(plain | more))


def three_numbers(generator: np.random.Generator) -> Floats:
    """Return an ordinary person: three numbers between 0 and 1."""
    return generator.uniform(0, 1, size=3)


def numbers(count: int) -> Callable[[np.random.Generator], Floats]:
    """Return a function that draws an ordinary person: `count` numbers between 0 and 1."""
    return lambda generator: generator.uniform(0, 1, size=count)


def mask_of(items: int) -> Callable[[np.random.Generator], Mask]:
    """Return a function that draws a mask with about 70 % of the items, at least one."""

    def mask(generator: np.random.Generator) -> Mask:
        available = generator.random(items) < 0.7
        available[generator.integers(items)] = True
        return available

    return mask


def worth(low: float) -> Callable[[np.random.Generator], Worth]:
    """Return a function that draws a person whose sets are worth the sum of their items."""

    def person(generator: np.random.Generator) -> Worth:
        values = generator.uniform(low, 0.3, size=3)
        return lambda chosen: float(values[chosen].sum())

    return person


def failing(chosen: Integers) -> float:
    """Raise an error, as a person's function may."""
    raise ZeroDivisionError(str(MARKER))
