"""A shop and its visitors: what each way of choosing earns from the same people, and what privacy costs."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import warm_up
from discreet.arrays import Floats
from discreet.budget.guarantee import Guarantee
from discreet.budget.privacy import Privacy
from discreet.lab.display import Run, World, run_display
from discreet.lab.progress import Bar, silent
from discreet.lab.published import fi_dp
from discreet.lab.repeat import repeat
from discreet.learners.set_maximizer import SetMaximizer

__all__ = ["CURVES", "EPSILONS", "ITEMS", "PLAIN", "SLOTS", "WORLDS", "DisplayResult", "compute_display"]

ITEMS, SLOTS = 100, 5
PUBLISHED = "published constants"
PRIVATE: dict[str, dict[str, Any]] = {
    "discreet, rewards only, drifting": {"feedback": "bandit"},
    "discreet, rewards only, i.i.d.": {"feedback": "bandit", "stream": "iid"},
    "discreet, clicks, i.i.d.": {"feedback": "clicks", "stream": "iid"},
    "discreet, whole preferences, drifting": {},
    "discreet, whole preferences, i.i.d.": {"stream": "iid"},
}
"""Ways of choosing, and the settings of their learners."""
QUOTED = "discreet, clicks, i.i.d."
"""The one whose guarantee is printed."""
PLAIN = "no privacy, whole preferences, i.i.d."
NO_PRIVACY = 1e4
"""An epsilon at which noise plays no role."""

EPSILONS = (0.1, 0.3, 1.0, 3.0)
WORLDS = (1, 2, 3)
"""Seeds of the worlds over which the bands of the picture go."""
MOST_VISITORS = 100_000
"""Of each of these worlds."""
CURVES: dict[str, dict[str, Any]] = {
    "whole preferences, drifting": {},
    "whole preferences, i.i.d.": {"stream": "iid"},
    "clicks, i.i.d.": {"feedback": "clicks", "stream": "iid"},
}


@dataclass(frozen=True)
class DisplayResult:
    """What all contenders earned from the same visitors; and shares kept in other worlds, against ε."""

    visitors: int
    privacy: Privacy
    random: float
    """What random slates earn."""
    hindsight: float
    """What the best fixed slate would have earned."""
    runs: dict[str, Run]
    spent: dict[str, float]
    """The ε that each private contender spent."""
    guarantee: Guarantee
    curve_visitors: int
    curves: Floats
    """Shares, by curve, ε and world."""
    seconds: float
    simulated: bool

    @property
    def shares(self) -> dict[str, float]:
        """How much of what the best slate gains over random ones each contender kept."""
        gain = self.hindsight - self.random
        return {name: (run.value - self.random) / gain for name, run in self.runs.items()}

    def report(self) -> dict[str, Any]:
        """The numbers, as plain data."""
        means = self.curves.mean(axis=2).tolist()
        return {
            "visitors": self.visitors,
            "epsilon": self.privacy.epsilon,
            "delta": self.privacy.delta,
            "random": self.random,
            "hindsight": self.hindsight,
            "share": self.shares,
            "clicks": {name: run.value for name, run in self.runs.items()},
            "share_against_epsilon": {
                name: {str(epsilon): share for epsilon, share in zip(EPSILONS, row, strict=True)}
                for name, row in zip(CURVES, means, strict=True)
            },
            "seconds": self.seconds,
            "simulated": self.simulated,
        }


def compute_display(
    visitors: int,
    privacy: Privacy,
    *,
    seed: int | None,
    bar: Bar = silent,
    workers: int = 2,
) -> DisplayResult:
    """Let all contenders meet the same visitors, and some of them others.

    The published constants need a delta; without one they are left out.
    """
    asked = dict.fromkeys(PRIVATE, privacy) | {PLAIN: Privacy(NO_PRIVACY, privacy.delta or 1e-6)}
    learners = {
        name: SetMaximizer(ITEMS, SLOTS, visitors, asked[name], seed=seed, **settings)
        for name, settings in (PRIVATE | {PLAIN: {"stream": "iid"}}).items()
    }
    warm_up()
    began = time.perf_counter()
    world = World.drawn(visitors, items=ITEMS, seed=seed or 0)
    runs: dict[str, Run] = {}
    spent: dict[str, float] = {}
    with bar("visitors", visitors * (len(learners) + (not privacy.pure))) as report:
        if not privacy.pure:
            often = max(1, visitors // 1000)  # drawing as often as printed changes nothing but the time
            terms = (SLOTS, privacy.epsilon, privacy.delta)
            runs[PUBLISHED] = fi_dp.run(world, *terms, block=often, seed=seed or 0, report=report)
            spent[PUBLISHED] = fi_dp.epsilon_spent(privacy.epsilon, privacy.delta, SLOTS, visitors)
        for name, learner in learners.items():
            runs[name] = run_display(learner, world, report=report)
            if name != PLAIN:
                spent[name] = learner.guarantee.epsilon_spent
    few = min(visitors, MOST_VISITORS)
    return DisplayResult(
        visitors=visitors,
        privacy=privacy,
        random=world.random_worth(SLOTS),
        hindsight=world.worth(world.best_slate(SLOTS)),
        runs=runs,
        spent=spent,
        guarantee=learners[QUOTED].guarantee,
        curve_visitors=few,
        curves=_curves(few, privacy.delta, bar, workers),
        seconds=time.perf_counter() - began,
        simulated=seed is not None,
    )


def _curves(visitors: int, delta: float, bar: Bar, workers: int) -> Floats:
    """Shares kept, by curve, ε and world."""
    tasks = [
        (visitors, epsilon, delta, settings, world)
        for settings in CURVES.values()
        for epsilon in EPSILONS
        for world in WORLDS
    ]
    shares = repeat(share_at, tasks, label="share against epsilon", bar=bar, workers=workers)
    return np.reshape(shares, (len(CURVES), len(EPSILONS), len(WORLDS)))


def share_at(visitors: int, epsilon: float, delta: float, settings: dict[str, Any], seed: int) -> float:
    """The share kept in a world of its own."""
    world = World.drawn(visitors, items=ITEMS, seed=seed)
    learner = SetMaximizer(ITEMS, SLOTS, visitors, Privacy(epsilon, delta), **settings)
    return world.share(run_display(learner, world).value, SLOTS)
