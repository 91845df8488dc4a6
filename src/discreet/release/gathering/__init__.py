"""What was gathered carries its own sensitivity: what clips, quantises and adds is what states it.

The door takes a `Gathered` and nothing else, and only this package makes one. One file a gathering:

    Rows          whole vectors, clipped to a length
    PublicCells   a number in cells that the public schedule fixes
    OneChoice     a number in a cell that the person picks
    HeldRows      rows kept for one release, added up again and again

Guarantee   docs/guarantees/gathering.md
"""

from discreet.release.gathering.base import Gathered, Gathering
from discreet.release.gathering.held_rows import HeldRows
from discreet.release.gathering.one_choice import OneChoice
from discreet.release.gathering.public_cells import PublicCells
from discreet.release.gathering.rows import Rows

__all__ = ["Gathered", "Gathering", "HeldRows", "OneChoice", "PublicCells", "Rows"]
