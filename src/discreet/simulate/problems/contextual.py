"""Which arm, given the context: how a policy plays worlds of people with contexts, and how well.

    regret = Σ_t (best mean − mean of the arm played) / Σ_t (best mean − average of all arms' means)
    share = 1 − regret

A share of 0 is uniform play, 1 is the best arm for each context; every round counts, the first ones
too. All policies meet the same people with the same luck, however they divide the rounds: regrets
with the same seed are paired. Worlds are in problems/contexts.py.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.tickets import Tickets
from discreet.errors import ConfigError, StateError
from discreet.learners.base import Learner
from discreet.learners.contextual_bandit import ContextualBandit
from discreet.simulate.problems.contexts import DenseWorld, SparseWorld, World, means_of
from discreet.simulate.problems.problem import Problem, made

NUMBERS = 4_000_000
"""How many numbers of contexts are held at once."""


class Policy(Protocol):
    """Decides for people with contexts, and learns from rewards."""

    @property
    def rounds_until_change(self) -> int:
        """How many rounds may be decided at once: nothing is learnt from one for another."""

    def decide(self, contexts: Floats) -> Integers:
        """The arm of each context."""

    def learn(self, contexts: Floats, arms: Integers, rewards: Floats) -> None:
        """What came of what was decided last."""


class OneByOne(Protocol):
    """Learns from every person before it decides for the next, and passes through many in one
    call.
    """

    def pass_through(self, contexts: Floats, rewards: Floats) -> Integers:
        """The arms that it plays, looking only at the reward of each; `rewards` has those of all
        arms.
        """


class LearnerPolicy:
    """One of discreet's own learners that take contexts, as a policy."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self._tickets: Tickets | None = None

    @property
    def rounds_until_change(self) -> int:
        """Rounds until the learner's next release."""
        return max(1, self.learner.rounds_until_release)

    def decide(self, contexts: Floats) -> Integers:
        """Open one round a context."""
        self._tickets = self.learner.open_many(contexts)
        return np.asarray(self._tickets.decisions, dtype=np.int64)

    def learn(self, contexts: Floats, arms: Integers, rewards: Floats) -> None:
        """Close these rounds: the learner remembers contexts and arms itself."""
        if self._tickets is None:
            raise StateError("nothing was decided: call decide() first, then learn() once")
        self.learner.close_many(self._tickets, rewards)
        self._tickets = None


def play(
    world: World,
    policy: Policy | OneByOne,
    horizon: int,
    *,
    seed: int = 0,
    chunk: int | None = None,
) -> float:
    """Play a policy against `horizon` people of a world, `chunk` of them at a time; return the
    regret.

    >>> class First:
    ...     rounds_until_change = 1000
    ...     def decide(self, contexts):
    ...         return np.zeros(len(contexts), dtype=np.int64)
    ...     def learn(self, contexts, arms, rewards):
    ...         pass
    >>> round(play(SparseWorld.drawn(10), First(), 2000), 1)
    1.2
    """
    if horizon < 1:
        raise ConfigError(f"horizon must be at least 1, got {horizon!r}")
    people, luck = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    largest = chunk if chunk is not None else max(1, NUMBERS // world.features)
    loss = stake = 0.0
    passed = 0
    while passed < horizon:
        count = min(largest, horizon - passed)
        contexts, means = world.sample(count, people)
        if hasattr(policy, "pass_through"):
            arms = policy.pass_through(contexts, all_rewards(world, means, luck))
        else:
            arms = _played(world, policy, contexts, means, luck)
        best = means.max(axis=1)
        loss += float((best - means_of(means, arms)).sum())
        stake += float((best - means.mean(axis=1)).sum())
        passed += count
    return loss / stake if stake > 0 else 0.0


def _played(
    world: World, policy: Policy, contexts: Floats, means: Floats, luck: np.random.Generator
) -> Integers:
    """The arms that a policy plays for these people, learning as they pass."""
    arms = np.empty(len(contexts), dtype=np.int64)
    first = 0
    while first < len(contexts):
        part = slice(first, first + policy.rounds_until_change)
        chosen = policy.decide(contexts[part])
        arms[part] = chosen
        policy.learn(contexts[part], chosen, world.rewards(means[part], chosen, luck))
        first += len(chosen)
    return arms


def all_rewards(world: World, means: Floats, luck: np.random.Generator) -> Floats:
    """What every arm would bring these people, each with the same luck."""
    rewards = np.empty_like(means)
    state = luck.bit_generator.state
    for arm in range(world.arms):
        luck.bit_generator.state = state
        rewards[:, arm] = world.rewards(means, np.full(len(means), arm), luck)
    return rewards


@dataclass(frozen=True)
class Contextual(Problem[World, ContextualBandit]):
    """Which arm to play, given the features of a person. The outcome is the regret."""

    arms: int
    features: int
    relevant: int | Literal["all"] | None = None
    """How many features an arm needs, or "all"; None leaves it to the learner."""
    kind: Literal["expected", "sparse", "dense"] = "expected"
    """The world: as the learner expects it, with rewards 0 and 1, or as `drawn` makes it by
    default.
    """

    who = "people"
    value = "what the best arm for each context gains over a random arm"

    @property
    def screens(self) -> bool:
        """Whether the learner would screen features."""
        return bool(self.learner().settings.screens)

    @property
    def world(self) -> str:
        return (
            "contexts of which few features matter"
            if self.screens
            else "contexts that matter as a whole"
        )

    def people(self, seed: int) -> World:
        if self.kind == "sparse":
            return SparseWorld.drawn(self.features, arms=self.arms, seed=seed)
        if self.kind == "dense" or not self.screens:
            return DenseWorld.drawn(self.features, self.arms, seed=seed)
        expected = self.learner().settings.expected
        return SparseWorld.drawn(
            self.features, arms=self.arms, relevant=expected, reward="bernoulli", seed=seed
        )

    def learner(
        self, people: World | None = None, seed: int | None = None, *, mode: str = "auto"
    ) -> ContextualBandit:
        return made(
            ContextualBandit,
            mode,
            self.arms,
            self.features,
            self.rounds,
            self.privacy,
            relevant=self.relevant,
            context_length=None if people is None else people.context_length,
            seed=seed,
        )

    def outcome(self, learner: ContextualBandit, people: World, seed: int = 0) -> float:
        return play(people, LearnerPolicy(learner), self.rounds, seed=seed)

    def share_of(self, outcome: float, people: World) -> float:
        return 1 - outcome
