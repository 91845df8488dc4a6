"""Contextual arms: policies that play worlds of people with contexts, and their regret.

    regret = Σ_t (best mean − mean of the arm played) / Σ_t (best mean − average of all arms' means)
    share = 1 − regret

A share of 0 is uniform play, 1 is the best arm for each context; every round counts, including the
first. All policies meet the same people with the same random rewards, however they divide the
rounds: regrets with the same seed are paired. Worlds are in problems/contexts.py.
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
"""Largest number of floats of contexts that are held at once."""


class Policy(Protocol):
    """A policy that chooses arms for batches of people and learns from their rewards."""

    @property
    def rounds_until_change(self) -> int:
        """Number of rounds that may be decided at once, since the policy does not change."""

    def decide(self, contexts: Floats) -> Integers:
        """Return the arm of each context."""

    def learn(self, contexts: Floats, arms: Integers, rewards: Floats) -> None:
        """Take the rewards of the last decisions."""


class OneByOne(Protocol):
    """A policy that learns after every person, and plays many people in one call."""

    def pass_through(self, contexts: Floats, rewards: Floats) -> Integers:
        """Return the played arms; `rewards` has all arms, of which only the played one is read."""


class LearnerPolicy:
    """Adapter of a learner with contexts to `Policy`."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self._tickets: Tickets | None = None

    @property
    def rounds_until_change(self) -> int:
        """Rounds until the learner's next release."""
        return max(1, self.learner.rounds_until_release)

    def decide(self, contexts: Floats) -> Integers:
        """Open one round per context and return the arms."""
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
    """Play a policy with `horizon` people of a world, `chunk` at a time; return its regret.

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
    people = np.random.default_rng([seed, 1])
    luck = np.random.default_rng([seed, 2])
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
    """Return the arms that a policy plays for these people while it learns from them."""
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
    """Return the reward of every arm for these people, all with the same random numbers."""
    rewards = np.empty_like(means)
    state = luck.bit_generator.state
    for arm in range(world.arms):
        luck.bit_generator.state = state
        rewards[:, arm] = world.rewards(means, np.full(len(means), arm), luck)
    return rewards


@dataclass(frozen=True)
class Contextual(Problem[World, ContextualBandit]):
    """The problem of choosing an arm from a person's features; its outcome is the regret."""

    arms: int
    features: int
    relevant: int | Literal["all"] | None = None
    """Number of features that an arm depends on, or "all"; None leaves it to the learner."""
    kind: Literal["expected", "sparse", "dense"] = "expected"
    """World: as the learner expects it, with rewards 0 and 1, or as `drawn` makes it by default."""

    who = "people"
    value = "what the best arm for each context gains over a random arm"

    @property
    def screens(self) -> bool:
        """Whether the learner screens features."""
        return bool(self.learner().settings.screens)

    @property
    def world(self) -> str:
        if self.screens:
            return "contexts of which few features matter"
        return "contexts that matter as a whole"

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
