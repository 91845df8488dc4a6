"""What a budget buys for regressions, before it is spent: facts of the plan, and a simulation.

The worlds have features that go together, as in real tables, and rows about as long as they were declared.
What is kept is 1 − SubOpt: the share of what the best coefficients explain that the released ones explain.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rich.console import Console

from discreet.arrivals.losses import SquaredLoss
from discreet.budget.privacy import Privacy
from discreet.decide.domains import LpBall
from discreet.lab.planning import GOAL, fact_table
from discreet.lab.planning_contextual import Kept, least_epsilon, with_epsilons
from discreet.lab.progress import bars_on
from discreet.lab.regression import Regression
from discreet.lab.repeat import repeat
from discreet.learners.streaming_learner import StreamingLearner

__all__ = ["RegressionCase", "make_regression_plan", "print_regression_plan"]

SCALES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
FIRST_WORLD, WORLDS = 600, 2
MOST_SAMPLES = 200_000
"""More are not simulated: what is kept with so many is a lower bound."""


@dataclass(frozen=True)
class RegressionCase:
    """What is planned: coefficients of so many features from so many samples."""

    features: int
    rounds: int
    privacy: Privacy
    method: str = "stream"
    """stream: published again and again; batch: once, after many passes."""

    def learner(self, *, rounds: int | None = None, seed: int | None = None) -> StreamingLearner:
        """The learner that would be used."""
        return StreamingLearner(
            LpBall(self.features),
            SquaredLoss(),
            self.rounds if rounds is None else rounds,
            self.privacy,
            feature_bound=1.0,
            target_bound=1.0,
            method="passes" if self.method == "batch" else "auto",
            seed=seed,
        )

    def with_epsilon(self, epsilon: float) -> "RegressionCase":
        """The same with another epsilon."""
        return replace(self, privacy=replace(self.privacy, epsilon=epsilon))


def share_in_regression(case: RegressionCase, seed: int) -> float:
    """1 − SubOpt in one world."""
    samples = min(case.rounds, MOST_SAMPLES)
    world = Regression.varied("correlated", samples, case.features, 2.0, seed=seed)
    learner = case.learner(rounds=samples, seed=seed)
    learner.observe_stream(world.features, world.targets)
    return 1 - world.suboptimality(learner.coefficients)


def make_regression_plan(case: RegressionCase, console: Console, *, workers: int = 2) -> dict[str, Any]:
    """Facts, the share that is expected for some epsilons, and which of them keeps 90 %."""
    learner = case.learner()
    cases = with_epsilons(case, SCALES)
    seeds = range(FIRST_WORLD, FIRST_WORLD + WORLDS)
    tasks = [(tried, seed) for tried in cases for seed in seeds]
    found = repeat(share_in_regression, tasks, label="simulating", bar=bars_on(console), workers=workers)
    shares = np.reshape(found, (len(cases), WORLDS)).tolist()
    rows = [Kept.over(tried.privacy.epsilon, row) for tried, row in zip(cases, shares, strict=True)]
    asked = rows[cases.index(case)]
    return {
        "facts": learner.facts
        | {"epsilon": learner.guarantee.total.epsilon(case.privacy), "delta": case.privacy.delta},
        "expected_share": asked.share,
        "standard_error": asked.standard_error,
        "share_by_epsilon": [row._asdict() for row in rows],
        "epsilon_for_90_percent": next((row.epsilon for row in rows if row.share >= GOAL), None),
        "samples_simulated": min(case.rounds, MOST_SAMPLES),
        "worlds": WORLDS,
    }


def print_regression_plan(plan: dict[str, Any], console: Console) -> None:
    """The plan as a table."""
    table = fact_table(plan["facts"])
    rows = [Kept(**row) for row in plan["share_by_epsilon"]]
    table.add_section()
    title = "share of what can be explained that is kept"
    table.add_row(title, f"simulated, features that go together, {plan['samples_simulated']:,} samples")
    for row in rows:
        table.add_row(f"  at epsilon = {row.epsilon:g}", str(row))
    table.add_section()
    table.add_row("epsilon for 90 %", least_epsilon(plan["epsilon_for_90_percent"], rows))
    console.print(table)
