"""The published tables of streaming regression, run again, beside discreet's own numbers.

Every method gets the best of the same kind of grid in hindsight, as in the paper; the last columns are
discreet's defaults, without any tuning. `discreet reproduce sco-tables` shows them
(discreet/lab/stories/sco_tables.py).
"""

import time
from dataclasses import dataclass
from itertools import product
from math import inf
from typing import Any

import numpy as np

from discreet import warm_up
from discreet.arrivals import SquaredLoss
from discreet.budget.privacy import Privacy
from discreet.lab.progress import Bar, silent
from discreet.lab.regression import Regression
from discreet.lab.repeat import repeat
from discreet.lab.streaming_rivals import RIVALS, UNIT
from discreet.learners.streaming_learner import StreamingLearner

__all__ = [
    "CASES",
    "COLUMNS",
    "PACES",
    "PRINTED",
    "Error",
    "ScoTables",
    "best_of_grids",
    "case_name",
    "compute_sco_tables",
    "grids",
    "suboptimality",
]

Case = tuple[float, int, int]
"""p, samples and dimension."""
Try = tuple[str, dict[str, Any]]
"""A method and its settings."""

CASES: list[Case] = [
    (p, samples, dimension) for p in (1.5, inf) for samples in (1000, 2000) for dimension in (5, 10)
]
PACES = (0.1, 0.3, 1.0, 3.0, 10.0)
CLIPS = (0.1, 0.25, 0.5, 1.0)
PRINTED = {
    "p1.5_T1000_d5": (0.017, 0.52),
    "p1.5_T1000_d10": (0.20, 0.95),
    "p1.5_T2000_d5": (0.0024, 0.44),
    "p1.5_T2000_d10": (0.060, 0.89),
    "pinf_T1000_d5": (0.036, 0.026),
    "pinf_T1000_d10": (0.092, 0.053),
    "pinf_T2000_d5": (0.015, 0.013),
    "pinf_T2000_d10": (0.058, 0.038),
}
"""Of Algorithm 1, and of its rival: NoisySFW at p = 1.5, NoisySGD at p = ∞."""
COLUMNS = {
    "published": "Algorithm 1, correct noise",
    "published_unit": "– with unit constants",
    "published_slip_unit": "– unit constants and the slips",
    "rival": "NoisySFW / NoisySGD",
    "frank_wolfe": "discreet, frank-wolfe",
    "leader": "discreet, leader",
    "frank_wolfe_default": "frank-wolfe, untuned",
    "leader_default": "leader, untuned",
}


@dataclass(frozen=True)
class Error:
    """SubOpt over seeds."""

    mean: float
    standard_deviation: float


@dataclass(frozen=True)
class ScoTables:
    """The best of each column's grid in hindsight, for every case."""

    table: dict[str, dict[str, Error]]
    seeds: int
    seconds: float


def case_name(p: float, samples: int, dimension: int) -> str:
    """The key of a case."""
    return f"p{p:g}_T{samples}_d{dimension}"


def suboptimality(case: Case, method: str, settings: dict[str, Any], seed: int) -> float:
    """SubOpt of one run at ε = 1, δ = 1/T."""
    p, samples, dimension = case
    world = Regression.drawn(samples, dimension, p, seed=seed)
    if method in RIVALS:
        constants = UNIT if settings.get("unit") else None
        found = RIVALS[method](world, 1.0, 1 / samples, settings["pace"], seed, constants)
        return world.suboptimality(found)
    learner = StreamingLearner(
        world.domain,
        SquaredLoss(),
        samples,
        Privacy(1.0, 1 / samples),
        feature_bound=1.0,
        target_bound=1.0,
        method=method,  # type: ignore[arg-type]
        **settings,
    )
    learner.observe_stream(world.features, world.targets)
    return world.suboptimality(learner.coefficients)


def grids(p: float) -> dict[str, list[Try]]:
    """What is tried for each column."""
    rival = "noisy_sfw" if p <= 2 else "noisy_sgd"
    tuned = [{"pace": pace, "bound": clip} for pace, clip in product((0.5, 1.0, 2.0), CLIPS)]
    flat = [{"pace": pace, "bound": clip, "curvature": 0.0} for pace, clip in product((1.0, 3.0), CLIPS)]
    return {
        "published": [("published", {"pace": pace}) for pace in PACES],
        "published_unit": [("published", {"pace": pace, "unit": True}) for pace in PACES],
        "published_slip_unit": [("published_with_slip", {"pace": pace, "unit": True}) for pace in PACES],
        "rival": [(rival, {"pace": pace}) for pace in PACES],
        "frank_wolfe": [("frank-wolfe", settings) for settings in tuned],
        "leader": [("leader", settings) for settings in tuned + flat],
        "frank_wolfe_default": [("frank-wolfe", {})],
        "leader_default": [("leader", {})],
    }


def best_of_grids(
    columns: tuple[str, ...], seeds: int, *, bar: Bar = silent, workers: int = 2
) -> dict[str, dict[str, Error]]:
    """For every case and column, the try with the least mean error."""
    plan = [(case, column, tried) for case in CASES for column in columns for tried in grids(case[0])[column]]
    tasks = [(case, *tried, seed) for case, _, tried in plan for seed in range(seeds)]
    errors = repeat(suboptimality, tasks, label="regressions", bar=bar, workers=workers)
    table: dict[str, dict[str, Error]] = {case_name(*case): {} for case in CASES}
    for (case, column, _), row in zip(plan, np.reshape(errors, (len(plan), seeds)), strict=True):
        found = Error(float(row.mean()), float(row.std()))
        known = table[case_name(*case)].get(column)
        if known is None or found.mean < known.mean:
            table[case_name(*case)][column] = found
    return table


def compute_sco_tables(seeds: int, *, bar: Bar = silent, workers: int = 2) -> ScoTables:
    """Run everything."""
    warm_up()
    began = time.perf_counter()
    table = best_of_grids(tuple(COLUMNS), seeds, bar=bar, workers=workers)
    return ScoTables(table, seeds, time.perf_counter() - began)
