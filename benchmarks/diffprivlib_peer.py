"""diffprivlib's linear models on tables that benchmarks/real.py wrote, in a Python of their own.

Prints one JSON object: table → `epsilon_1`, `epsilon_3`, means over splits; the regulariser of
logistic regression is the best of a grid in hindsight. Needs diffprivlib and NumPy, not discreet.
"""

import json
import sys
import warnings
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

EPSILONS = (1.0, 3.0)
REGULARISERS = (0.01, 0.1, 1.0, 10.0)


def score(table: Any, split: int, epsilon: float, regulariser: float) -> float:
    """Return R² or accuracy on one split."""
    from diffprivlib.models import LinearRegression, LogisticRegression

    learn, judge = table["learn"][split], table["judge"][split]
    features, targets, ranges = table["features"], table["targets"], table["ranges"]
    if table["within"].size:
        low, high = (float(end) for end in table["within"])
        bounds = {"bounds_X": (ranges[:, 0], ranges[:, 1]), "bounds_y": (low, high)}
        model = LinearRegression(epsilon=epsilon, random_state=split, **bounds)
        model.fit(features[learn], targets[learn])
        found = np.clip(model.predict(features[judge]), low, high)
        spread = np.sum((targets[judge] - targets[judge].mean()) ** 2)
        return float(1 - np.sum((found - targets[judge]) ** 2) / spread)
    low, high = ranges.T
    rows = np.clip((2 * features - low - high) / (high - low), -1, 1)
    settings = {"data_norm": sqrt(rows.shape[1]), "C": regulariser, "random_state": split}
    model = LogisticRegression(epsilon=epsilon, **settings)
    return float(model.fit(rows[learn], targets[learn]).score(rows[judge], targets[judge]))


def main() -> None:
    """Measure and print."""
    warnings.filterwarnings("ignore")
    report: dict[str, dict[str, float]] = {}
    for path in sorted(Path(sys.argv[1]).glob("*.npz")):
        with np.load(path) as stored:
            table = dict(stored)
        grid = REGULARISERS[:1] if table["within"].size else REGULARISERS
        for epsilon in EPSILONS:
            tries = [
                np.mean(
                    [
                        score(table, split, epsilon, regulariser)
                        for split in range(len(table["learn"]))
                    ]
                )
                for regulariser in grid
            ]
            report.setdefault(path.stem, {})[f"epsilon_{epsilon:g}"] = float(max(tries))
    print(json.dumps(report))


if __name__ == "__main__":
    main()
