"""Base class of the phases of the contextual bandit.

The phase of a block follows from its index (`preparing`, then `regressing` of the mode). Until
scores are released, arms are drawn uniformly by public coins; afterwards the best score is played.

Guarantee   docs/guarantees/contextual.md, Theorem 1 (joint differential privacy)
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.compiled import OnFirstUse
from discreet.engine.declarations import Readings
from discreet.engine.phase import Phase
from discreet.engine.readings import Scores
from discreet.engine.request import Batch, Request
from discreet.errors import StateError
from discreet.feedback import as_numbers
from discreet.learners.contextual_bandit.choices import (
    BestChoice,
    Choice,
    NewcomersChoice,
    UniformChoice,
)
from discreet.learners.contextual_bandit.events import ArmEvents
from discreet.learners.contextual_bandit.public import Published
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings
from discreet.learners.labels import names_by_number
from discreet.optim.shrinkage import shrink_to_common_mean

if TYPE_CHECKING:
    from discreet.learners.contextual_bandit.mode import ContextualMode
    from discreet.optim import kernels as kernels
else:
    kernels = OnFirstUse("discreet.optim.kernels")


# --- contexts, arms and rewards ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class People:
    """The people of a batch, one row or entry per person."""

    contexts: Floats
    """Contexts within their bounds."""
    arms: Integers
    """The decided arms; −1 for a person without a reward."""
    rewards: Floats
    """Rewards in [−1, 1]; 0 for a person without one."""

    @property
    def earned(self) -> Floats:
        """The rewards, as the report adds them up."""
        return self.rewards

    @property
    def with_rewards(self) -> "People":
        """The people with a reward."""
        has_reward = self.arms >= 0
        return People(self.contexts[has_reward], self.arms[has_reward], self.rewards[has_reward])


# --- the base class ---------------------------------------------------------------------------


class ContextualPhase(Phase[Published]):
    """Phase of a block of a contextual bandit."""

    mode: "ContextualMode[Published]"

    @property
    def settings(self) -> ContextualBanditSettings:
        """The settings of the learner."""
        return self.mode.settings

    @property
    def has_learned(self) -> bool:
        """Whether arms are played by released scores."""
        return self.at.index >= self.mode.learned_from

    @property
    def at_next(self) -> Published:
        """The public state with the arms of the next block."""
        return replace(self.public, arms=self.public.arms.next())

    def plausible(self, count: float) -> float:
        """Return the number of people of this preparation, from a noisy count."""
        most = self.mode.preparation[self.at.index]
        return min(max(count, most / 10), float(most))

    # --- the decision -------------------------------------------------------------------------

    @cached_property
    def choice(self) -> Choice:
        """The rule by which this block chooses arms."""
        arms = self.public.arms
        if not self.has_learned:
            return UniformChoice(arms, self.at.coins)
        return NewcomersChoice(arms, self.at.coins) if arms.young else BestChoice(arms)

    def decide(self, rounds: Integers, request: Request) -> Integers:
        return self._played(rounds, request)[1]

    def _played(self, rounds: Integers, request: Request) -> tuple[Floats, Integers]:
        """Return contexts within their bounds, and the arms that their rounds play."""
        contexts = request.context
        if contexts is None:  # a preview without a person
            contexts = np.zeros((len(rounds), self.settings.features))
        allowed = self.public.arms.allowed(request.available, len(rounds))
        if allowed.without_arms is not None:
            contexts = np.where(allowed.without_arms[:, None], np.nan, contexts)
        admitted, scores = self._scored(contexts)
        return admitted, self.choice.chosen(rounds, scores, allowed.arms)

    def _scored(self, contexts: Floats) -> tuple[Floats, Floats]:
        """Return contexts within their bounds (0 where not finite), and the score of every arm."""
        settings = self.settings
        estimates = self.public.estimates
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

    # --- reading feedback ---------------------------------------------------------------------

    def read(self, batch: Batch) -> People:
        settings = self.settings
        rewards = as_numbers(batch)
        has_reward = np.isfinite(rewards)
        contexts, arms = self._played(batch.rounds, batch.request)
        available = batch.request.available
        if available is not None and available.ndim == 2:
            has_reward &= available[:, : self.public.arms.active].any(axis=1)
        with np.errstate(all="ignore"):
            scaled = (rewards - settings.middle) / settings.half_range
        clipped = np.where(has_reward, np.minimum(np.maximum(scaled, -1.0), 1.0), 0.0)
        return People(contexts, np.where(has_reward, arms, -1), clipped)

    # --- public events and public readings ----------------------------------------------------

    @property
    def events(self) -> ArmEvents:
        return ArmEvents(self)

    def readings(self) -> Readings:
        return Readings(self._plain(), self._scores)

    def _plain(self) -> dict[str, object]:
        """Return offsets and weights by the labels of arms and features."""
        settings = self.settings
        estimates = self.public.estimates
        features = names_by_number(settings.features, settings.feature_labels)
        weights = estimates.weights * settings.half_range
        offsets = estimates.offsets * settings.half_range + settings.middle
        named = {}
        arms = self.mode.form_of(self.public.arms).candidates or ()
        for arm, label in enumerate(arms[: self.public.arms.active]):
            used = np.flatnonzero(weights[:, arm])
            named[label] = {features[place]: float(weights[place, arm]) for place in used}
        return {"offsets": dict(zip(named, offsets.tolist(), strict=False)), "weights": named}

    def _scores(self, context: object) -> Scores:
        """Return the predicted reward of every active arm, with its standard deviation.

        Decisions follow the scores. The best of noisy scores is on average too high, so predictions
        are shrunk towards each other as far as noise explains their differences.
        """
        if not self.has_learned:
            raise StateError("no scores are released yet: ask for them after the next releases")
        row = self.mode.questions.request(context, None, 1, one=True).context
        assert row is not None, "this mode refuses requests without a context"
        contexts, values = self._scored(row)
        active = self.public.arms.active
        estimates = self.public.estimates
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
