"""Screen all items, then exchange single slots around an anchor slate: belief, screening, blocks."""

from discreet.learners.set_maximizer.swap.mode import Swap

__all__ = ["Swap"]
