"""Start of a block, for planners whose block lengths follow from released values."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Start:
    """Index and first round of a block."""

    index: int
    """Index of the release that ends the block."""
    begin: int
    """First round of the block."""
