"""The sections of streaming regression and of real tables."""

from collections.abc import Mapping
from typing import Any

from pages.text import blocks, fixed, load, prose, significant, source, table

RIVALS = {"p1.5": "noisy_sfw", "pinf": "noisy_sgd"}
GEOMETRIES = {"p1.5": "1.5", "p2": "2", "pinf": "∞"}
MODES = {"auto": "default", "passes": "passes", "leader": "leader", "frank-wolfe": "frank-wolfe"}
TABLES = {
    "diamonds": "diamonds (R²)",
    "breast_cancer": "breast cancer",
    "phishing": "phishing",
    "digits": "digits, ten classes",
    "digits_5_or_more": "digits, 5 or more",
    "wine": "wine",
}
COLUMNS = ("discreet", "discreet_stream", "sufficient_statistics", "diffprivlib")


def streaming() -> str:
    """Return the section of `StreamingLearner`."""
    report = load("streaming")
    sparse = report["sparse_p1_d1000_T1e5"]
    head = [f"{name}, p = {p}" for name in MODES.values() for p in GEOMETRIES.values()]
    return blocks(
        "## Streaming regression (`benchmarks/streaming.py`)",
        prose("""
            Linear regression as in the paper (rows of unit l_q norm, coefficients ∝ 1 of unit l_p
            norm, noise of targets 0.05, which the paper does not state), ε = 1, δ = 1/T. SubOpt: 0
            is perfect, 1 no better than zeros; mean ± standard deviation over ten seeds. Ours are
            not tuned; the last two columns are the best of a grid of step lengths in hindsight, as
            in the paper. Their noise has the correct law: NoisySFW for p ≤ 2, NoisySGD for p = ∞,
            and the source paper's own algorithm with the noise of its box.
        """),
        table(
            (
                "case",
                "`StreamingLearner`",
                '`method="frank-wolfe"`',
                "NoisySFW / NoisySGD",
                "Algorithm 1 of the paper",
            ),
            [_case(name, row) for name, row in report["subopt"].items()],
        ),
        prose(f"""
            The published tables are compared line by line by `discreet reproduce sco-tables`: Table
            3 reproduces with noise that is not private, Table 4 does not. With ten coefficients of
            1000 that are not 0, on the l₁ ball, 10⁵ samples, mean of three seeds: leader
            {significant(sparse["leader"])}, frank-wolfe with drawn corners
            {significant(sparse["frank-wolfe"])}.

            Other worlds than the papers' (`simulate/problems/regression.py`: random coefficients,
            rows of differing lengths), 20,000 samples, 20 coefficients, ε = 1, δ = 10⁻⁶: mean
            SubOpt over six seeds; the report has no intervals. The default measures rows first. In
            "short" a `feature_bound` is ten times too large, which costs modes that do not measure
            rows as much as a tenth of ε would.
        """),
        table(
            ("world", *head), [_world(name, row) for name, row in report["other_worlds"].items()]
        ),
        prose(f"""
            Correlated features, p = 2, 10⁵ samples:
            {significant(report["correlated_p2_T1e5"])}. Times are medians of five, with BLAS on one
            thread.
        """),
        table(
            ("claim", "measured"),
            [
                (
                    "a sample at d = 100 in blocks over river's `LinearRegression.learn_one`, "
                    "times as fast",
                    fixed(report["speedup_over_river"], 0),
                ),
                (
                    "its cost over non-private NumPy mini-batches of the same size (a horizon of "
                    "10⁶)",
                    fixed(report["cost_over_numpy_minibatch"], 1),
                ),
                (
                    "– with rows that are measured first, d = 50",
                    fixed(report["whitened_cost_over_numpy_minibatch_d50"], 1),
                ),
            ],
        ),
        source("streaming"),
    )


def _case(name: str, row: Mapping[str, float]) -> tuple[str, ...]:
    p, horizon, dimension = name.split("_")
    columns = ("discreet", "frank_wolfe", RIVALS[p], "published")
    words = f"p = {GEOMETRIES[p]}, T = {horizon[1:]}, d = {dimension[1:]}"
    return (
        words,
        *(f"{significant(row[key])} ± {significant(row[f'{key}_sd'])}" for key in columns),
    )


def _world(name: str, row: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    return (name, *(significant(row[p][mode]) for mode in MODES for p in GEOMETRIES))


def real() -> str:
    """Return the section of real tables."""
    report = load("real")
    found: dict[str, Mapping[str, Any]] = {**report["accuracy"], **report["r2"]}
    return blocks(
        "## Regressions and classifiers on real tables (`benchmarks/real.py`)",
        prose(f"""
            δ = 10⁻⁵, ε = 1 / 3; R² for diamonds, else accuracy: means over five splits that nothing
            was tuned on, with five draws of the noise each; the report has no intervals. `fit`
            takes many passes; "stream" is `partial_fit`. One-shot statistics are noisy second
            moments with the best of twenty settings on ten other splits. diffprivlib has the best
            regulariser of a grid in hindsight. Predictions of private regressions are clipped to
            the public range.

            {_behind(found)} Wine has 178 rows.
        """),
        table(
            ("table", "`fit`", "stream", "one-shot statistics", "diffprivlib", "non-private"),
            [
                (
                    words,
                    *(_pair(found[name].get(way)) for way in COLUMNS),
                    _non_private(found[name]),
                )
                for name, words in TABLES.items()
            ],
        ),
        source("real"),
    )


def _pair(scores: Mapping[str, float] | None) -> str:
    if scores is None:
        return "–"
    return f"{fixed(scores['epsilon_1'])} / {fixed(scores['epsilon_3'])}"


def _non_private(ways: Mapping[str, Mapping[str, float]]) -> str:
    return fixed(ways["discreet"]["non_private"])


def _behind(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a sentence about the cells in which `fit` is behind a private rival."""
    cells = []
    for name, words in TABLES.items():
        for key, epsilon in (("epsilon_1", "1"), ("epsilon_3", "3")):
            rivals = {way: found[name][way][key] for way in COLUMNS[2:] if way in found[name]}
            best = max(rivals, key=lambda way: rivals[way])
            behind = rivals[best] - found[name]["discreet"][key]
            if behind > 0:
                rival = "one-shot statistics" if best == "sufficient_statistics" else best
                cells.append(f"{words}, ε = {epsilon}, by {behind:.4f} ({rival})")
    return f"`fit` is behind a private rival in {len(cells)} cells: {'; '.join(cells)}."
