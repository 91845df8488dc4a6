"""The estimators' `fit`: SubOpt on test samples, with all samples available at once.

"auto" is the estimator as it is; other ways name a mode of `StreamingLearner`.
Features fill their public ranges, as those of a user would.
"""

import numpy as np

from discreet.arrays import Floats
from discreet.errors import ConfigError
from discreet.estimators import PrivateStreamingRegressor
from ways_of_learning.coefficients import MOST

FRESH = 10_000
"""How many samples an estimate is judged by."""
SIGNAL, NOISE = 0.3, 0.1
"""Standard deviations of what features explain, and of what they do not."""
MODES = ("passes", "leader", "whitened", "frank-wolfe")


def _samples(kind: str, count: int, dimension: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Draw features in [−1, 1], targets mostly in [−1, 1], and the means of the targets."""
    generator = np.random.default_rng([seed, 6])
    features = generator.uniform(-1, 1, size=(count, dimension))
    if kind == "correlated":
        features = 0.4 * features + 0.6 * generator.uniform(-1, 1, size=(count, 1))
    means = features @ generator.normal(size=dimension)
    means *= SIGNAL / means.std()
    return features, means + generator.normal(0, NOISE, count), means


def fits(
    *,
    kind: str,
    p: float,
    dimension: int,
    epsilon: float,
    delta: float,
    horizon: int,
    seed: int,
    alone: bool = False,
) -> dict[str, float]:
    """Return SubOpt of `PrivateStreamingRegressor.fit` by mode."""
    features, targets, means = _samples(kind, horizon + FRESH, dimension, seed)
    fresh_targets, fresh_means = targets[horizon:], means[horizon:]
    best = float(np.mean((fresh_means - fresh_targets) ** 2))
    nothing = float(np.mean(fresh_targets**2))
    found: dict[str, float] = {}
    taken = ""
    for method in ("auto",) if alone else ("auto", *MODES):
        model = PrivateStreamingRegressor(
            epsilon, delta, feature_range=(-1, 1), target_range=(-1, 1), p=p, seed=seed
        )
        model.forced_mode = method
        try:
            model.fit(features[:horizon], targets[:horizon])
        except ConfigError:
            continue
        facts = repr(model.facts_)
        if facts == taken:
            continue
        taken = taken or facts
        loss = float(np.mean((model.predict(features[horizon:]) - fresh_targets) ** 2))
        found[method] = min(MOST, (loss - best) / (nothing - best))
    return found
