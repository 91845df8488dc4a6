"""What was aggregated carries its own sensitivity: what clips, quantises and adds is what states
it.

The door takes a `Aggregate` and nothing else, and only this package makes one. One file an
aggregator:

    Rows          whole vectors, clipped to a length
    PublicCells   a number in cells that the public schedule fixes
    PublicRows    a number times a row that is public before it comes
    OneChoice     a number in a cell that the person picks
    HeldRows      rows kept for one release, added up again and again
    ChosenRows    a row of numbers in a slot that the person picks
    Spread        vectors and their squared lengths
    Gram          vectors times themselves
    Moments       contexts times themselves and times rewards, in a slot that the person picks

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
from discreet.release.aggregators.rows import Rows
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
    "Spread",
]
