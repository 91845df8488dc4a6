"""Reference set functions in plain Python, for one person and one set at a time."""

import numpy as np


def click_model(row: np.ndarray, chosen: list[int]) -> float:
    """Return the probability that a person clicks any of the chosen items."""
    return 1 - float(np.prod([1 - row[item] for item in chosen]))


def facility_location(row: np.ndarray, chosen: list[int]) -> float:
    """Return the largest utility of the chosen items."""
    return max((float(row[item]) for item in chosen), default=0.0)


def capped(row: np.ndarray, chosen: list[int]) -> float:
    """Return the sum of the chosen weights, at most 1."""
    return min(1.0, float(sum(row[item] for item in chosen)))


def square_root(row: np.ndarray, chosen: list[int]) -> float:
    """Return the square root of the mean of the chosen weights over all items."""
    return float(np.sqrt(sum(row[item] for item in chosen) / len(row)))


COVERS = ((1, 0, 1, 0), (0, 1, 1, 0), (0, 0, 0, 1), (1, 1, 0, 0), (0, 0, 1, 1))
"""Which items (rows) cover which topics (columns)."""


def coverage(row: np.ndarray, chosen: list[int]) -> float:
    """Return the sum of the weights of the topics that the chosen items cover."""
    return float(
        sum(row[topic] for topic in range(4) if any(COVERS[item][topic] for item in chosen))
    )
