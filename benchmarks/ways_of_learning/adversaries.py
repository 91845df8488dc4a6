"""Streams that react, and the cost of `stream="adversarial"` on calm ones.

    punish      what was decided in the round before is worth nothing (costs instead of saving)
    alternate   only some candidates are worth anything, others from one public block to the next
    iid         a calm stream

Experts gain 0 or 1. Items of slates are worth 0.5 each, their sum capped at 1. Costs are modular,
±1/8 (on the alternating stream −1/4 for two of the items).
"""

from collections.abc import Iterator
from itertools import combinations
from time import perf_counter
from typing import Any, Literal

import numpy as np

from discreet.arrays import Floats, Mask
from discreet.budget.privacy import Privacy
from discreet.functions import ConcaveOverModular, GraphCut, MinusModular
from discreet.learners.base import Learner
from discreet.learners.hedge import Hedge
from discreet.learners.set_maximizer import SetMaximizer
from discreet.learners.set_minimizer import SetMinimizer
from discreet.simulate.problems import Display

Reaction = Literal["punish", "alternate", "iid"]
ACTIONS, ITEMS, SLOTS, COSTS = 10, 20, 3, 8
SHOP_ITEMS, SHOP_SLOTS = 100, 5
MEANS = np.linspace(0.2, 0.5, ACTIONS)
SAVING = np.linspace(0.2, 0.8, COSTS)
"""How often each item saves something, on the calm stream of costs."""
MODULAR = MinusModular(GraphCut(((0, 1),)))


def against(
    *,
    learner: str,
    stream: Reaction,
    horizon: int,
    epsilon: float,
    delta: float,
    seed: int,
    alone: bool = True,
) -> dict[str, float]:
    """Return a learner's loss per round on a stream; for i.i.d. slates and costs, its share.

    On "alternate" slates: what they earn per visitor, where the best fixed slate has 0.75.
    """
    privacy = Privacy(epsilon, delta)
    if learner == "slates" and stream == "iid":
        calm = Display(horizon, privacy, SHOP_ITEMS, SHOP_SLOTS, stream="adversarial")
        return {"auto": calm.share(seed)}
    return {
        "auto": {"hedge": _experts, "slates": _slates, "costs": _costs}[learner](
            stream, horizon, privacy, seed
        )
    }


def _experts(stream: Reaction, horizon: int, privacy: Privacy, seed: int) -> float:
    learner = Hedge(ACTIONS, horizon, privacy, seed=seed)
    lots, totals, earned = np.random.default_rng([seed, 3]), np.zeros(ACTIONS), 0.0
    for tickets, chosen, before in _batches(learner, ACTIONS):
        if stream == "punish":
            gains = np.where(before, 0.0, 1.0)
        elif stream == "alternate":
            gains = np.broadcast_to(
                np.arange(ACTIONS) == learner.releases % 2, chosen.shape
            ).astype(float)
        else:
            gains = (lots.random(chosen.shape) < MEANS).astype(float)
        learner.close_many(tickets, gains)
        totals, earned = totals + gains.sum(axis=0), earned + float(gains[chosen].sum())
    return float(totals.max() - earned) / horizon


def _slates(stream: Reaction, horizon: int, privacy: Privacy, seed: int) -> float:
    capped = ConcaveOverModular("cap")
    learner = SetMaximizer(
        ITEMS, SLOTS, horizon, privacy, stream="adversarial", function=capped, seed=seed
    )
    earned, all_worths = 0.0, []
    for tickets, chosen, before in _batches(learner, ITEMS):
        if stream == "punish":
            worths = np.where(before, 0.0, 0.5)
        else:
            wanted = (0, 1) if learner.releases % 2 else (2, 3)
            worths = np.broadcast_to(np.isin(np.arange(ITEMS), wanted) * 0.5, chosen.shape)
        learner.close_many(tickets, worths)
        earned += float(np.minimum(1.0, (worths * chosen).sum(axis=1)).sum())
        all_worths.append(worths)
    if stream == "alternate":
        return earned / horizon
    worths = np.concatenate(all_worths)
    leaders = np.argsort(-worths.sum(axis=0))[: SLOTS + 3]
    sets = combinations(leaders, SLOTS)
    best = max(float(np.minimum(1.0, worths[:, list(each)].sum(axis=1)).mean()) for each in sets)
    return best - earned / horizon


def _costs(stream: Reaction, horizon: int, privacy: Privacy, seed: int) -> float:
    learner = SetMinimizer(
        COSTS, horizon, privacy, stream="adversarial", function=MODULAR, seed=seed
    )
    lots, totals, paid = np.random.default_rng([seed, 4]), np.zeros(COSTS), 0.0
    for tickets, chosen, before in _batches(learner, COSTS):
        if stream == "punish":
            costs = np.where(before, 1 / 8, -1 / 8)
        elif stream == "alternate":
            wanted = (0, 1) if learner.releases % 2 else (2, 3)
            costs = np.broadcast_to(np.isin(np.arange(COSTS), wanted) / -4, chosen.shape)
        else:
            costs = np.where(lots.random(chosen.shape) < SAVING, -1 / 8, 1 / 8)
        learner.close_many(tickets, np.concatenate([np.zeros((len(costs), 1)), -costs], axis=1))
        totals, paid = totals + costs.sum(axis=0), paid + float((costs * chosen).sum())
    least = float(np.minimum(totals, 0).sum())
    return paid / least if stream == "iid" else (paid - least) / horizon


def _batches(learner: Learner, candidates: int) -> Iterator[tuple[Any, Mask, Mask]]:
    """Yield tickets up to the next release, their decisions, and those one round before."""
    last = np.zeros((1, candidates), dtype=np.bool_)
    horizon = learner.horizon or 0
    while learner.clock < horizon:
        learner.release_if_due()
        tickets = learner.open_many(min(learner.rounds_until_release, horizon - learner.clock))
        table = tickets.numbers if tickets.numbers.ndim == 2 else tickets.numbers[:, None]
        chosen = np.zeros((len(tickets), candidates + 1), dtype=np.bool_)
        np.put_along_axis(chosen, table, True, axis=1)  # −1, for no item, is the last column
        chosen = chosen[:, :-1]
        yield tickets, chosen, np.concatenate([last, chosen[:-1]])
        last = chosen[-1:]


def microseconds(learner: str, horizon: int, privacy: Privacy) -> float:
    """Return the time of a round in bulk, decisions and releases included."""
    made: Learner = Hedge(ACTIONS, horizon, privacy, seed=1)
    if learner == "slates":
        made = Display(horizon, privacy, SHOP_ITEMS, SHOP_SLOTS, stream="adversarial").learner(
            seed=1
        )
    numbers = SHOP_ITEMS if learner == "slates" else ACTIONS
    rows: Floats = np.random.default_rng(1).random((horizon, numbers)) * 0.2
    began = perf_counter()
    made.replay(rows)
    return (perf_counter() - began) / horizon * 1e6
