"""Visitors pass in stretches; what they brought is noted after each."""

from collections.abc import Callable

import numpy as np

from discreet.arrays import Integers
from discreet.progress import Report
from discreet.simulate.problems.display import Run

PIECES = 1000
"""What was earned is noted, and reported, at most so many times."""


def run_in_pieces(
    types: Integers,
    piece: int,
    earn: Callable[[Integers], float],
    report: Report | None,
    guarantee: str,
) -> Run:
    """`earn(types)` lets some visitors pass and says what they brought."""
    value = 0.0
    visitors = [0]
    earned = [0.0]
    for first in range(0, len(types), piece):
        part = types[first : first + piece]
        value += float(earn(part))
        visitors.append(first + len(part))
        earned.append(value)
        if report is not None:
            report(len(part))
    return Run(value, np.array(visitors), np.array(earned), guarantee)
