"""Base class of the modes of `SetMaximizer`: blank answers, names of items, first slates."""

from functools import cached_property

import numpy as np

from discreet.arrays import Integers
from discreet.engine.coins import Coin
from discreet.engine.labels import Label, Labels
from discreet.engine.problem import Problem
from discreet.learners.set_maximizer.catalogue import Catalogue
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.learners.set_maximizer.slates import filled_up
from discreet.learners.streams import assumed_by


class SetMode(Problem):
    """Base class of all modes of `SetMaximizer`."""

    proof = "sets.md"
    settings: SetMaximizerSettings

    @property
    def assumes(self) -> str:
        return assumed_by(self.settings.stream)

    @property
    def candidates(self) -> int:
        return self.settings.room

    @property
    def decision_size(self) -> int:
        return self.settings.slots

    def single(self, decisions: Integers) -> Integers:
        slate: Integers = decisions[0]
        is_full = slate[-1] >= 0  # −1 stands at the end only
        return slate if is_full else np.asarray(slate[slate >= 0])

    def blank(self) -> object:
        if self.settings.feedback != "full":
            return 0.0 if self.settings.feedback == "bandit" else None
        functions = self.settings.functions
        return _worthless if functions is None else np.zeros(functions.width(self.settings.room))

    def first_slate(self) -> Integers:
        """Return the random slate of the first round, drawn with coin 0 of the key `name`."""
        coin = Coin(self.name, 0)
        left = list(range(self.settings.items))
        return np.array([left.pop(coin.below(len(left))) for _ in range(self.settings.slots)])

    # --- names of items ---------------------------------------------------------------------------

    @cached_property
    def _first_labels(self) -> Labels:
        """Names of the items that exist before the first visitor."""
        return self._labels(Catalogue.first(self.settings))

    def _labels(self, catalogue: Catalogue) -> Labels:
        return Labels(tuple(catalogue.names(self.settings)), "slate")

    def labels_of(self, catalogue: Catalogue) -> Labels:
        """Return the names of all items, including retired and added ones."""
        return self._first_labels if catalogue.is_first else self._labels(catalogue)

    def active_names(self, catalogue: Catalogue) -> list[Label]:
        """Return the names of the items that may be shown now."""
        names = self.labels_of(catalogue).names
        return [names[item] for item in np.flatnonzero(catalogue.active)]

    def pending_names(self, catalogue: Catalogue) -> list[Label]:
        """Return the names of the items that may be shown from the next block on only."""
        names = self.labels_of(catalogue).names
        return [names[item] for item in np.flatnonzero(catalogue.announced & ~catalogue.active)]

    def plain_slate(
        self, slate: Integers, catalogue: Catalogue, order: Integers
    ) -> dict[str, object]:
        """Return the names of a slate, with retired items replaced in this order."""
        if catalogue.gone:
            slate = filled_up(slate[None], catalogue.active, order)[0]
        names = self.labels_of(catalogue).names
        return {"slate": [names[item] for item in slate.tolist()]}


def _worthless(chosen: Integers) -> float:
    return 0.0
