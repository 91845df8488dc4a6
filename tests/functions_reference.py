"""Set functions in plain Python, one person and one set at a time."""

import numpy as np


def click_model(row: np.ndarray, chosen: list[int]) -> float:
    return 1 - float(np.prod([1 - row[item] for item in chosen]))


def facility_location(row: np.ndarray, chosen: list[int]) -> float:
    return max((float(row[item]) for item in chosen), default=0.0)


def capped(row: np.ndarray, chosen: list[int]) -> float:
    return min(1.0, float(sum(row[item] for item in chosen)))


def square_root(row: np.ndarray, chosen: list[int]) -> float:
    return float(np.sqrt(sum(row[item] for item in chosen) / len(row)))


COVERS = ((1, 0, 1, 0), (0, 1, 1, 0), (0, 0, 0, 1), (1, 1, 0, 0), (0, 0, 1, 1))


def coverage(row: np.ndarray, chosen: list[int]) -> float:
    return float(
        sum(row[topic] for topic in range(4) if any(COVERS[item][topic] for item in chosen))
    )
