"""A checkout and its visitors: what each way of bundling costs the same people, and how a bundle forms."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import warm_up
from discreet.arrays import Floats, Integers
from discreet.budget.guarantee import Guarantee
from discreet.budget.privacy import Privacy
from discreet.lab.bundle import BundleRun, BundleWorld, run_bundle
from discreet.lab.progress import Bar, silent
from discreet.lab.published.costs import cost_as_published
from discreet.learners.set_minimizer import SetMinimizer

__all__ = ["FOLLOWED", "ITEMS", "PLAIN", "BundleResult", "compute_bundle"]

ITEMS = 20
PUBLISHED = "published, whole costs (not private)"
PLAIN = "no privacy, whole costs"
CONTENDERS: dict[str, dict[str, Any]] = {
    "discreet, cost of the bundle, drifting": {"feedback": "bandit"},
    "discreet, cost of the bundle, i.i.d.": {"feedback": "bandit", "stream": "iid"},
    "discreet, whole costs, drifting": {},
    PLAIN: {},
}
"""Ways of bundling, and the settings of their learners."""
FOLLOWED = "discreet, whole costs, drifting"
"""The one whose point is followed and whose guarantee is printed."""
NO_PRIVACY = 1e4
"""An epsilon at which noise plays no role."""


@dataclass(frozen=True)
class BundleResult:
    """What all contenders' bundles cost the same visitors."""

    visitors: int
    privacy: Privacy
    naive: float
    """What the best of nothing, everything and random bundles costs."""
    hindsight: float
    """What the best fixed bundle would have cost."""
    best_bundle: Integers
    costs: dict[str, float]
    shares: dict[str, float]
    runs: dict[str, BundleRun]
    """Of the learners."""
    points: Floats
    """How likely each item was in the followed bundle, after each piece of its run."""
    guarantee: Guarantee
    seconds: float
    simulated: bool

    def report(self) -> dict[str, Any]:
        """The numbers, as plain data."""
        return {
            "visitors": self.visitors,
            "epsilon": self.privacy.epsilon,
            "delta": self.privacy.delta,
            "naive": self.naive,
            "hindsight": self.hindsight,
            "cost": self.costs,
            "share": self.shares,
            "bundle": np.flatnonzero(self.points[-1] > 0.5).tolist(),
            "best_bundle": self.best_bundle.tolist(),
            "seconds": self.seconds,
            "simulated": self.simulated,
        }


def compute_bundle(visitors: int, privacy: Privacy, *, seed: int | None, bar: Bar = silent) -> BundleResult:
    """Let all contenders meet the same visitors."""
    world = BundleWorld.drawn(visitors, items=ITEMS, seed=3 if seed is None else seed)
    learners = {name: _learner(name, world, privacy, seed) for name in CONTENDERS}
    followed = learners[FOLLOWED]
    warm_up()
    began = time.perf_counter()
    points: list[Floats] = []
    runs: dict[str, BundleRun] = {}
    with bar("visitors", visitors * len(learners)) as report:

        def follow(count: int) -> None:
            report(count)
            points.append(followed.point)

        for name, learner in learners.items():
            runs[name] = run_bundle(learner, world, report=follow if name == FOLLOWED else report)
    costs = {PUBLISHED: cost_as_published(world, epsilon=privacy.epsilon, bandit=False)}
    costs |= {name: run.cost for name, run in runs.items()}
    return BundleResult(
        visitors=visitors,
        privacy=privacy,
        naive=world.naive,
        hindsight=world.cost_of(world.best),
        best_bundle=world.best,
        costs=costs,
        shares={name: world.share(cost) for name, cost in costs.items()},
        runs=runs,
        points=np.array(points),
        guarantee=followed.guarantee,
        seconds=time.perf_counter() - began,
        simulated=seed is not None,
    )


def _learner(name: str, world: BundleWorld, privacy: Privacy, seed: int | None) -> SetMinimizer:
    settings = CONTENDERS[name]
    function = None if "feedback" in settings else world.function
    asked = Privacy(NO_PRIVACY, privacy.delta or 1e-6) if name == PLAIN else privacy
    return SetMinimizer(ITEMS, world.visitors, asked, function=function, seed=seed, **settings)
