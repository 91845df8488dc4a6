"""SetMaximizer on MovieLens: which titles to show, from clicks, beside Thompson sampling.

    python benchmarks/movielens.py --movielens ml-100k/u.data

The ratings are not part of this repository: the file `u.data` of "MovieLens 100K" comes from
https://grouplens.org/datasets/movielens/100k/. Only the figures are kept.

A visitor has the ratings of a random user, looks at a slate from its first title on, and clicks a
title that this user rated 4 or 5 with probability ½, other titles never. A user is drawn many
times; every visit counts as another person. The catalogue of a seed is drawn from all titles.

    share   0 random slates, 1 the best fixed slate, found greedily in hindsight; the first rounds
            are included. Per world and ε; `thompson` is not private (`rivals/slates.py`)
"""

import argparse
from pathlib import Path
from statistics import mean, stdev
from typing import Any, Literal, NamedTuple

import numpy as np

from discreet import Privacy, SetMaximizer, warm_up
from discreet.arrays import Mask
from discreet.progress import shown
from discreet.simulate.problems.display import World, run_display
from discreet.tasks import repeat
from report import write
from rivals.slates import thompson_value

SEEDS = range(2100, 2108)
"""Nothing was tuned on these."""
SLOTS = 10
LIKED = 4
"""Least rating of a title that is clicked."""
CLICK = 0.5
"""Probability of a click on a liked title that is looked at."""
DELTA = 1e-6


class Catalogue(NamedTuple):
    """A number of titles to choose from, a number of visitors, and how many seeds are run."""

    titles: int
    visitors: int
    seeds: int


CATALOGUES = {
    "200_titles_1e5": Catalogue(200, 10**5, 8),
    "1682_titles_2e5": Catalogue(1682, 2 * 10**5, 2),
}
WAYS: dict[str, tuple[float, Literal["iid", "drifting"]]] = {
    "epsilon_1": (1.0, "iid"),
    "epsilon_0.3": (0.3, "iid"),
    "epsilon_1_drifting": (1.0, "drifting"),
    "noise_off": (1e4, "iid"),
}


def likes(path: str) -> Mask:
    """Return who likes what, users × titles, from lines "user title rating time".

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "u.data"
    ...     written = file.write_text("1\\t2\\t5\\t0\\n2\\t1\\t3\\t0\\n2\\t3\\t4\\t0\\n")
    ...     likes(str(file)).astype(int)
    array([[0, 1, 0],
           [0, 0, 1]])
    """
    try:
        users, titles, ratings = np.loadtxt(path, dtype=np.int64, usecols=(0, 1, 2), unpack=True)
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} holds no lines 'user title rating time': {error}") from None
    found = np.zeros((users.max(), titles.max()), dtype=bool)
    rated_high = ratings >= LIKED
    found[users[rated_high] - 1, titles[rated_high] - 1] = True
    return found


def world_of(liked: Mask, titles: int, visitors: int, seed: int) -> World:
    """Return visitors who each have the likes of a random user, and a catalogue drawn at random."""
    generator = np.random.default_rng([seed, 77])
    users, all_titles = liked.shape
    catalogue = np.sort(generator.choice(all_titles, size=titles, replace=False))
    weights = np.full(users, 1 / users)
    types = generator.integers(users, size=visitors)
    return World(weights, np.where(liked[:, catalogue], CLICK, 0.0), types)


def share(path: str, catalogue: str, way: str, seed: int) -> float:
    """Return the share of one run: of discreet, or of Thompson sampling."""
    titles, visitors, _ = CATALOGUES[catalogue]
    world = world_of(likes(path), titles, visitors, seed)
    if way == "thompson":
        return world.share(thompson_value(world, SLOTS, seed), SLOTS)
    epsilon, stream = WAYS[way]
    learner = SetMaximizer(
        titles,
        SLOTS,
        visitors,
        Privacy(epsilon, DELTA),
        feedback="clicks",
        stream=stream,
        seed=seed,
    )
    return world.share(run_display(learner, world, seed=seed).value, SLOTS)


@shown()
def shares(path: str) -> dict[str, dict[str, Any]]:
    """Return mean and standard error over seeds, per catalogue and way."""
    cases = [(name, way) for name in CATALOGUES for way in (*WAYS, "thompson")]
    runs = [(path, *case, seed) for case in cases for seed in SEEDS[: CATALOGUES[case[0]].seeds]]
    found = dict(zip(runs, repeat(share, runs, label="titles"), strict=True))
    report: dict[str, dict[str, Any]] = {}
    for case in cases:
        values = [value for run, value in found.items() if run[1:3] == case]
        report.setdefault(case[0], {})[case[1]] = {
            "mean": mean(values),
            "standard_error": stdev(values) / len(values) ** 0.5,
            "worst": min(values),
        }
    return report


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--movielens", required=True, help="the file u.data of MovieLens 100K")
    path = parser.parse_args().movielens
    liked = likes(path)
    import mabwiser  # noqa: F401  its version belongs into the report

    warm_up()
    settings = {
        "file": Path(path).name,
        "users": liked.shape[0],
        "titles": liked.shape[1],
        "liked": int(liked.sum()),
        "slots": SLOTS,
        "catalogues": {name: each._asdict() for name, each in CATALOGUES.items()},
    }
    write({"settings": settings, "share": shares(path)})


if __name__ == "__main__":
    main()
