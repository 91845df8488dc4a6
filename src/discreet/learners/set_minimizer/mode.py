"""What the modes of `SetMinimizer` share: a point of the cube, and sets drawn from it."""

from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.decide.domains import Box
from discreet.decide.extensions import chain, padded_sets, threshold_sizes
from discreet.learners.earnings import Earner, Units
from discreet.learners.labels import names_by_number
from discreet.learners.set_minimizer.settings import SetMinimizerSettings
from discreet.learners.streams import assumed_by
from discreet.turn.coins import Coins
from discreet.turn.labels import Label, Labels
from discreet.turn.plan import State
from discreet.turn.questions import Asked
from discreet.turn.readings import Scores

__all__ = ["CubeMode"]


class CubeMode(Earner):
    """A way of learning which set costs least, by a point of the cube: how likely each item is to be in."""

    proof = "costs.md"
    settings: SetMinimizerSettings

    @property
    def assumes(self) -> str:
        return f"submodular costs, and {assumed_by(self.settings.stream)}"

    @property
    def previews(self) -> bool:
        return self.settings.stream != "adversarial"

    @property
    def candidates(self) -> int:
        return self.settings.items

    @property
    def decision_size(self) -> int:
        return self.settings.items

    @property
    def cube(self) -> Box:
        return Box(self.settings.items, 0.0, 1.0)

    @property
    def units(self) -> Units:
        """What a visitor costs: between −bound and bound, nothing if no answer came."""
        return Units(low=-self.settings.bound, high=self.settings.bound, what="mean cost")

    def sizes(self, public: State, rounds: Integers, coins: Coins) -> Integers:
        """How many items of the chain are chosen in each round: those above a public coin."""
        return threshold_sizes(public["point"], coins.uniform(rounds))

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Integers:
        """One set a row, in ascending order, filled up with −1; without what is unavailable."""
        order, sizes = chain(public["point"]), self.sizes(public, rounds, coins)
        sets = self._one(order, int(sizes[0])) if len(rounds) == 1 else padded_sets(order, sizes)
        return self.without_hidden(sets, asked)

    def without_hidden(self, sets: Integers, asked: Asked) -> Integers:
        """These sets, as far as they are available."""
        if asked.available is None:
            return sets
        if len(sets) == 1:  # what one visitor waits for
            chosen = sets[0][sets[0] >= 0]
            chosen = chosen[asked.available.reshape(-1)[chosen]]
            return self._padded(chosen)
        masks = np.broadcast_to(asked.available, (len(sets), self.settings.items))
        hidden = (sets >= 0) & ~np.take_along_axis(masks, np.maximum(sets, 0), axis=1)
        largest = np.where(hidden | (sets < 0), self.settings.items, sets)  # to the end, in order
        sets = np.sort(largest, axis=1)
        return np.where(sets == self.settings.items, -1, sets)

    def _one(self, order: Integers, size: int) -> Integers:
        """The set of one round, as a table: that is what one visitor waits for."""
        return self._padded(np.sort(order[:size]))

    def _padded(self, chosen: Integers) -> Integers:
        """A table with one set, filled up with −1."""
        sets = np.full((1, self.settings.items), -1)
        sets[0, : len(chosen)] = chosen
        return sets

    def single(self, decisions: Integers) -> Integers:
        chosen: Integers = decisions[0]
        return np.asarray(chosen[chosen >= 0])

    def blank(self) -> Any:
        if self.settings.feedback == "bandit":
            return 0.0
        functions = self.settings.functions
        return _free if functions is None else np.zeros(functions.width(self.settings.items))

    def names(self, public: State) -> list[Label]:
        return names_by_number(self.settings.items, self.settings.labels)

    def labels(self, public: State) -> Labels | None:
        return self._labels

    @cached_property
    def _labels(self) -> Labels | None:
        return None if self.settings.labels is None else Labels(self.settings.labels, "set")

    def plain(self, public: State) -> dict[str, Any]:
        return {"chances": dict(zip(self.names(public), public["point"].tolist(), strict=True))}

    def scores(self, public: State, index: int, context: Any) -> Scores:
        """What each item saves in all, on top of those before it: its total of gradients, sign turned."""
        total: Floats = public["total"]
        return Scores(-total, np.full(len(total), np.sqrt(public["variance"])))


def _free(chosen: Integers) -> float:
    return 0.0
