"""What the ways of learning of `ContinuousMaximizer` share: people who come in, and decisions off a point."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, repeated
from discreet.arrivals.feedback import as_rows
from discreet.decide.knapsack import Knapsack
from discreet.decide.rounding import rounded_knapsack
from discreet.errors import OutOfBounds
from discreet.learners.continuous_maximizer.settings import ContinuousMaximizerSettings
from discreet.learners.labels import names_by_number
from discreet.learners.streams import assumed_by
from discreet.turn.coins import Coin, Coins
from discreet.turn.flat import FlatProblem
from discreet.turn.labels import Label, Labels
from discreet.turn.plan import State
from discreet.turn.questions import Asked, Batch

__all__ = ["PointMode"]

MOST_PEOPLE, MOST_NUMBERS = 4096, 2**22
"""How many people, and how many of their numbers, are computed with at once."""


class PointMode(FlatProblem):
    """A way of deciding by `public["point"]`: that point itself, or a set that it stands for."""

    proof = "continuous.md"
    settings: ContinuousMaximizerSettings

    @property
    def assumes(self) -> str:
        return assumed_by(self.settings.stream)

    @property
    def decision_size(self) -> int:
        return self.settings.domain.items

    # --- people -------------------------------------------------------------------------------------------

    def people(self, batch: Batch) -> Iterator[tuple[Integers, Floats]]:
        """Admitted rows with their rounds, some at a time; one row that cannot be read is refused."""
        function, items = self.settings.function, self.settings.domain.items
        width = function.width(items)
        rows, chunk = as_rows(batch, width), max(1, min(MOST_PEOPLE, MOST_NUMBERS // width))
        for first in range(0, len(rows), chunk):
            admitted, fine = function.admit(rows[first : first + chunk], items)
            if batch.single and not fine.all():
                raise OutOfBounds(
                    f"feedback must be {width} numbers in the range of {type(function).__name__}"
                )
            yield batch.rounds[first : first + chunk], admitted

    def blank(self) -> Any:
        return np.zeros(self.settings.function.width(self.settings.domain.items))

    # --- what is decided ----------------------------------------------------------------------------------

    def first_point(self) -> Floats:
        """A vertex that was chosen before anyone came."""
        generator = Coin(self.name, 0).generator()
        return self.settings.domain.vertex(generator.random(self.settings.domain.items))

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Any:
        point = public["point"]
        if self.settings.play == "point":
            return np.asarray(repeated(point, len(rounds)))
        if not isinstance(self.settings.domain, Knapsack):
            return np.asarray(repeated(np.flatnonzero(point > 0.5), len(rounds)))
        sets = [
            rounded_knapsack(self.settings.domain, point, Coin(coins.key, int(round))) for round in rounds
        ]
        table = np.full((len(rounds), self.settings.domain.rank), -1)
        for place, chosen in enumerate(sets):
            table[place, : len(chosen)] = sorted(chosen)
        return table

    def single(self, decisions: Any) -> Any:
        found = decisions[0]
        return found if self.settings.play == "point" else found[found >= 0]

    def names(self, public: State) -> list[Label]:
        return names_by_number(self.settings.domain.items, self.settings.labels)

    def labels(self, public: State) -> Labels | None:
        return self._labels

    @cached_property
    def _labels(self) -> Labels | None:
        settings = self.settings
        if settings.labels is None or settings.play == "point":
            return None
        return Labels(settings.labels, "set" if isinstance(settings.domain, Knapsack) else "slate")

    def plain(self, public: State) -> dict[str, Any]:
        names, point = self.names(public), public["point"]
        return {"point": {names[item]: float(point[item]) for item in np.flatnonzero(point)}}
