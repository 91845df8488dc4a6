"""What a budget buys, before it is spent: facts of the plan, and a quick simulation in a made-up world."""

from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from rich.console import Console
from rich.table import Table

from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.lab.bundle import BundleWorld, run_bundle
from discreet.lab.display import World, run_display
from discreet.lab.progress import bars_on
from discreet.lab.published import fi_dp
from discreet.lab.published.costs import cost_as_published
from discreet.lab.repeat import repeat
from discreet.learners.set_maximizer import SetMaximizer
from discreet.learners.set_minimizer import SetMinimizer

__all__ = ["GOAL", "Case", "fact_table", "make_plan", "print_plan", "share_of"]

GOAL = 0.9
"""The share of the value that is aimed for."""
MOST_VISITORS = 2_000_000
NAMES = {
    "expert": "learns by",
    "estimator": "learns by",
    "block": "visitors between releases (first block)",
    "releases": "releases",
    "rate": "learning rate",
    "explore": "share of rounds that explore",
    "noise_in_visitors": "noise, in visitors",
    "noise_in_people": "noise, in people",
    "noise_in_samples": "noise, in samples",
    "method": "learns by",
    "preparation": "samples that are measured first",
    "passes": "passes",
    "first_views_of_an_item": "views of an item in the first block",
    "tries_of_an_item": "tries of an item, in all",
    "tries_of_a_set": "tries of each set",
    "warning": "warning",
}


@dataclass(frozen=True)
class Case:
    """What is planned: the best `slots` of so many items, or without slots the set of least cost."""

    items: int
    slots: int | None
    rounds: int
    privacy: Privacy
    settings: dict[str, Any]
    """Feedback and stream."""

    def learner(self, function: Any = None) -> SetMaximizer | SetMinimizer:
        """The learner that would be used; `function` is what rows of costs mean."""
        if self.slots is not None:
            return SetMaximizer(self.items, self.slots, self.rounds, self.privacy, **self.settings)
        return SetMinimizer(self.items, self.rounds, self.privacy, function=function, **self.settings)

    def share(self, *, published: bool = False) -> float:
        """The share kept in a made-up world like those of the demos, by us or with published constants."""
        if self.slots is not None:
            world = World.drawn(self.rounds, items=self.items, seed=3)
            return world.share(self._earned(world, self.slots, published), self.slots)
        bundles = BundleWorld.drawn(self.rounds, items=self.items, seed=3)
        return bundles.share(self._cost(bundles, published))

    def _earned(self, world: World, slots: int, published: bool) -> float:
        if published:
            often = max(1, self.rounds // 1000)
            terms = (slots, self.privacy.epsilon, self.privacy.delta)
            return fi_dp.run(world, *terms, block=often).value
        learner = self.learner()
        assert isinstance(learner, SetMaximizer)
        return run_display(learner, world).value

    def _cost(self, world: BundleWorld, published: bool) -> float:
        bandit = self.settings["feedback"] == "bandit"
        if published:
            return cost_as_published(world, epsilon=self.privacy.epsilon, bandit=bandit)
        learner = self.learner(None if bandit else world.function)
        assert isinstance(learner, SetMinimizer)
        return run_bundle(learner, world).cost

    def with_visitors(self, rounds: int) -> "Case":
        """The same with other visitors."""
        return replace(self, rounds=rounds)

    def with_epsilon(self, epsilon: float) -> "Case":
        """The same with another epsilon."""
        return replace(self, privacy=replace(self.privacy, epsilon=epsilon))


def share_of(case: Case, published: bool) -> float:
    """The share kept; less than anything where such a case cannot be."""
    with suppress(ConfigError):
        return case.share(published=published)
    return -inf


def make_plan(
    items: int, slots: int | None, rounds: int, privacy: Privacy, settings: dict[str, Any], console: Console
) -> dict[str, Any]:
    """Facts, the expected share, and what would be needed to keep 90 %.

    Without slots: for the set of least cost.
    """
    case = Case(items, slots, rounds, privacy, settings)
    learner = case.learner()
    powers = [2.0**power for power in range(-6, 8)]
    counts = {max(slots or items, int(rounds * power)) for power in powers}
    visitors = sorted(count for count in counts if count <= max(rounds, MOST_VISITORS))
    epsilons = [privacy.epsilon * power for power in powers[:12]]
    tasks = [(case, False)]
    tasks += [(case.with_visitors(count), False) for count in visitors]
    tasks += [(case.with_epsilon(epsilon), False) for epsilon in epsilons]
    tasks += [] if privacy.pure else [(case, True)]
    shares = repeat(share_of, tasks, label="simulating", bar=bars_on(console))
    by_visitors = zip(visitors, shares[1:], strict=False)
    by_epsilon = zip(epsilons, shares[1 + len(visitors) :], strict=False)
    return {
        "facts": learner.facts
        | {"epsilon": learner.guarantee.total.epsilon(privacy), "delta": privacy.delta},
        "expected_share": shares[0],
        "visitors_for_90_percent": next((count for count, share in by_visitors if share >= GOAL), None),
        "epsilon_for_90_percent": next((epsilon for epsilon, share in by_epsilon if share >= GOAL), None),
        "published_share": None if privacy.pure or shares[-1] == -inf else shares[-1],
        "published_is_sound": slots is not None,
    }


def fact_table(facts: dict[str, Any]) -> Table:
    """A table of what a plan fixes beforehand, to be continued with what was simulated."""
    table = Table(show_header=False, title="What this budget buys")
    for name, value in facts.items():
        if name in NAMES:
            table.add_row(NAMES[name], _shown(value))
    spent = f"epsilon = {facts['epsilon']:.4g}"
    table.add_row(
        "privacy spent in the end", spent + (f" at delta = {facts['delta']:g}" if facts["delta"] else "")
    )
    return table


def print_plan(plan: dict[str, Any], console: Console) -> None:
    """The plan as a table."""
    table = fact_table(plan["facts"])
    table.add_row("share of the value kept (simulated)", f"{max(plan['expected_share'], 0):.1%}")
    visitors, epsilon = plan["visitors_for_90_percent"], plan["epsilon_for_90_percent"]
    unknown = "more than was tried"
    table.add_row("visitors for 90 % at this epsilon", f"about {visitors:,}" if visitors else unknown)
    table.add_row("epsilon for 90 % with these visitors", f"about {epsilon:g}" if epsilon else unknown)
    if plan["published_share"] is not None:
        remark = "whole preferences" if plan["published_is_sound"] else "not private as printed"
        table.add_row(f"published constants, {remark}", f"{max(plan['published_share'], 0):.1%}")
    console.print(table)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
