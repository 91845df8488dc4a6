"""Public events of the contextual bandit: arms are added, and masks must leave an active one."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.engine.declarations import DecisionForm, Events
from discreet.engine.request import Request
from discreet.errors import ConfigError, StateError
from discreet.learners.contextual_bandit.arms import NewArm

if TYPE_CHECKING:
    from discreet.learners.contextual_bandit.phase import ContextualPhase


class ArmEvents(Events):
    """The arms of a block, and the announcement of one more."""

    phase: "ContextualPhase[Any]"

    @property
    def decisions(self) -> DecisionForm:
        return self.phase.mode.form_of(self.phase.public.arms)

    def admitted(self, request: Request) -> Request:
        self.phase.public.arms.refuse_none_left(request.available)
        return request

    def refuse_next(self, request: Request) -> None:
        self.phase.public.arms.next().refuse_none_left(request.available)

    def noted(self, event: NewArm) -> object:
        """Return the public state after an arm is announced."""
        phase = self.phase
        arms = phase.public.arms
        slots = phase.settings.slots
        if arms.announced >= slots:
            raise ConfigError(
                f"there is room for {slots} arms: make the learner with a larger max_arms"
            )
        if not phase.mode.phases.is_released(phase.at.index + 1):
            raise StateError(
                "no release is planned after the next block: a new arm would not be learned"
            )
        if str(event.label) in [str(known) for known in self.decisions.candidates or ()]:
            raise ConfigError(f"there is an arm {event.label!r} already: choose another label")
        return replace(phase.public, arms=arms.with_announced(event.label))
