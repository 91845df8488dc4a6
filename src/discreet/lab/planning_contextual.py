"""What a budget buys a contextual bandit, before it is spent: facts of the plan, and a quick simulation.

The made-up world is dense if the learner would use all features, and sparse if it would screen them. Seeds
are fixed: the same question has the same answer.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import sqrt
from statistics import mean, stdev
from typing import Any, NamedTuple

from rich.console import Console

from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.lab.contextual import DenseWorld, LearnerPolicy, SparseWorld, World, play
from discreet.lab.planning import GOAL, fact_table
from discreet.lab.progress import bars_on
from discreet.lab.repeat import repeat
from discreet.learners.contextual_bandit import ContextualBandit

__all__ = [
    "ContextualCase",
    "least_epsilon",
    "make_contextual_plan",
    "print_contextual_plan",
    "share_in_world",
    "with_epsilons",
]

SCALES = (1.0, 0.5, 2.0, 0.25, 4.0, 0.125, 8.0)
"""Multiples of epsilon that are tried, the first of them first if there is not time for all."""
EFFORTS = ((7, 4), (5, 4), (5, 2), (3, 2), (3, 1), (1, 1))
"""How many multiples and how many worlds: the first of these that fits into the time."""
SECONDS = 18.0
"""Of computing, in all."""
FIRST_WORLD = 1000
"""The seed of the first world."""


@dataclass(frozen=True)
class ContextualCase:
    """What is planned: which of so many arms, given so many features."""

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

    def world(self, seed: int) -> World:
        """A world that is as the learner expects it, with rewards 0 and 1."""
        settings = self.learner().settings
        if not settings.screens:
            return DenseWorld.drawn(self.features, self.arms, seed=seed)
        return SparseWorld.drawn(
            self.features, arms=self.arms, relevant=settings.expected, reward="bernoulli", seed=seed
        )

    @property
    def seconds(self) -> float:
        """About how long it takes to simulate all rounds once."""
        a_person = 1e-6 + 4e-8 * self.features + 4e-9 * self.features * self.arms
        if not self.learner().settings.screens:
            a_person += 1e-9 * self.features**2
        return self.rounds * a_person

    def with_epsilon(self, epsilon: float) -> "ContextualCase":
        """The same with another epsilon."""
        return replace(self, privacy=replace(self.privacy, epsilon=epsilon))


class Kept(NamedTuple):
    """The share of the value that is kept at an epsilon, on average over worlds."""

    epsilon: float
    share: float
    standard_error: float | None
    """None with one world."""

    @classmethod
    def over(cls, epsilon: float, shares: list[float]) -> "Kept":
        """From the share in each world."""
        error = stdev(shares) / sqrt(len(shares)) if len(shares) > 1 else None
        return cls(epsilon, mean(shares), error)

    def __str__(self) -> str:
        error = "" if self.standard_error is None else f" ± {self.standard_error:.1%}"
        return f"{max(self.share, 0):.1%}{error}"


def share_in_world(case: ContextualCase, seed: int) -> float:
    """How much of the value of the best arms is kept over uniform play: 1 − regret."""
    world = case.world(seed)
    learner = case.learner(seed=seed, context_length=world.context_length)
    return 1 - play(world, LearnerPolicy(learner), case.rounds, seed=seed).regret


def make_contextual_plan(case: ContextualCase, console: Console, *, workers: int = 2) -> dict[str, Any]:
    """Facts, the share that is expected for some epsilons, and which of them keeps 90 %."""
    learner = case.learner()
    scales, worlds = next((effort for effort in EFFORTS if _fits(effort, case)), EFFORTS[-1])
    cases = with_epsilons(case, SCALES[:scales])
    seeds = range(FIRST_WORLD, FIRST_WORLD + worlds)
    tasks = [(tried, seed) for tried in cases for seed in seeds]
    found = repeat(share_in_world, tasks, label="simulating", bar=bars_on(console), workers=workers)
    rows = [
        Kept.over(tried.privacy.epsilon, found[place * worlds : (place + 1) * worlds])
        for place, tried in enumerate(cases)
    ]
    asked = rows[cases.index(case)]
    return {
        "facts": learner.facts
        | {"epsilon": learner.guarantee.total.epsilon(case.privacy), "delta": case.privacy.delta},
        "expected_share": asked.share,
        "standard_error": asked.standard_error,
        "share_by_epsilon": [row._asdict() for row in rows],
        "epsilon_for_90_percent": next((row.epsilon for row in rows if row.share >= GOAL), None),
        "worlds": worlds,
        "kind_of_world": "sparse" if learner.settings.screens else "dense",
    }


def with_epsilons(case: Any, scales: Sequence[float]) -> list[Any]:
    """The same with multiples of its epsilon, in order, but for those that no guarantee can have."""
    cases = []
    for scale in sorted(scales):
        with suppress(ConfigError):
            cases.append(case.with_epsilon(case.privacy.epsilon * scale))
    return cases


def _fits(effort: tuple[int, int], case: ContextualCase) -> bool:
    scales, worlds = effort
    return scales * worlds * case.seconds <= SECONDS


def print_contextual_plan(plan: dict[str, Any], console: Console) -> None:
    """The plan as a table."""
    table = fact_table(plan["facts"])
    rows = [Kept(**row) for row in plan["share_by_epsilon"]]
    plural = "s" if plan["worlds"] > 1 else ""
    table.add_section()
    table.add_row(
        "share of the value kept", f"simulated in {plan['worlds']} {plan['kind_of_world']} world{plural}"
    )
    for row in rows:
        table.add_row(f"  at epsilon = {row.epsilon:g}", str(row))
    table.add_section()
    table.add_row("epsilon for 90 %", least_epsilon(plan["epsilon_for_90_percent"], rows))
    console.print(table)


def least_epsilon(epsilon: float | None, rows: list[Kept]) -> str:
    """The least epsilon that was tried and is enough, in words."""
    if epsilon is None:
        return "more than was tried"
    return f"about {epsilon:g}" if epsilon > rows[0].epsilon else f"at most {epsilon:g}"
