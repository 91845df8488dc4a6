"""Aggregators clip, quantise and add up people's data, and state the sensitivity of the sum.

The door accepts an `Aggregate` and nothing else, and only this package makes one. One file per
aggregator; those of block releases are (`GainPath` is for sampled paths):

    Rows          one vector per person, clipped to a length
    PublicCells   one number per person, in cells that the public schedule fixes
    PublicRows    one number per person, times a row of public weights
    OneChoice     one number per person, in a cell that the person chooses
    HeldRows      rows held for one release, which adds functions of them up repeatedly
    ChosenRows    one row of numbers per person, in a slot that the person chooses
    Spread        vectors and their squared lengths
    Gram          second moments of vectors
    Moments       second moments of contexts, and contexts times rewards, in the person's slot

Guarantee   docs/guarantees/aggregators.md
"""

from discreet.release.aggregators.base import Aggregate, Aggregator
from discreet.release.aggregators.chosen_rows import ChosenRows
from discreet.release.aggregators.gram import Gram
from discreet.release.aggregators.held_rows import HeldRows
from discreet.release.aggregators.moments import Moments
from discreet.release.aggregators.one_choice import OneChoice
from discreet.release.aggregators.public_cells import PublicCells
from discreet.release.aggregators.public_rows import PublicRows
from discreet.release.aggregators.rows import Rows, SampleBounds
from discreet.release.aggregators.spread import Spread

__all__ = [
    "Aggregate",
    "Aggregator",
    "ChosenRows",
    "Gram",
    "HeldRows",
    "Moments",
    "OneChoice",
    "PublicCells",
    "PublicRows",
    "Rows",
    "SampleBounds",
    "Spread",
]
