"""How large things may be: what exact 64-bit sums and integer selections can hold."""

MOST_CANDIDATES = 2**27
"""Items, actions or corners that one selection chooses from."""
MOST_ROUNDS = 2**40
"""Rounds of a learner."""
MOST_NUMBERS = 2**27
"""Numbers of the decisions that are asked for at once: one GiB."""
