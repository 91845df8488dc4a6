"""`discreet demo --story regression`: drivers of the price of a flat, published over time.

No seller can be identified from the coefficients. Least squares on the same sellers cannot be
published.
"""

import time
from dataclasses import dataclass
from itertools import pairwise
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
from discreet.progress import bar, hidden, shown
from discreet.simulate.demo.page import show, stated, table_of
from discreet.texts import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
JUDGES = 20_000
"""Number of new flats on which coefficients are evaluated."""
PUBLISHED = "discreet"
PLAIN = "least squares"


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
    """Effects that were published last."""
    errors: Floats
    """Their standard errors; NaN where not known."""
    least_squares: Floats
    """Effects by least squares on all sellers."""
    paths: dict[str, Floats]
    """Share of the variance of new prices that each method explains, at each release."""

    @property
    def explained(self) -> dict[str, float]:
        """Share of the variance of new prices that each method explains in the end."""
        return {name: float(path[-1]) for name, path in self.paths.items()}


def tell_regression(
    sellers: int, privacy: Privacy, folder: Path, *, seed: int | None, console: Console
) -> dict[str, object]:
    """Publish coefficients while sellers arrive; print tables, write demo.png and demo.json."""
    pictures.require_matplotlib()
    learner = _learner(sellers, privacy, seed)
    warm_up(learner)
    began = time.perf_counter()
    with shown(console):
        result = _simulate(learner, sellers, privacy, seed or 0)
    numbers = _numbers(result) | {
        "seconds": time.perf_counter() - began,
        "simulated": seed is not None,
    }
    parts = [_table(result), f"{_point(result)}.", str(learner.guarantee)]
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
    learner: StreamingLearner, sellers: int, privacy: Privacy, seed: int
) -> RegressionResult:
    """Let the learner observe all sellers, and compare it with least squares."""
    sold = flats(sellers, np.random.default_rng([seed, 7]))
    path = _observe(learner, sold)
    plain = _least_squares(sold, path.clocks)
    new = flats(JUDGES, np.random.default_rng([seed, 8]))
    return RegressionResult(
        sellers,
        privacy,
        path.clocks,
        _effects(path.coefficients[-1]),
        _effects(learner.standard_errors),
        _effects(plain[-1]),
        {
            PUBLISHED: _explained(new, path.coefficients),
            PLAIN: _explained(new, plain),
        },
    )


class _Path(NamedTuple):
    """Releases over time, one row each."""

    clocks: Integers
    coefficients: Floats


def _observe(learner: StreamingLearner, sold: Flats) -> _Path:
    """Let the learner observe sellers up to each release, and record what it releases."""
    sellers = len(sold.prices)
    clocks = []
    coefficients = []
    with bar("sellers", sellers) as report, hidden():
        while learner.clock < sellers:
            part = slice(learner.clock, learner.clock + learner.rounds_until_release)
            learner.observe_stream(sold.rows[part], sold.prices[part])
            clocks.append(learner.clock)
            coefficients.append(learner.coefficients)
            report(learner.clock - part.start)
    return _Path(np.array(clocks), np.array(coefficients))


def _least_squares(sold: Flats, clocks: Integers) -> Floats:
    """Return the coefficients by least squares on the first sellers, one row per number of them."""
    coefficients = []
    moments = np.zeros((WIDTH, WIDTH))
    products = np.zeros(WIDTH)
    for first, last in pairwise([0, *clocks.tolist()]):
        rows = sold.rows[first:last]
        moments += rows.T @ rows
        products += sold.prices[first:last] @ rows
        coefficients.append(np.linalg.lstsq(moments, products, rcond=None)[0])
    return np.array(coefficients)


def _effects(coefficients: Floats) -> Floats:
    """Effects in thousands per feature, without the constant."""
    return np.asarray(coefficients[:-1] * HALF / LONGEST, dtype=np.float64)


def _explained(new: Flats, coefficients: Floats) -> Floats:
    """Share of the variance of new prices that each row of coefficients explains."""
    errors = [np.mean((new.rows @ row - new.prices) ** 2) for row in coefficients]
    return np.asarray(1 - np.array(errors) / new.prices.var(), dtype=np.float64)


