"""Runs over a stream of visitors in pieces, with the earned value recorded after each piece."""

from collections.abc import Callable

import numpy as np

from discreet.arrays import Integers
from discreet.progress import Report
from discreet.simulate.problems.display import Run

PIECES = 1000
"""Largest number of pieces: the earned value is recorded and reported once per piece."""


def run_in_pieces(
    types: Integers,
    piece: int,
    earn: Callable[[Integers], float],
    report: Report | None,
    guarantee: str,
) -> Run:
    """Run `earn` on consecutive pieces of the stream and return the earned value over time.

    `earn(types)` plays the visitors of one piece and returns the value that they brought.
    """
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
