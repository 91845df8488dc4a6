"""Largest sizes for which 64-bit sums and integer selections are exact."""

MOST_CANDIDATES = 2**27
"""The largest number of items, actions or corners in one selection."""
MOST_ROUNDS = 2**40
"""The largest number of rounds of a learner."""
MOST_NUMBERS = 2**27
"""The largest number of entries of the decisions in one call: one GiB."""
