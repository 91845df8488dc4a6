"""Public events of slates: items are added and retired, and requests are masked accordingly.

Guarantee   docs/guarantees/sets.md, Theorem 5
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.engine.declarations import DecisionForm, Events
from discreet.engine.phase import Phase
from discreet.engine.request import Request
from discreet.errors import ConfigError, StateError
from discreet.learners.set_maximizer.catalogue import NO_LEARNING, Catalogue, Change

if TYPE_CHECKING:
    from discreet.learners.set_maximizer.preferences import PreferencePhase


class CatalogueEvents(Events):
    """Names of items and requests, as changes of the catalogue have left them."""

    def __init__(self, phase: Phase[Any]) -> None:
        super().__init__(phase)
        self.catalogue: Catalogue = phase.public.catalogue
        """The items of this block."""

    @property
    def decisions(self) -> DecisionForm:
        form: DecisionForm = self.phase.mode.form_of(self.catalogue)
        return form

    def admitted(self, request: Request) -> Request:
        return self.catalogue.admitted(request)

    def refuse_next(self, request: Request) -> None:
        self.catalogue.next().admitted(request)


class PreferenceEvents(CatalogueEvents):
    """Changes of the catalogue where people bring whole preferences: the horizon is fixed."""

    phase: "PreferencePhase[Any]"

    def noted(self, event: Change) -> object:
        """Return the public state after a change of the catalogue."""
        phase = self.phase
        if event.extend:
            raise ConfigError(
                "this mode plans its noise for one horizon: make a new learner, "
                "or one that learns from clicks or rewards, which can be extended"
            )
        if event.add and not phase.learns_on:
            raise StateError(NO_LEARNING)
        catalogue = self.catalogue.changed(event, phase.settings)
        return replace(phase.public, catalogue=catalogue)
