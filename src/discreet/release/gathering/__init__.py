"""What was gathered carries its own sensitivity: what clips, quantises and adds is what states it.

The door takes a `Gathered` and nothing else, and only this package makes one. One file a gathering:

    Rows          whole vectors, clipped to a length
    PublicCells   a number in cells that the public schedule fixes
    PublicRows    a number times a row that is public before it comes
    OneChoice     a number in a cell that the person picks
    HeldRows      rows kept for one release, added up again and again
    ChosenRows    a row of numbers in a slot that the person picks
    Spread        vectors and their squared lengths
    Gram          vectors times themselves
    Moments       contexts times themselves and times rewards, in a slot that the person picks

Guarantee   docs/guarantees/gathering.md
"""

from discreet.release.gathering.base import Gathered, Gathering
from discreet.release.gathering.chosen_rows import ChosenRows
from discreet.release.gathering.gram import Gram
from discreet.release.gathering.held_rows import HeldRows
from discreet.release.gathering.moments import Moments
from discreet.release.gathering.one_choice import OneChoice
from discreet.release.gathering.public_cells import PublicCells
from discreet.release.gathering.public_rows import PublicRows
from discreet.release.gathering.rows import Rows
from discreet.release.gathering.spread import Spread

__all__ = [
    "ChosenRows",
    "Gathered",
    "Gathering",
    "Gram",
    "HeldRows",
    "Moments",
    "OneChoice",
    "PublicCells",
    "PublicRows",
    "Rows",
    "Spread",
]
