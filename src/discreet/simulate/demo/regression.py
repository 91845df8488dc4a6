"""`discreet demo --story regression`: what drives the price of a flat, published while sellers come
in.

No seller can be found in the coefficients. Least squares on the same sellers cannot be published.
"""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from discreet import pictures, warm_up
from discreet.arrays import Floats
from discreet.budget.privacy import Privacy
from discreet.learners.streaming_learner import StreamingLearner
from discreet.losses import SquaredLoss
from discreet.optim.domains import LpBall
from discreet.progress import bars_on
from discreet.simulate.demo.page import asked, percent, show, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


EFFECTS = {"size": 150, "rooms": 25, "distance": -90, "age": -50, "floor": 15, "balcony": 30}
"""What a feature of 1 in place of 0 adds to a price, in thousands."""
HALF = 500
"""Half of the public range of prices, in thousands."""
SCATTER = 60
"""The standard deviation of prices around what features say, in thousands."""
WIDTH = len(EFFECTS) + 1
"""How many numbers a row has: features, and a constant."""
LONGEST = WIDTH**0.5
"""The length of a row of features between −1 and 1, and a constant."""
BETWEEN_BANDS = 5
"""Releases from one standard error that is drawn to the next: each takes some hundredths of a
second.
"""
JUDGES = 20_000
"""New flats on which coefficients are judged."""
DRAWN = {"size": pictures.BLUE, "distance": pictures.RED, "rooms": pictures.PURPLE}


def flats(count: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Flats, one row each, with a constant: rows of a length of at most 1, prices in [−1, 1]."""
    size = np.clip(generator.normal(-0.4, 0.25, size=count), -1, 1)
    rooms = np.clip(0.9 * size + generator.normal(0, 0.1, size=count), -1, 1)
    others = np.clip(generator.normal(-0.3, 0.35, size=(count, 3)), -1, 1)
    balcony = np.sign(generator.uniform(-1, 1, size=count))
    features = np.column_stack([size, rooms, others, balcony])
    prices = features @ list(EFFECTS.values()) - 100 + generator.normal(0, SCATTER, size=count)
    return np.column_stack([features, np.ones(count)]) / LONGEST, np.clip(prices / HALF, -1, 1)


def tell_regression(
    sellers: int, privacy: Privacy, folder: Path, *, seed: int | None, console: Console
) -> dict[str, object]:
    """Publish coefficients while sellers come in; print tables, write demo.png and demo.json."""
    pictures.require_matplotlib()
    learner = StreamingLearner(
        LpBall(len(EFFECTS) + 1, 2.0, LONGEST),
        SquaredLoss(),
        sellers,
        privacy,
        feature_bound=1.0,
        target_bound=1.0,
        seed=seed,
    )
    warm_up(learner)
    began = time.perf_counter()
    rows, prices = flats(sellers, np.random.default_rng([seed or 0, 7]))
    clocks, path = [], []
    with bars_on(console)("sellers", sellers) as report:
        while learner.clock < sellers:
            part = slice(learner.clock, learner.clock + learner.rounds_until_release)
            learner.observe_stream(rows[part], prices[part])
            clocks.append(learner.clock)
            drawn = learner.releases % BETWEEN_BANDS == 0 or learner.clock == sellers
            errors = learner.standard_errors if drawn else np.full(WIDTH, np.nan)
            path.append((learner.coefficients, errors))
            report(learner.clock - part.start)
    plain = np.linalg.lstsq(rows, prices, rcond=None)[0]
    # What a feature of 1 in place of 0 adds, in thousands, without the constant: releases × 2 ×
    # features.
    published = np.array(path)[:, :, :-1] * HALF / LONGEST
    squares = plain[:-1] * HALF / LONGEST
    tests, truths = flats(JUDGES, np.random.default_rng([seed or 0, 8]))
    found = {"discreet": learner.coefficients, "least squares": plain}
    explained = {
        name: float(1 - np.mean((tests @ each - truths) ** 2) / truths.var())
        for name, each in found.items()
    }
    numbers = {
        "sellers": sellers,
        "epsilon": privacy.epsilon,
        "delta": privacy.delta,
        "explained": explained,
        "coefficients": {
            "discreet": _by_name(published[-1, 0]),
            "least squares": _by_name(squares),
        },
        "standard_errors": _by_name(published[-1, 1]),
        "seconds": time.perf_counter() - began,
        "simulated": seed is not None,
    }
    shares = ", ".join(f"{name} {percent(share)}" for name, share in explained.items())
    said = [
        _coefficients(f"{sellers:,} sellers, {asked(privacy)}", published[-1], squares),
        f"Variance of prices explained: {shares}.",
        str(learner.guarantee),
    ]
    return show(
        console, folder, said, _picture(np.array(clocks), published, squares, privacy), numbers
    )


def _by_name(numbers: Floats) -> dict[str, float | None]:
    """Numbers by the feature that they belong to; None where there is none."""
    known = [None if np.isnan(number) else number for number in numbers.tolist()]
    return dict(zip(EFFECTS, known, strict=True))


def _coefficients(title: str, published: Floats, squares: Floats) -> Table:
    """What is public in the end: it names no seller."""
    table = table_of(
        title, "adds, in thousands", "discreet", "give or take", "least squares", "the truth"
    )
    for (name, truth), ours, error, plain in zip(EFFECTS.items(), *published, squares, strict=True):
        doubt = "not known" if np.isnan(error) else f"{error:.0f}"
        table.add_row(name, f"{ours:+.0f}", doubt, f"{plain:+.0f}", f"{truth:+d}")
    return table


def _picture(sellers: Any, published: Floats, squares: Floats, privacy: Privacy) -> "Figure":
    """Published coefficients over time, with their bands, and least squares on all sellers."""
    figure, (axes,) = pictures.panels(1, (8.5, 5))
    for name, colour in DRAWN.items():
        place = list(EFFECTS).index(name)
        middle, error = published[:, 0, place], published[:, 1, place]
        known = np.isfinite(error)
        axes.plot(sellers, middle, color=colour, linewidth=2.2, label=f"{name}, published")
        axes.axhline(squares[place], color=colour, linestyle="--", label=f"{name}, least squares")
        bands = (middle - 2 * error)[known], (middle + 2 * error)[known]
        axes.fill_between(sellers[known], *bands, color=colour, alpha=0.15, linewidth=0)
    axes.set(
        xlabel="sellers",
        ylabel="adds to a price, in thousands",
        title=f"What drives prices (ε = {privacy.epsilon:g}, bands: two standard errors)",
        ylim=(-300, 300),
    )
    pictures.add_legend(axes, ncols=len(DRAWN), loc="lower center")
    pictures.count_people(axes)
    pictures.open_frame(axes)
    return figure
