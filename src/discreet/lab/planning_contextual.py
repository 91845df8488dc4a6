"""What a budget buys a contextual bandit.

The made-up worlds are dense if the learner would use all features, and sparse if it would screen them.
"""

from dataclasses import dataclass
from typing import Any

from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.lab.contextual import DenseWorld, LearnerPolicy, SparseWorld, World, play
from discreet.lab.planning import Case
from discreet.learners.contextual_bandit import ContextualBandit

__all__ = ["ContextualCase"]


@dataclass(frozen=True)
class ContextualCase(Case):
    """Which of so many arms, given so many features."""

    arms: int
    features: int
    rounds: int
    privacy: Privacy
    relevant: Any = None
    """How many features an arm needs, or "all"; None leaves it to the learner."""

    @classmethod
    def asked(cls, relevant: str | None = None, **others: Any) -> "ContextualCase":
        """The case for what a command line says: `relevant` is a text.

        >>> ContextualCase.asked("5", arms=3, features=100, rounds=1000, privacy=Privacy(1.0, 1e-6)).relevant
        5
        """
        if relevant is None or relevant == "all":
            return cls(relevant=relevant, **others)
        if not relevant.isdecimal():
            raise ConfigError(f"relevant must be a whole number or all, got {relevant!r}")
        return cls(relevant=int(relevant), **others)

    def learner(self, *, seed: int | None = None, **settings: Any) -> ContextualBandit:
        """The learner that would be used."""
        return ContextualBandit(
            self.arms, self.features, self.rounds, self.privacy, relevant=self.relevant, seed=seed, **settings
        )

    def facts(self) -> dict[str, Any]:
        learner = self.learner()
        return learner.facts | {"epsilon": learner.guarantee.total.epsilon(self.privacy)}

    @property
    def screens(self) -> bool:
        """Whether the learner would screen features."""
        return bool(self.learner().settings.screens)

    @property
    def world(self) -> str:  # type: ignore[override]
        return "contexts of which few features matter" if self.screens else "contexts that matter as a whole"

    def people(self, seed: int) -> World:
        """A world that is as the learner expects it, with rewards 0 and 1."""
        settings = self.learner().settings
        if not settings.screens:
            return DenseWorld.drawn(self.features, self.arms, seed=seed)
        return SparseWorld.drawn(
            self.features, arms=self.arms, relevant=settings.expected, reward="bernoulli", seed=seed
        )

    def share(self, seed: int) -> float:
        """How much of the value of the best arms is kept over uniform play: 1 − regret."""
        world = self.people(seed)
        learner = self.learner(seed=seed, context_length=world.context_length)
        return 1 - play(world, LearnerPolicy(learner), self.rounds, seed=seed).regret

    @property
    def seconds_a_person(self) -> float:
        seconds = 1e-6 + 4e-8 * self.features + 4e-9 * self.features * self.arms
        return seconds if self.screens else seconds + 1e-9 * self.features**2
