"""SetSelector on real points: ten sites near the pickups of a taxi service, beside plain greedy.

    python benchmarks/pickups.py --pickups pickups.npy

The points are not part of this repository: any .npy file with two columns does. They are scaled to
the box, and the people of a seed are drawn from them without replacement. Ten of 300 sites on a
grid are chosen at ε = 1.

    share   0 no site, 1 what greedy without noise has for the same people; swaps may beat greedy
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from discreet import warm_up
from discreet.arrays import Floats
from discreet.progress import shown
from discreet.simulate.problems.selection import City
from discreet.tasks import repeat
from report import write
from selection import MODES, summary, worth_of

SEEDS = range(700, 712)
PEOPLE = (1000, 10_000)
WAYS = ("auto", *MODES)


def points_of(path: str) -> Floats:
    """Return the points of a file, scaled to the box."""
    try:
        points = np.load(path).astype(np.float64)
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} is no .npy file of numbers: {error}") from None
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < max(PEOPLE):
        raise SystemExit(
            f"{path} must have two columns and at least {max(PEOPLE)} rows, got {points.shape}"
        )
    low, high = points.min(axis=0), points.max(axis=0)
    return np.asarray((points - low) / np.maximum(high - low, 1e-12))


def share(path: str, people: int, way: str, seed: int) -> float:
    """Return the share of one choice for people drawn from the file."""
    points = points_of(path)
    drawn = np.random.default_rng(seed).choice(len(points), size=people, replace=False)
    city = City(points[drawn])
    return worth_of(city, city.domain("uniform"), 1.0, way, seed)


@shown()
def shares(path: str) -> dict[str, Any]:
    """Return mean, standard error and the worst share over seeds, per number of people and mode."""
    report = {}
    for people in PEOPLE:
        for way in WAYS:
            tasks = [(path, people, way, seed) for seed in SEEDS]
            key = f"{people}_people.{way}"
            report[key] = summary(repeat(share, tasks, label=key))
    return report


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pickups", required=True, help="a .npy file with two columns: points")
    path = parser.parse_args().pickups
    points = points_of(path)
    warm_up()
    settings = {"file": Path(path).name, "points": len(points), "sites": 300, "chosen": 10}
    write({"settings": settings, "share": shares(path)})


if __name__ == "__main__":
    main()
