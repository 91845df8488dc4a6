"""What all phases of the contextual bandit have in common.

Which phase a block is in follows from its index (`preparing`, then `regressing` of the mode). Until
scores are released, arms are played uniformly by public coins; afterwards the best score is played.

Guarantee   docs/guarantees/contextual.md, Theorem 1 (joint differential privacy)
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.compiled import OnFirstUse
from discreet.engine.labels import Label, Labels
from discreet.engine.plan import State
from discreet.engine.readings import Scores
from discreet.engine.request import Batch, Request
from discreet.engine.view import View
from discreet.errors import ConfigError, StateError
from discreet.feedback import as_numbers
from discreet.learners.contextual_bandit.arms import NewArm
from discreet.learners.contextual_bandit.choices import (
    BestChoice,
    Choice,
    NewcomersChoice,
    UniformChoice,
)
from discreet.learners.contextual_bandit.public import Published
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings
from discreet.learners.labels import names_by_number
from discreet.optim.shrinkage import shrink_to_common_mean

if TYPE_CHECKING:
    from discreet.learners.contextual_bandit.mode import ContextualMode
    from discreet.optim import kernels as kernels
else:
    kernels = OnFirstUse("discreet.optim.kernels")


# --- what people bring ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class People:
    """People of a batch, one row or entry per person."""

    contexts: Floats
    """Within their bounds."""
    arms: Integers
    """The arms as they were decided; −1 for a person without a reward."""
    rewards: Floats
    """In [−1, 1], 0 for a person without one."""

    @property
    def earned(self) -> Floats:
        return self.rewards

    @property
    def with_rewards(self) -> "People":
        """The people whose rewards came."""
        came = self.arms >= 0
        return People(self.contexts[came], self.arms[came], self.rewards[came])


# --- what all phases have in common -----------------------------------------------------------


class ContextualPhase(View[Published]):
    """A block of a contextual bandit."""

    problem: "ContextualMode[Published]"

    @property
    def settings(self) -> ContextualBanditSettings:
        return self.problem.settings

    @property
    def has_learned(self) -> bool:
        """Whether arms are played by released scores."""
        return self.index >= self.problem.learned_from

    @property
    def at_next(self) -> Published:
        """What is public, with the arms that the next block begins with."""
        return replace(self.public, arms=self.public.arms.next())

    def plausible(self, count: float) -> float:
        """Return how many people this preparation read, from a noisy count."""
        most = self.problem.preparation[self.index]
        return min(max(count, most / 10), float(most))

    # --- which arm ----------------------------------------------------------------------------

    @cached_property
    def choice(self) -> Choice:
        """How this block chooses arms."""
        arms = self.public.arms
        if not self.has_learned:
            return UniformChoice(arms, self.coins)
        return NewcomersChoice(arms, self.coins) if arms.young else BestChoice(arms)

    def decide(self, rounds: Integers, request: Request) -> Integers:
        return self._played(rounds, request)[1]

    def _played(self, rounds: Integers, request: Request) -> tuple[Floats, Integers]:
        """Return contexts within their bounds, and the arms that their rounds play."""
        contexts = request.context
        if contexts is None:  # nobody asked: to see what would be played
            contexts = np.zeros((len(rounds), self.settings.features))
        allowed = self.public.arms.allowed(request.available, len(rounds))
        if allowed.without_arms is not None:
            contexts = np.where(allowed.without_arms[:, None], np.nan, contexts)
        admitted, scores = self._scored(contexts)
        return admitted, self.choice.chosen(rounds, scores, allowed.arms)

    def _scored(self, contexts: Floats) -> tuple[Floats, Floats]:
        """Return contexts within their bounds (0 where not finite), and the score of every arm."""
        settings, estimates = self.settings, self.public.estimates
        admitted: Floats = np.empty_like(contexts)
        scores = np.empty((len(contexts), settings.slots))
        kernels.score_arms(
            contexts,
            settings.bounds,
            settings.length,
            estimates.weights,
            estimates.offsets,
            admitted,
            scores,
        )
        return admitted, scores

    # --- who comes in -------------------------------------------------------------------------

    def read(self, batch: Batch) -> People:
        settings = self.settings
        rewards = as_numbers(batch)
        came = np.isfinite(rewards)
        contexts, arms = self._played(batch.rounds, batch.request)
        available = batch.request.available
        if available is not None and available.ndim == 2:
            came &= available[:, : self.public.arms.active].any(axis=1)
        with np.errstate(all="ignore"):
            scaled = (rewards - settings.middle) / settings.half_range
        scaled = np.where(came, np.minimum(np.maximum(scaled, -1.0), 1.0), 0.0)
        return People(contexts, np.where(came, arms, -1), scaled)

    def admitted(self, request: Request) -> Request:
        self.public.arms.refuse_none_left(request.available)
        return request

    def refuse_next(self, request: Request) -> None:
        self.public.arms.next().refuse_none_left(request.available)

    # --- public events and what may be read ---------------------------------------------------

    def noted(self, event: NewArm) -> Published:
        """Return what is public once an arm is announced."""
        arms, slots = self.public.arms, self.settings.slots
        if arms.announced >= slots:
            raise ConfigError(
                f"there is room for {slots} arms: give a larger max_arms from the start"
            )
        if self.index + 1 >= self.problem.schedule.releases:
            raise StateError(
                "no release is planned after the next block: a new arm would never be learned"
            )
        if str(event.label) in [str(known) for known in self.names()]:
            raise ConfigError(f"there is an arm {event.label!r} already")
        return replace(self.public, arms=arms.with_announced(event.label))

    def layout(self) -> tuple[Any, State]:
        if not self.public.arms.fits(self.settings.slots):
            raise StateError(f"there is room for {self.settings.slots} arms")
        return super().layout()

    @cached_property
    def _labels(self) -> Labels:
        return self.public.arms.labels(self.settings)

    def names(self) -> list[Label]:
        return list(self._labels.names)

    @property
    def labels(self) -> Labels | None:
        return None if self.settings.labels is None else self._labels

    def plain(self) -> dict[str, Any]:
        settings, estimates = self.settings, self.public.estimates
        features = names_by_number(settings.features, settings.feature_labels)
        weights = estimates.weights * settings.half_range
        offsets = estimates.offsets * settings.half_range + settings.middle
        named = {}
        for arm, label in enumerate(self.names()[: self.public.arms.active]):
            used = np.flatnonzero(weights[:, arm])
            named[label] = {features[place]: float(weights[place, arm]) for place in used}
        return {"offsets": dict(zip(named, offsets.tolist(), strict=False)), "weights": named}

    def scores(self, context: Any) -> Scores:
        """Return the reward that every living arm is expected to bring, and its standard deviation.

        Arms are decided for by their scores. The best of noisy scores is on average too high, so
        predictions are drawn together as far as noise explains how far arms are apart.
        """
        if not self.has_learned:
            raise StateError("nothing is released yet: ask for scores after the first release")
        row = self.problem.request(context, None, 1, one=True).context
        assert row is not None, "this mode refuses questions without a context"
        contexts, values = self._scored(row)
        active, estimates = self.public.arms.active, self.public.estimates
        values, deviations = shrink_to_common_mean(
            values[:, :active],
            self._deviations(contexts)[:, :active],
            estimates.apart,
            estimates.resolved,
            most=1.0,
        )
        scale = self.settings.half_range
        return Scores((values * scale + self.settings.middle)[0], (deviations * scale)[0])

    def _deviations(self, contexts: Floats) -> Floats:
        """Return the standard deviation of every score, one row per context."""
        mapped = self.public.mapped(contexts, self.settings.scales)
        deviations = np.empty((len(contexts), self.settings.slots))
        kernels.spread_of_arms(mapped, self.public.estimates.covariances, deviations)
        return deviations
