"""Logs of another policy, for learners that start warm."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.simulate.problems.display import World, first_clicks


@dataclass(frozen=True)
class Log:
    """Another policy's slates, first clicks (−1: none) and propensities, with other visitors.

    `chances` has the chance of each shown item to stand at its place; None if slates were uniform.
    """

    slates: Integers
    clicks: Integers
    chances: Floats | None

    @classmethod
    def drawn(
        cls,
        world: World,
        rows: int,
        slots: int,
        *,
        favourites: Integers | None = None,
        seed: int = 0,
    ) -> "Log":
        """Draw uniform slates; with favourites, every second slate is one of these, at random."""
        generator = np.random.default_rng([seed, 11])
        items = world.items
        slates = np.argsort(generator.random((rows, items)), axis=1)[:, :slots]
        chances = None
        if favourites is not None:
            liked = favourites[generator.integers(len(favourites), size=rows)]
            slates = np.where(generator.random(rows)[:, None] < 0.5, liked, slates)
            often = np.array([np.bincount(place, minlength=items) for place in favourites.T]) / len(
                favourites
            )
            chances = 0.5 / items + 0.5 * often[np.arange(slots), slates]
        types = generator.choice(len(world.weights), size=rows, p=world.weights)
        likes = world.chances[types[:, None], slates]
        clicks = first_clicks(slates, generator.random(likes.shape) < likes)
        return cls(slates, clicks, chances)

    def rows(self, feedback: str) -> list[tuple[list[int], Any]]:
        """Return the rows as `SetMaximizer.warm_start` takes them."""
        answers = self.clicks.tolist()
        if feedback == "clicks":
            answers = [None if click < 0 else click for click in answers]
        else:
            answers = [float(click >= 0) for click in answers]
        return list(zip(self.slates.tolist(), answers, strict=True))
