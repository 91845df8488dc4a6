"""Least-cost sets from single costs: a belief about items and pairs, and trials near the cheapest set."""

from discreet.learners.set_minimizer.pairs.mode import NearAnchor

__all__ = ["NearAnchor"]
