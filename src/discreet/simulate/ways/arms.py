"""Arms and actions: regret per round over that of uniform play.

0 is the best arm for each context (the best fixed action in hindsight), 1 is uniform play. A world of actions
in which the best fixed one gains less than LEAST_GAIN per round over uniform play is left out.
"""

from typing import Any

import numpy as np

from discreet.budget.privacy import Privacy
from discreet.learners.contextual_bandit import ContextualBandit
from discreet.learners.hedge import Hedge
from discreet.simulate.contextual import DenseWorld, LearnerPolicy, SparseWorld, play
from discreet.simulate.visits import pieces
from discreet.simulate.ways.mixing import APART, Data, Mixing
from discreet.simulate.ways.way import Way, compared, modes

__all__ = ["actions", "contexts"]

ARMS = 5
"""Of dense worlds; sparse ones have 3."""
LEAST_GAIN = 0.01
CHUNK = 20_000


def contexts(
    *, kind: str, features: int, epsilon: float, delta: float, horizon: int, seed: int, alone: bool = False
) -> dict[str, float]:
    """Regret of `ContextualBandit` by mode, in a sparse or a dense world."""
    world: SparseWorld | DenseWorld
    if kind == "sparse":
        world = SparseWorld.drawn(features, seed=seed)
    else:
        world = DenseWorld.drawn(features, ARMS, seed=seed)
    settings: dict[str, Any] = {"context_bound": world.context_bound, "context_length": world.context_length}

    def make(way: Way) -> ContextualBandit:
        privacy = Privacy(epsilon, delta)
        return way.learner(ContextualBandit, world.arms, features, horizon, privacy, seed=seed, **settings)

    def regret(learner: ContextualBandit) -> float:
        return play(world, LearnerPolicy(learner), horizon, seed=seed).regret

    return compared(make, regret, () if alone else modes("ridge", "screen"))


def actions(
    *, epsilon: float, delta: float, horizon: int, actions: int, data: Data, seed: int, alone: bool = False
) -> dict[str, float]:
    """Regret of `Hedge`, which has one mode."""
    generator = np.random.default_rng([seed, 5])
    means = np.random.default_rng(seed).uniform(0.1, 0.9, size=actions)
    other_means = np.random.default_rng(seed + APART).uniform(0.1, 0.9, size=actions)
    lots = generator.random((horizon, actions))
    mixing = Mixing(data, horizon, seed)

    def make(way: Way) -> Hedge:
        return way.learner(Hedge, actions, horizon, Privacy(epsilon, delta), seed=seed)

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

    return compared(make, regret, ())
