"""What a budget buys for sets of items: the best so many to show, or the set of least cost.

The worlds are those of the demos: visitors of twenty types with favourite items, and bundles that some do not
want torn apart.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from discreet import require
from discreet.budget.privacy import Privacy
from discreet.lab.bundle import BundleWorld, run_bundle
from discreet.lab.display import World, run_display
from discreet.lab.planning import Case
from discreet.lab.published import fi_dp
from discreet.learners.set_maximizer import SetMaximizer
from discreet.learners.set_minimizer import SetMinimizer

__all__ = ["CostsCase", "DisplayCase"]


@dataclass(frozen=True)
class DisplayCase(Case):
    """The best `slots` of so many items, shown to one visitor after another."""

    items: int
    slots: int
    rounds: int
    privacy: Privacy
    feedback: Literal["full", "bandit", "clicks"] = "full"
    stream: Literal["drifting", "iid"] = "drifting"
    click_rate: float | None = None
    """The mean chance that a visitor clicks an item; None as in the demo, about 6 % of 100 items."""

    world = "visitors of twenty types, each with favourite items"

    def __post_init__(self) -> None:
        if self.click_rate is not None:
            require.number("click-rate", self.click_rate, 1e-6, 0.5)

    def learner(self, seed: int | None = None) -> SetMaximizer:
        """The learner that would be used."""
        terms = {"feedback": self.feedback, "stream": self.stream}
        return SetMaximizer(self.items, self.slots, self.rounds, self.privacy, seed=seed, **terms)  # type: ignore[arg-type]

    def facts(self) -> dict[str, Any]:
        learner = self.learner()
        return learner.facts | {"epsilon": learner.guarantee.total.epsilon(self.privacy)}

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

    def published_share(self, seed: int) -> float | None:
        if self.privacy.pure or self.privacy.contributions > 1 or self.feedback != "full":
            return None
        world, often = self.visitors(seed), max(1, self.rounds // 1000)
        terms = (self.slots, self.privacy.epsilon, self.privacy.delta)
        return world.share(fi_dp.run(world, *terms, block=often).value, self.slots)

    @property
    def seconds_a_person(self) -> float:
        return 1.5e-6 + 2.5e-8 * self.items


@dataclass(frozen=True)
class CostsCase(Case):
    """The set of least cost, of so many items."""

    items: int
    rounds: int
    privacy: Privacy
    feedback: Literal["full", "bandit"] = "full"

    world = "items in groups that visitors do not want torn apart"

    def learner(self, seed: int | None = None, function: Any = None) -> SetMinimizer:
        """The learner that would be used; `function` is what rows of costs mean."""
        return SetMinimizer(
            self.items, self.rounds, self.privacy, feedback=self.feedback, function=function, seed=seed
        )

    def facts(self) -> dict[str, Any]:
        learner = self.learner()
        return learner.facts | {"epsilon": learner.guarantee.total.epsilon(self.privacy)}

    def share(self, seed: int) -> float:
        world = BundleWorld.drawn(self.rounds, items=self.items, seed=seed)
        learner = self.learner(seed, None if self.feedback == "bandit" else world.function)
        return world.share(run_bundle(learner, world).cost)

    @property
    def seconds_a_person(self) -> float:
        if self.feedback == "full":
            return 2e-6 + 2.5e-7 * self.items
        return 1.2e-5 + 5e-8 * self.items**2 + 6 / self.rounds  # what is believed about pairs takes its time