def _numbers(result: RegressionResult) -> dict[str, object]:
    """The numbers of demo.json."""
    return {
        "sellers": result.sellers,
        "epsilon": result.privacy.epsilon,
        "delta": result.privacy.delta,
        "explained": result.explained,
        "coefficients": {
            PUBLISHED: _by_name(result.effects),
            PLAIN: _by_name(result.least_squares),
        },
        "standard_errors": _by_name(result.errors),
    }


def _by_name(numbers: Floats) -> dict[str, float | None]:
    """Numbers by the name of their feature; None where a number is not known."""
    known = [None if np.isnan(number) else number for number in numbers.tolist()]
    return dict(zip(EFFECTS, known, strict=True))


def _table(result: RegressionResult) -> Table:
    """Table of the last published effects beside least squares and the truth."""
    table = table_of(
        "What a feature adds to the price of a flat, in thousands\n"
        f"{result.sellers:,} sellers, {stated(result.privacy)}",
        "feature",
        "published",
        "standard error",
        "without privacy",
        "the truth",
    )
    columns = (result.effects, result.errors, result.least_squares)
    for (name, truth), ours, error, plain in zip(EFFECTS.items(), *columns, strict=True):
        doubt = "not known" if np.isnan(error) else f"{error:.0f}"
        table.add_row(name, f"{ours:+.0f}", doubt, f"{plain:+.0f}", f"{truth:+d}")
    return table


def _point(result: RegressionResult) -> str:
    """Return the point of the demo as a sentence with its numbers."""
    explained = result.explained
    return (
        f"Published with privacy, the coefficients explain {percent(explained[PUBLISHED])} of the "
        f"variance of prices; without privacy, {percent(explained[PLAIN])}"
    )


def _picture(result: RegressionResult) -> "Figure":
    """Draw the explained variance over time (left) and the last effects (right)."""
    figure, (left, right) = pictures.panels(2, (13, 4.8))
    _draw_explained(left, result)
    _draw_effects(right, result)
    for axes in (left, right):
        pictures.open_frame(axes)
    return figure


def _draw_explained(axes: "Axes", result: RegressionResult) -> None:
    """Draw the share of the variance of new prices that is explained, over time."""
    looks = {
        PLAIN: (pictures.BLACK, "--", "no privacy:\nleast squares"),
        PUBLISHED: (pictures.BLUE, "-", "private,\npublished"),
    }
    names = []
    for method, (colour, style, name) in looks.items():
        path = result.paths[method]
        axes.plot(result.clocks, path, style, color=colour, linewidth=1.8)
        names.append(pictures.Name(float(path[-1]), name, colour))
    axes.set(ylabel="variance of prices explained", ylim=(0, 1.2 * result.explained[PLAIN]))
    pictures.count_percent(axes)
    pictures.follow_people(axes, result.clocks[0], result.sellers, "sellers")
    pictures.name_lines(axes, names)
    pictures.state_point(
        axes,
        _point(result),
        f"Measured on {JUDGES:,} new flats; the rest of the variance is chance. "
        f"ε = {result.privacy.epsilon:g}.",
    )


def _draw_effects(axes: "Axes", result: RegressionResult) -> None:
    """Draw the last published effects with their errors, and those of least squares."""
    known = np.isfinite(result.errors)
    whiskers = np.where(known, 2 * result.errors, 0.0)
    places = np.arange(len(EFFECTS))[::-1]
    axes.axvline(0, color=pictures.GREY, linewidth=0.8)
    axes.errorbar(
        result.effects,
        places,
        xerr=whiskers,
        fmt="o",
        color=pictures.BLUE,
        markersize=7,
        linewidth=1.8,
        label="private, published: ± two standard errors",
    )
    axes.plot(
        result.least_squares,
        places,
        "d",
        color=pictures.BLACK,
        markerfacecolor="none",
        markersize=9,
        zorder=3,
        label="no privacy: least squares",
    )
    axes.set_yticks(places, list(EFFECTS))
    axes.set(xlabel="effect on the price, in thousands", ylim=(-1.6, len(EFFECTS) - 0.5))
    pictures.add_legend(axes, loc="lower right", ncols=2)
    within = known & (np.abs(result.effects - result.least_squares) <= whiskers)
    point = f"{within.sum()} of {known.sum()} published ranges hold the effect without privacy"
    if not known.any():
        point = f"{result.sellers:,} sellers are too few to know the errors of the effects"
    pictures.state_point(
        axes,
        point,
        "A feature of 1 instead of 0 adds this to the price of a flat, the others being equal.",
    )
