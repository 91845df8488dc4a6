"""Base class of the modes of `SetMaximizer`: what is decided, names of items, first slates."""

from functools import cached_property

import numpy as np

from discreet.arrays import Integers
from discreet.engine.declarations import DecisionForm, Promise, Questions
from discreet.engine.labels import Label, Labels
from discreet.engine.mode import Mode
from discreet.learners.set_maximizer.catalogue import Catalogue
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.learners.set_maximizer.slates import filled_up
from discreet.learners.streams import assumed_by


class SetMode(Mode):
    """Base class of all modes of `SetMaximizer`."""

    settings: SetMaximizerSettings

    @property
    def promise(self) -> Promise:
        return Promise("sets.md", assumes=assumed_by(self.settings.stream))

    @cached_property
    def questions(self) -> Questions:
        return Questions(self.settings.room)

    @cached_property
    def decisions(self) -> DecisionForm:
        return self.form_of(Catalogue.first(self.settings))

    def first_slate(self) -> Integers:
        """Return the random slate of the first round, drawn with public coin 0."""
        coin = self.settings.coin(0)
        left = list(range(self.settings.items))
        return np.array([left.pop(coin.below(len(left))) for _ in range(self.settings.slots)])

    # --- names of items ---------------------------------------------------------------------------

    def form_of(self, catalogue: Catalogue) -> DecisionForm:
        """Return the form of slates of all items, including retired and added ones."""
        form = self._forms.get(catalogue.added)
        if form is None:
            labels = self.labels_of(catalogue)
            form = DecisionForm(
                "slate",
                self.settings.slots,
                labels.names,
                None if self.settings.labels is None else labels,
                previews=self.settings.stream != "adversarial",
            )
            self._forms = {catalogue.added: form}
        return form

    @cached_property
    def _forms(self) -> dict[str, DecisionForm]:
        """The newest form, by the names of the items that were added."""
        return {}

    def labels_of(self, catalogue: Catalogue) -> Labels:
        """Return the names of all items, their numbers if they have no labels."""
        labels = self._labels.get(catalogue.added)
        if labels is None:
            labels = Labels(tuple(catalogue.names(self.settings)), "slate")
            self._labels = {catalogue.added: labels}
        return labels

    @cached_property
    def _labels(self) -> dict[str, Labels]:
        """The newest names, by those of the items that were added."""
        return {}

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
