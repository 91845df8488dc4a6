"""Bayesian search for the cheapest set around an incumbent, from the costs of played sets alone."""

from discreet.learners.set_minimizer.pairwise_search.mode import PairwiseSearch

__all__ = ["PairwiseSearch"]
