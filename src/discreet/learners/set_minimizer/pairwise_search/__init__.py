"""Least-cost sets from single costs: a belief about items and pairs, and trials near the
cheapest set.
"""

from discreet.learners.set_minimizer.pairwise_search.mode import PairwiseSearch

__all__ = ["PairwiseSearch"]
