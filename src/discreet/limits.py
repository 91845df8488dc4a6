"""How large things may be: what exact 64-bit sums and integer selections can hold."""

__all__ = ["MOST_CANDIDATES", "MOST_ROUNDS"]

MOST_CANDIDATES = 2**27
"""Items, actions or corners that one selection chooses from."""
MOST_ROUNDS = 2**40
"""Rounds of a learner."""
