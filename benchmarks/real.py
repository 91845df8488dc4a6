"""The estimators on real tables, with diffprivlib and one-shot statistics as rivals.

Prints one JSON line: `accuracy` or `r2` → table → method → `epsilon_1`, `epsilon_3`, `non_private`,
means over five splits into 70 % and 30 % and five draws of noise, δ = 10⁻⁵. Ranges are those that
the tables' own descriptions state, or what is physically plausible; all methods get the same. Ours
are defaults. The settings of one-shot statistics are chosen from a grid for each table and ε on ten
other splits, diffprivlib's in hindsight; it needs an older scikit-learn, and so a Python of its
own: give it as the argument.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from math import sqrt
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from discreet import Privacy, warm_up
from discreet.arrays import Floats, Integers
from discreet.estimators import PrivateStreamingClassifier, PrivateStreamingRegressor
from discreet.progress import shown
from discreet.tasks import repeat
from report import write

EPSILONS = (1.0, 3.0)
DELTA = 1e-5
SPLITS, OTHER_SPLITS = range(5), range(100, 110)
DRAWS = range(5)
"""Draws of noise per split, since noise varies more than splits."""
TABLES = ("diamonds", "breast_cancer", "phishing", "digits", "digits_5_or_more", "wine")
OURS = ("discreet", "discreet_stream")
LENGTHS, RIDGES = (0.35, 0.5, 0.7, 1.0), (0.1, 0.3, 1.0, 3.0, 10.0)
"""The grids of one-shot statistics: clips of rows, in longest lengths, and ridges, in noise."""
BREAST_CANCER = (
    (6.981, 28.11), (9.71, 39.28), (43.79, 188.5), (143.5, 2501.0), (0.053, 0.163), (0.019, 0.345),
    (0.0, 0.427), (0.0, 0.201), (0.106, 0.304), (0.05, 0.097), (0.112, 2.873), (0.36, 4.885),
    (0.757, 21.98), (6.802, 542.2), (0.002, 0.031), (0.002, 0.135), (0.0, 0.396), (0.0, 0.053),
    (0.008, 0.079), (0.001, 0.03), (7.93, 36.04), (12.02, 49.54), (50.41, 251.2), (185.2, 4254.0),
    (0.071, 0.223), (0.027, 1.058), (0.0, 1.252), (0.0, 0.291), (0.156, 0.664), (0.055, 0.208),
)  # fmt: skip
WINE = (
    (11.0, 14.8), (0.74, 5.80), (1.36, 3.23), (10.6, 30.0), (70.0, 162.0), (0.98, 3.88),
    (0.34, 5.08), (0.13, 0.66), (0.41, 3.58), (1.3, 13.0), (0.48, 1.71), (1.27, 4.00),
    (278.0, 1680.0),
)  # fmt: skip
DIAMONDS = (*((0, 5), (40, 80), (40, 100)), *((0, 12),) * 3, *((0, 4), (0, 6), (0, 7)))
"""Carat, depth, table, three sizes in mm, and grades of cut, colour and clarity."""


@dataclass(frozen=True)
class Table:
    """Features with their public ranges, and targets: numbers with a range, or classes 0, 1, …"""

    features: Floats
    targets: Any
    ranges: Any
    target_range: tuple[float, float] | None = None

    @property
    def measure(self) -> str:
        """What is reported."""
        return "accuracy" if self.target_range is None else "r2"

    @property
    def classes(self) -> tuple[int, ...]:
        """All of them."""
        return tuple(range(int(self.targets.max()) + 1))

    def split(self, seed: int) -> tuple[Integers, Integers]:
        """Rows to learn from and rows to judge by."""
        order = np.random.default_rng([seed, 77]).permutation(len(self.targets))
        learn, judge = np.split(order, [int(0.7 * len(order))])
        return learn, judge

    @cached_property
    def scaled(self) -> Floats:
        """Features in [−1, 1] with a constant, in rows of a length of at most 1."""
        low, high = np.broadcast_to(
            np.asarray(self.ranges, dtype=float), (self.features.shape[1], 2)
        ).T
        rows = np.clip((2 * self.features - low - high) / (high - low), -1, 1)
        return np.column_stack([rows, np.ones(len(rows))]) / sqrt(rows.shape[1] + 1)


@cache
def table_of(name: str) -> Table:
    """Return one of the tables."""
    from sklearn.datasets import load_breast_cancer, load_digits, load_wine

    if name == "diamonds":
        from plotnine.data import diamonds

        numbers = [
            diamonds[column].to_numpy(float)
            for column in ("carat", "depth", "table", "x", "y", "z")
        ]
        grades = [
            diamonds[column].cat.codes.to_numpy(float) for column in ("cut", "color", "clarity")
        ]
        prices = diamonds["price"].to_numpy(float)
        return Table(np.column_stack([*numbers, *grades]), prices, DIAMONDS, (0.0, 20_000.0))
    if name == "phishing":
        from river.datasets import Phishing

        rows, classes = zip(*Phishing(), strict=True)
        features = np.array([list(row.values()) for row in rows], dtype=float)
        return Table(features, np.array(classes).astype(int), (0.0, 1.0))
    if name.startswith("digits"):
        features, digits = load_digits(return_X_y=True)
        return Table(
            features, digits if name == "digits" else (digits >= 5).astype(int), (0.0, 16.0)
        )
    load, ranges = (load_wine, WINE) if name == "wine" else (load_breast_cancer, BREAST_CANCER)
    features, classes = load(return_X_y=True)
    return Table(features, classes, ranges)


def our_score(name: str, method: str, epsilon: float, seed: int, draw: int = 0) -> float:
    """Return R² or accuracy of an estimator with its defaults; noise is new in each draw."""
    table = table_of(name)
    learn, judge = table.split(seed)
    settings = {"feature_range": table.ranges, "horizon": len(learn)}
    model: Any
    if table.target_range is not None:
        model = PrivateStreamingRegressor(
            epsilon, DELTA, target_range=table.target_range, **settings
        )
    else:
        model = PrivateStreamingClassifier(epsilon, DELTA, classes=table.classes, **settings)
    feed = model.fit if method == "discreet" else model.partial_fit
    feed(table.features[learn], table.targets[learn])
    return float(model.score(table.features[judge], table.targets[judge]))


def non_private_score(name: str, seed: int) -> float:
    """Return the score of least squares, or of logistic regression."""
    from sklearn.linear_model import LinearRegression, LogisticRegression

    table = table_of(name)
    learn, judge = table.split(seed)
    model = LogisticRegression(max_iter=3000) if table.target_range is None else LinearRegression()
    rows = table.scaled[:, :-1] * sqrt(table.features.shape[1] + 1)
    model.fit(rows[learn], table.targets[learn])
    return float(model.score(rows[judge], table.targets[judge]))


def statistics_score(
    name: str, epsilon: float, seed: int, length: float, ridge: float, draw: int = 0
) -> float:
    """Return the score of one noisy release of (Σzzᵀ/√2, Σu·z), followed by a ridge.

    Classes are regressed as unit vectors around their middle; sensitivity 2 for all of it together.
    """
    table = table_of(name)
    learn, judge = table.split(seed)
    rows, generator = table.scaled, np.random.default_rng([seed, 5, draw])
    if table.target_range is not None:
        low, high = table.target_range
        wanted = ((2 * table.targets - low - high) / (high - low))[:, None]
    else:
        classes = len(table.classes)
        wanted = (np.eye(classes)[table.targets] - 1 / classes) / sqrt(1 - 1 / classes)
    lengths = np.linalg.norm(rows[learn], axis=1, keepdims=True)
    clipped = rows[learn] / np.maximum(lengths, length)
    size, noise = rows.shape[1], 2 / sqrt(2 * Privacy(epsilon, DELTA).budget.amount)
    scatter = np.tril(generator.normal(0, noise, size=(size, size)), -1)
    moments = clipped.T @ clipped + scatter + scatter.T
    moments += np.diag(generator.normal(0, noise * sqrt(2), size=size))
    products = clipped.T @ wanted[learn] + generator.normal(0, noise, size=(size, wanted.shape[1]))
    values, vectors = np.linalg.eigh(moments)
    values = np.maximum(values, ridge * 2 * sqrt(size) * noise)
    found = rows[judge] @ (vectors @ (vectors.T @ products / values[:, None])) / length
    if table.target_range is None:
        return float(np.mean(found.argmax(axis=1) == table.targets[judge]))
    missed = np.sum((np.clip(found[:, 0], -1, 1) - wanted[judge, 0]) ** 2)
    return float(1 - missed / np.sum((wanted[judge, 0] - wanted[judge, 0].mean()) ** 2))


def diffprivlib_scores(python: str) -> dict[str, dict[str, float]]:
    """Return scores of diffprivlib's linear models, from a Python that has it."""
    with TemporaryDirectory() as folder:
        for name in TABLES:
            table = table_of(name)
            learn, judge = zip(*(table.split(seed) for seed in SPLITS), strict=True)
            numbers = {
                "features": table.features,
                "targets": table.targets,
                "learn": learn,
                "judge": judge,
            }
            ranges = np.broadcast_to(
                np.asarray(table.ranges, dtype=float), (table.features.shape[1], 2)
            )
            within = () if table.target_range is None else table.target_range
            np.savez(
                Path(folder) / f"{name}.npz", ranges=ranges, within=np.array(within), **numbers
            )
        peer = Path(__file__).with_name("diffprivlib_peer.py")
        done = subprocess.run(
            [python, str(peer), folder], check=True, capture_output=True, text=True
        )
    found: dict[str, dict[str, float]] = json.loads(done.stdout)
    return found


