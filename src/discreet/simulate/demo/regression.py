"""`discreet demo --story regression`: drivers of the price of a flat, published over time.

No seller can be identified from the coefficients. Least squares on the same sellers cannot be
published.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from discreet import pictures, warm_up
from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Privacy
from discreet.learners.streaming_learner import StreamingLearner
from discreet.losses import SquaredLoss
from discreet.optim.domains import LpBall
from discreet.progress import Bar, bars_on
from discreet.simulate.demo.page import percent, show, stated, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


EFFECTS = {"size": 150, "rooms": 25, "distance": -90, "age": -50, "floor": 15, "balcony": 30}
"""Effect on a price, in thousands, of a feature of 1 instead of 0."""
HALF = 500
"""Half of the public range of prices, in thousands."""
SCATTER = 60
"""Standard deviation of prices around their linear prediction, in thousands."""
WIDTH = len(EFFECTS) + 1
"""Length of a row: the features and a constant."""
LONGEST = WIDTH**0.5
"""Largest l_2 length of a row of features between −1 and 1 and a constant."""
BETWEEN_BANDS = 5
"""Releases per drawn standard error, each of which takes some hundredths of a second."""
JUDGES = 20_000
"""Number of new flats on which coefficients are evaluated."""
DRAWN = {"size": pictures.BLUE, "distance": pictures.RED, "rooms": pictures.PURPLE}


class Flats(NamedTuple):
    """Flats, one row each: features and a constant, and their prices."""

    rows: Floats
    prices: Floats


def flats(count: int, generator: np.random.Generator) -> Flats:
    """Draw flats, with rows of length at most 1 and prices in [−1, 1]."""
    size = np.clip(generator.normal(-0.4, 0.25, size=count), -1, 1)
    rooms = np.clip(0.9 * size + generator.normal(0, 0.1, size=count), -1, 1)
    others = np.clip(generator.normal(-0.3, 0.35, size=(count, 3)), -1, 1)
    balcony = np.sign(generator.uniform(-1, 1, size=count))
    features = np.column_stack([size, rooms, others, balcony])
    prices = features @ list(EFFECTS.values()) - 100 + generator.normal(0, SCATTER, size=count)
    rows = np.column_stack([features, np.ones(count)]) / LONGEST
    return Flats(rows, np.clip(prices / HALF, -1, 1))


@dataclass(frozen=True, eq=False)
class RegressionResult:
    """Published coefficients over time and least squares, as effects in thousands per feature."""

    sellers: int
    privacy: Privacy
    clocks: Integers
    """Number of sellers at each release."""
    effects: Floats
    """Published effects, one row per release."""
    errors: Floats
    """Their standard errors, one row per release; NaN where not computed."""
    least_squares: Floats
    """Effects by least squares on all sellers."""
    explained: dict[str, float]
    """Share of the variance of new prices that each method explains."""


def tell_regression(
    sellers: int, privacy: Privacy, folder: Path, *, seed: int | None, console: Console
) -> dict[str, object]:
    """Publish coefficients while sellers arrive; print tables, write demo.png and demo.json."""
    pictures.require_matplotlib()
    learner = _learner(sellers, privacy, seed)
    warm_up(learner)
    began = time.perf_counter()
    result = _simulate(learner, sellers, privacy, seed or 0, bars_on(console))
    numbers = _numbers(result) | {
        "seconds": time.perf_counter() - began,
        "simulated": seed is not None,
    }
    shares = ", ".join(f"{name} {percent(share)}" for name, share in result.explained.items())
    parts = [
        _table(result),
        f"Variance of prices explained: {shares}.",
        str(learner.guarantee),
    ]
    return show(console, folder, parts, _picture(result), numbers)


def _learner(sellers: int, privacy: Privacy, seed: int | None) -> StreamingLearner:
    return StreamingLearner(
        LpBall(WIDTH, 2.0, LONGEST),
        SquaredLoss(),
        sellers,
        privacy,
        feature_bound=1.0,
        target_bound=1.0,
        seed=seed,
    )


def _simulate(
    learner: StreamingLearner, sellers: int, privacy: Privacy, seed: int, bar: Bar
) -> RegressionResult:
    """Let the learner observe all sellers, and compare it with least squares."""
    sold = flats(sellers, np.random.default_rng([seed, 7]))
    path = _observe(learner, sold, bar)
    solution = np.linalg.lstsq(sold.rows, sold.prices, rcond=None)[0]
    least_squares = np.asarray(solution, dtype=np.float64)
    new = flats(JUDGES, np.random.default_rng([seed, 8]))
    return RegressionResult(
        sellers,
        privacy,
        path.clocks,
        _effects(path.coefficients),
        _effects(path.errors),
        _effects(least_squares),
        {
            "discreet": _explained(new, learner.coefficients),
            "least squares": _explained(new, least_squares),
        },
    )


class _Path(NamedTuple):
    """Releases over time, one row each."""

    clocks: Integers
    coefficients: Floats
    errors: Floats


def _observe(learner: StreamingLearner, sold: Flats, bar: Bar) -> _Path:
    """Let the learner observe sellers up to each release, and record what it releases."""
    sellers = len(sold.prices)
    clocks = []
    coefficients = []
    errors = []
    with bar("sellers", sellers) as report:
        while learner.clock < sellers:
            part = slice(learner.clock, learner.clock + learner.rounds_until_release)
            learner.observe_stream(sold.rows[part], sold.prices[part])
            clocks.append(learner.clock)
            has_band = learner.releases % BETWEEN_BANDS == 0 or learner.clock == sellers
            errors.append(learner.standard_errors if has_band else np.full(WIDTH, np.nan))
            coefficients.append(learner.coefficients)
            report(learner.clock - part.start)
    return _Path(np.array(clocks), np.array(coefficients), np.array(errors))


def _effects(coefficients: Floats) -> Floats:
    """Effects in thousands per feature, without the constant."""
    return np.asarray(coefficients[..., :-1] * HALF / LONGEST, dtype=np.float64)


def _explained(new: Flats, coefficients: Floats) -> float:
    """Share of the variance of new prices that coefficients explain."""
    squares = (new.rows @ coefficients - new.prices) ** 2
    return float(1 - np.mean(squares) / new.prices.var())


def _numbers(result: RegressionResult) -> dict[str, object]:
    """The numbers of demo.json."""
    return {
        "sellers": result.sellers,
        "epsilon": result.privacy.epsilon,
        "delta": result.privacy.delta,
        "explained": result.explained,
        "coefficients": {
            "discreet": _by_name(result.effects[-1]),
            "least squares": _by_name(result.least_squares),
        },
        "standard_errors": _by_name(result.errors[-1]),
    }


def _by_name(numbers: Floats) -> dict[str, float | None]:
    """Numbers by the name of their feature; None where a number is not known."""
    known = [None if np.isnan(number) else number for number in numbers.tolist()]
    return dict(zip(EFFECTS, known, strict=True))


def _table(result: RegressionResult) -> Table:
    """Table of the last published effects beside least squares and the truth."""
    table = table_of(
        f"{result.sellers:,} sellers, {stated(result.privacy)}",
        "adds, in thousands",
        "discreet",
        "standard error",
        "least squares",
        "the truth",
    )
    columns = (result.effects[-1], result.errors[-1], result.least_squares)
    for (name, truth), ours, error, plain in zip(EFFECTS.items(), *columns, strict=True):
        doubt = "not known" if np.isnan(error) else f"{error:.0f}"
        table.add_row(name, f"{ours:+.0f}", doubt, f"{plain:+.0f}", f"{truth:+d}")
    return table


def _picture(result: RegressionResult) -> "Figure":
    """Draw published effects over time, with their bands, and least squares on all sellers."""
    figure, (axes,) = pictures.panels(1, (8.5, 5))
    for name, colour in DRAWN.items():
        place = list(EFFECTS).index(name)
        effect = result.effects[:, place]
        error = result.errors[:, place]
        plain = result.least_squares[place]
        known = np.isfinite(error)
        low = (effect - 2 * error)[known]
        high = (effect + 2 * error)[known]
        axes.plot(result.clocks, effect, color=colour, linewidth=2.2, label=f"{name}, published")
        axes.axhline(plain, color=colour, linestyle="--", label=f"{name}, least squares")
        clocks = result.clocks[known]
        axes.fill_between(clocks, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set(
        xlabel="sellers",
        ylabel="adds to a price, in thousands",
        title=f"What drives prices (ε = {result.privacy.epsilon:g}, bands: two standard errors)",
        ylim=(-300, 300),
    )
    pictures.add_legend(axes, ncols=len(DRAWN), loc="lower center")
    pictures.count_people(axes)
    pictures.open_frame(axes)
    return figure
