"""Bayesian search around an incumbent slate, for clicks and rewards: read mode.py first."""

from discreet.learners.set_maximizer.incumbent_search.mode import IncumbentSearch

__all__ = ["IncumbentSearch"]
