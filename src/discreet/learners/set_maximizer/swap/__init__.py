"""Screen all items, then exchange single slots around an anchor slate: a belief, its screening, its blocks."""

from discreet.learners.set_maximizer.swap.mode import Swap

__all__ = ["Swap"]
