"""Arms and actions: regret per round over that of uniform play.

0 is the best arm for each context (the best fixed action in hindsight), 1 is uniform play. A world
of actions in which the best fixed one gains less than LEAST_GAIN per round over uniform play is
left out.
"""

from typing import Literal

import numpy as np

from discreet.budget.privacy import Privacy
from discreet.learners.hedge import Hedge
from discreet.simulate.problems import Contextual
from discreet.simulate.problems.problem import pieces
from ways_of_learning.mixing import APART, Data, Mixing
from ways_of_learning.modes import AUTO, in_modes, values

ARMS = {"sparse": 3, "dense": 5}
LEAST_GAIN = 0.01
CHUNK = 20_000


def contexts(
    *,
    kind: Literal["sparse", "dense"],
    features: int,
    epsilon: float,
    delta: float,
    horizon: int,
    seed: int,
    alone: bool = False,
) -> dict[str, float]:
    """Return the regret of `ContextualBandit` by mode, in a sparse or a dense world."""
    problem = Contextual(horizon, Privacy(epsilon, delta), ARMS[kind], features, kind=kind)
    world = problem.people(seed)
    learners = in_modes(problem, world, seed, () if alone else ("ridge", "screen"))
    return values(learners, lambda learner: problem.outcome(learner, world, seed))


def actions(
    *,
    epsilon: float,
    delta: float,
    horizon: int,
    actions: int,
    data: Data,
    seed: int,
    alone: bool = False,
) -> dict[str, float]:
    """Return the regret of `Hedge`, which has one mode."""
    generator = np.random.default_rng([seed, 5])
    means = np.random.default_rng(seed).uniform(0.1, 0.9, size=actions)
    other_means = np.random.default_rng(seed + APART).uniform(0.1, 0.9, size=actions)
    lots = generator.random((horizon, actions))
    mixing = Mixing(data, horizon, seed)

    def regret(learner: Hedge) -> float | None:
        value = 0.0
        totals = np.zeros(actions)
        for piece in pieces(learner, horizon, CHUNK):
            of_other = mixing.of_other(piece, learner.releases)[:, None]
            gains = lots[piece.start : piece.stop] < np.where(of_other, other_means, means)
            tickets = learner.open_many(len(piece))
            value += float(gains[np.arange(len(piece)), tickets.numbers].sum())
            totals += gains.sum(axis=0)
            learner.close_many(tickets, gains.astype(np.float64))
        stake = float(totals.max() - totals.mean())
        return None if stake < LEAST_GAIN * horizon else (float(totals.max()) - value) / stake

    return values({AUTO: Hedge(actions, horizon, Privacy(epsilon, delta), seed=seed)}, regret)
