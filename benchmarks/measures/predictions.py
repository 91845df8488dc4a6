"""Predictions of ContextualBandit for its chosen arms, and their expected rewards."""

from statistics import mean
from typing import Any

import numpy as np

from discreet import ContextualBandit, Privacy
from discreet.simulate.problems.contexts import DenseWorld, SparseWorld, World, digits, wine
from discreet.simulate.problems.contextual import LearnerPolicy, play

SEEDS = range(8)
CONTEXTS = 1000
HORIZONS = (5_000, 20_000)


def worlds(seed: int) -> dict[str, World]:
    """Return synthetic worlds and tables."""
    return {
        "dense, 10 features, 5 arms": DenseWorld.drawn(10, 5, seed=seed),
        "dense, 5 features, 3 arms": DenseWorld.drawn(5, 3, seed=seed),
        "sparse, 20 features, 4 arms": SparseWorld.drawn(20, arms=4, reward="bernoulli", seed=seed),
        "sparse, 100 features, 3 arms": SparseWorld.drawn(100, seed=seed),
        "wine": wine(),
        "digits": digits(),
    }


def biases(name: str, horizon: int, seed: int) -> tuple[float, float]:
    """Mean of prediction − expected reward of the chosen arms: by weights, and by `scores`."""
    world = worlds(seed)[name]
    learner = ContextualBandit(
        world.arms,
        world.features,
        horizon,
        Privacy(1.0, 1e-6),
        context_bound=world.context_bound,
        context_length=world.context_length,
        seed=seed,
    )
    play(world, LearnerPolicy(learner), horizon, seed=seed)
    contexts, means = world.sample(CONTEXTS, np.random.default_rng([seed, 9]))
    found = learner.decision
    weights = np.zeros((world.features, world.arms))
    for arm, named in enumerate(found["weights"].values()):
        weights[[int(name) for name in named], arm] = list(named.values())
    by_weights = contexts @ weights + np.array(list(found["offsets"].values()))
    shown = np.array([learner.scores(context).values for context in contexts])
    chosen = (np.arange(CONTEXTS), by_weights.argmax(axis=1))
    return float((by_weights - means)[chosen].mean()), float((shown - means)[chosen].mean())


def prediction_bias() -> dict[str, Any]:
    """Return the bias of predictions of chosen arms: world → horizon → by weights, as shown."""
    table: dict[str, Any] = {}
    for name in worlds(0):
        table[name] = {}
        for horizon in HORIZONS:
            found = [biases(name, horizon, seed) for seed in SEEDS]
            by_weights, shown = (round(mean(column), 4) for column in zip(*found, strict=True))
            table[name][str(horizon)] = {"by_weights": by_weights, "shown": shown}
    return table
