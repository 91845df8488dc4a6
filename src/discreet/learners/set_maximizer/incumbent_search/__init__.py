"""Screen all items, then exchange single slots of the best slate: the mode is in mode.py."""

from discreet.learners.set_maximizer.incumbent_search.mode import IncumbentSearch

__all__ = ["IncumbentSearch"]
