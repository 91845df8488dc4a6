"""One case per problem of `discreet plan`: its learner, made-up worlds, and the share that is kept in them.

DisplayCase, ContinuousCase   visitors of twenty types with favourite items
CostsCase                     bundles that some visitors do not want torn apart
RegressionCase                features that go together, and rows about as long as they were declared;
                              kept is the share of what the best coefficients explain
ContextualCase                contexts that matter as a whole, or, if the learner screens, few features
SelectionCase                 people who liked a few items each; kept is the share of what greedy without
                              noise would have chosen
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from discreet import require
from discreet.arrivals.continuous import Multilinear
from discreet.arrivals.losses import SquaredLoss
from discreet.arrivals.set_functions import ClickModel
from discreet.decide.domains import LpBall
from discreet.decide.matroids import UniformMatroid
from discreet.learners.contextual_bandit import ContextualBandit
from discreet.learners.continuous_maximizer import ContinuousMaximizer
from discreet.learners.learner import Learner
from discreet.learners.set_maximizer import SetMaximizer
from discreet.learners.set_minimizer import SetMinimizer
from discreet.learners.set_selector import SetSelector
from discreet.learners.streaming_learner import StreamingLearner
from discreet.learners.streams import Stream
from discreet.simulate import contextual
from discreet.simulate.bundle import BundleWorld, run_bundle
from discreet.simulate.display import World, run_display
from discreet.simulate.planning import Case
from discreet.simulate.regression import Regression
from discreet.simulate.selection import FilmLog, greedy_without_noise, value_to

__all__ = [
    "ContextualCase",
    "ContinuousCase",
    "CostsCase",
    "DisplayCase",
    "RegressionCase",
    "SelectionCase",
]


SLATES = "what the best fixed slate (greedy in hindsight) gains over random ones"
NUMBERS = 2**27
"""How many numbers of a made-up world are held at most: 1 GB."""


class OnlineCase(Case):
    """A case whose learner decides for one person after another."""

    @abstractmethod
    def learner(self, seed: int | None = None) -> Learner:
        """The learner that would be used."""

    def facts(self) -> dict[str, object]:
        learner = self.learner()
        return learner.facts | {"epsilon": learner.guarantee.total.epsilon(self.privacy)}


@dataclass(frozen=True)
class DisplayCase(OnlineCase):
    """The best `slots` of the items, shown to one visitor after another."""

    items: int
    slots: int
    feedback: Literal["full", "bandit", "clicks"] = "full"
    stream: Stream = "drifting"
    click_rate: float | None = None
    """The mean chance that a visitor clicks an item; None as in the demo, about 6 % of 100 items."""

    value = SLATES
    world = "visitors of twenty types, each with favourite items"

    def __post_init__(self) -> None:
        if self.click_rate is not None:
            require.number("click-rate", self.click_rate, 1e-6, 0.5)

    def learner(self, seed: int | None = None) -> SetMaximizer:
        return SetMaximizer(
            self.items,
            self.slots,
            self.rounds,
            self.privacy,
            feedback=self.feedback,
            stream=self.stream,
            seed=seed,
        )

    def visitors(self, seed: int) -> World:
        """A world with this click rate."""
        world = World.drawn(self.rounds, items=self.items, seed=seed)
        if self.click_rate is None:
            return world
        chances = world.chances
        for _ in range(20):  # chances end at 1, so some scaling is lost and made up for
            mean = float((world.weights @ chances).mean())
            chances = np.minimum(chances * (self.click_rate / mean), 1.0)
        return replace(world, chances=chances)

    def share(self, seed: int) -> float:
        learner, world = self.learner(seed), self.visitors(seed)
        return world.share(run_display(learner, world, seed=seed).value, self.slots)

    @property
    def seconds(self) -> float:
        table = self.items * self.slots
        if self.feedback != "full":
            return 0.1 + 5e-5 * table + self.rounds * (8e-7 + 8e-8 * self.slots)
        if self.stream == "adversarial":
            return 0.1 + self.rounds * (2e-6 + 7e-8 * table)
        if self.stream == "iid":
            return 0.1 + self.rounds * (5e-7 + 7e-9 * self.items)
        return 0.1 + self.rounds * (4e-7 + (5e-10 if self.privacy.delta else 1e-8) * table)


@dataclass(frozen=True)
class CostsCase(OnlineCase):
    """The set of items of least cost."""

    items: int
    feedback: Literal["full", "bandit"] = "full"
    stream: Stream = "drifting"

    value = "what the best fixed set saves over nothing, everything and random sets"
    world = "items in groups that visitors do not want torn apart"

    def learner(self, seed: int | None = None, function: Any = None) -> SetMinimizer:
        return SetMinimizer(
            self.items,
            self.rounds,
            self.privacy,
            feedback=self.feedback,
            stream=self.stream,
            function=function,
            seed=seed,
        )

    def share(self, seed: int) -> float:
        world = BundleWorld.drawn(self.rounds, items=self.items, seed=seed)
        learner = self.learner(seed, None if self.feedback == "bandit" else world.function)
        return world.share(run_bundle(learner, world).cost)

    @property
    def seconds(self) -> float:
        if self.feedback == "full":
            return 0.1 + self.rounds * (2e-6 + 1.2e-7 * self.items + 7e-10 * self.items**2)
        # What is believed about pairs takes its time, however many visitors there are.
        return 0.1 + 2e-4 * self.items**2 + self.rounds * (3e-6 + 6e-8 * self.items)


@dataclass(frozen=True)
class RegressionCase(OnlineCase):
    """Coefficients of a linear model."""

    features: int
    once: bool = False
    """Published once, after many passes, instead of again and again."""

    who = "samples"
    value = "the variation that the best coefficients explain"
    world = "features that go together"

    def learner(self, seed: int | None = None) -> StreamingLearner:
        return StreamingLearner(
            LpBall(self.features),
            SquaredLoss(),
            self.rounds,
            self.privacy,
            feature_bound=1.0,
            target_bound=1.0,
            method="passes" if self.once else "auto",
            seed=seed,
        )

    def share(self, seed: int) -> float:
        world = Regression.varied("correlated", self.rounds, self.features, 2.0, seed=seed)
        learner = self.learner(seed)
        learner.observe_stream(world.features, world.targets)
        return 1 - world.suboptimality(learner.coefficients)

    @property
    def most_people(self) -> int:
        return max(1, NUMBERS // (self.features + 1))

    @property
    def seconds(self) -> float:
        passes = 1.8e-7 * self.features if self.once else 0.0
        return 0.1 + self.rounds * (5e-7 + 6.5e-8 * self.features + passes)


@dataclass(frozen=True)
class ContextualCase(OnlineCase):
    """Which arm to play, given the features of a person."""

    arms: int
    features: int
    relevant: int | Literal["all"] | None = None
    """How many features an arm needs, or "all"; None leaves it to the learner."""

    who = "people"
    value = "what the best arm for each context gains over a random arm"

    def learner(self, seed: int | None = None, context_length: float | None = None) -> ContextualBandit:
        return ContextualBandit(
            self.arms,
            self.features,
            self.rounds,
            self.privacy,
            relevant=self.relevant,
            context_length=context_length,
            seed=seed,
        )

    @property
    def screens(self) -> bool:
        """Whether the learner would screen features."""
        return bool(self.learner().settings.screens)

    @property
    def world(self) -> str:
        return "contexts of which few features matter" if self.screens else "contexts that matter as a whole"

    def people(self, seed: int) -> contextual.World:
        """A world that is as the learner expects it, with rewards 0 and 1."""
        if not self.screens:
            return contextual.DenseWorld.drawn(self.features, self.arms, seed=seed)
        expected = self.learner().settings.expected
        return contextual.SparseWorld.drawn(
            self.features, arms=self.arms, relevant=expected, reward="bernoulli", seed=seed
        )

    def share(self, seed: int) -> float:
        """How much of the value of the best arms is kept over uniform play: 1 − regret."""
        world = self.people(seed)
        policy = contextual.LearnerPolicy(self.learner(seed, world.context_length))
        return 1 - contextual.play(world, policy, self.rounds, seed=seed).regret

    @property
    def seconds(self) -> float:
        a_person = 4e-7 + 3.5e-8 * self.features + 4e-10 * self.features * self.arms
        is_ridge = self.relevant == "all" or (self.relevant is None and self.features <= 64)
        squares = 6e-10 * self.features**2 if is_ridge else 0.0
        return 0.1 + self.rounds * (a_person + squares)


@dataclass(frozen=True)
class SelectionCase(Case):
    """A set of `slots` items, chosen once."""

    items: int
    slots: int

    who = "people"
    value = "how many people the greedy set without noise serves"
    world = "people who liked a few items each"

    @property
    def domain(self) -> UniformMatroid:
        """The sets that may be chosen."""
        return UniformMatroid(self.items, self.slots)

    def selector(self, seed: int | None = None) -> SetSelector:
        """The selector that would be used."""
        return SetSelector(self.domain, self.privacy, function=ClickModel(), seed=seed)

    def facts(self) -> dict[str, object]:
        plan = SetSelector.problem_for(replace(self.selector().settings, people=self.rounds)).plan
        return plan.facts | {"epsilon": plan.total.epsilon(self.privacy)}

    def share(self, seed: int) -> float:
        liked = FilmLog.drawn(self.rounds, items=self.items, seed=seed, kind=np.uint8).liked
        chosen, best = self.selector(seed).fit(liked).numbers, greedy_without_noise(liked, self.domain)
        return value_to(liked, chosen) / max(value_to(liked, best), 1.0)

    @property
    def most_people(self) -> int:
        return max(1, 8 * NUMBERS // self.items)

    @property
    def seconds(self) -> float:
        return 0.1 + self.rounds * (1e-6 + 3e-8 * self.items + 4e-9 * self.items * self.slots)


@dataclass(frozen=True)
class ContinuousCase(OnlineCase):
    """Sets of up to `slots` items, by a point of the uniform matroid's polytope."""

    items: int
    slots: int
    stream: Stream = "drifting"

    value = SLATES
    world = "visitors of twenty types, each with favourite items"

    def learner(self, seed: int | None = None) -> ContinuousMaximizer:
        return ContinuousMaximizer(
            UniformMatroid(self.items, self.slots),
            self.rounds,
            self.privacy,
            function=Multilinear(),
            stream=self.stream,
            seed=seed,
        )

    def share(self, seed: int) -> float:
        world = World.drawn(self.rounds, items=self.items, seed=seed)
        return world.share(run_display(self.learner(seed), world).value, self.slots)

    @property
    def seconds(self) -> float:
        return 0.1 + self.rounds * (6e-7 + 5e-9 * self.items)