@shown()
def main() -> None:
    """Measure and print."""
    warm_up()
    report: dict[str, dict[str, Any]] = {"accuracy": {}, "r2": {}}
    ours = [(name, *key) for name in TABLES for key in _keys(OURS)]
    runs = [(*key, seed, draw) for key in ours for seed in SPLITS for draw in DRAWS]
    our_scores = np.reshape(repeat(our_score, runs, label="ours"), (len(ours), -1)).mean(axis=1)
    grid = [(length, ridge) for length in LENGTHS for ridge in RIDGES]
    theirs = [(name, epsilon) for name in TABLES for epsilon in EPSILONS]
    tries = [(*key, seed, *cell) for key in theirs for cell in grid for seed in OTHER_SPLITS]
    tried = repeat(statistics_score, tries, label="one-shot statistics, chosen")
    chosen = (
        np.reshape(tried, (len(theirs), len(grid), len(OTHER_SPLITS))).mean(axis=2).argmax(axis=1)
    )
    tasks = [
        (*key, seed, *grid[cell])
        for key, cell in zip(theirs, chosen, strict=True)
        for seed in SPLITS
    ]
    judged = repeat(statistics_score, tasks, label="one-shot statistics")
    rivals = np.reshape(judged, (len(theirs), len(SPLITS))).mean(axis=1)
    for name in TABLES:
        table: dict[str, dict[str, float]] = {}
        for place, (named, method, epsilon) in enumerate(ours):
            if named == name:
                table.setdefault(method, {})[f"epsilon_{epsilon:g}"] = float(our_scores[place])
        table["sufficient_statistics"] = {
            f"epsilon_{epsilon:g}": float(rivals[theirs.index((name, epsilon))])
            for epsilon in EPSILONS
        }
        report[table_of(name).measure][name] = table
    if len(sys.argv) > 1:
        for name, scores_of_peer in diffprivlib_scores(sys.argv[1]).items():
            report[table_of(name).measure][name]["diffprivlib"] = scores_of_peer
    for tables in report.values():
        for name, methods in tables.items():
            without = mean(non_private_score(name, seed) for seed in SPLITS)
            for entry in methods.values():
                entry["non_private"] = without
    write({"settings": {"diffprivlib": len(sys.argv) > 1}} | report)


def _keys(methods: tuple[str, ...]) -> list[tuple[str, float]]:
    return [(method, epsilon) for method in methods for epsilon in EPSILONS]


if __name__ == "__main__":
    main()
