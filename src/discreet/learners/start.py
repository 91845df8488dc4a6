"""Where a block begins, for planners of blocks whose lengths follow from released values."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Start:
    """Where a block begins."""

    index: int
    """Index of the release that ends the block."""
    begin: int
    """Its first round."""
