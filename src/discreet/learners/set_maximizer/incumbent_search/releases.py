"""Aggregators of the blocks, and the noise of their releases: each block once, with pure noise.

    clicks_release      screening, logs: the item that the visitor clicked     l₁ 2
    rewards_release     first screening: the reward, per shown item            l₁ slots + 1
    exchange_release    exchanges: one number in the cell (slot, item)         l₁ 1
    one_release         any other aggregator of a phase

Guarantee   docs/guarantees/sets.md, Theorem 4
"""

from typing import TypeVar

from discreet.budget.privacy import pure
from discreet.engine.statistics import OneRelease
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.release.aggregators import Aggregator, OneChoice, PublicCells

FINEST = 2**20
"""Largest number of levels of the grid: fine enough for rewards times weights."""

Kind = TypeVar("Kind", bound=Aggregator)


def one_release(settings: SetMaximizerSettings, aggregator: Kind) -> OneRelease[Kind]:
    """Return the release of a block: pure noise for the whole ε, less the share of a report."""
    budget = pure(settings.epsilon / settings.contributions * (1 - settings.report))
    return OneRelease.for_budget("found", budget, aggregator, most=FINEST)


def exchange_release(settings: SetMaximizerSettings) -> OneRelease[PublicCells]:
    """Return the release of an exchange block: one number per visitor, in a cell (slot, item)."""
    return one_release(settings, PublicCells((settings.slots, settings.room)))


def clicks_release(settings: SetMaximizerSettings) -> OneRelease[OneChoice]:
    """Return the release of clicks: one count per item, for the first click of each visitor."""
    return one_release(settings, OneChoice((settings.room,)))


def rewards_release(settings: SetMaximizerSettings) -> OneRelease[PublicCells]:
    """Return the release of rewards: one sum per shown item, and one more cell for the total."""
    cells = PublicCells((settings.room + 1,), copies=settings.slots + 1)
    return one_release(settings, cells)
