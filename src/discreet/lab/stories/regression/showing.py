"""The regression story, told: a table, a guarantee, and published coefficients over time with error bands."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from discreet import pictures
from discreet.budget.privacy import Privacy
from discreet.lab.stories.page import Page, asked, percent, table_of
from discreet.lab.stories.regression.results import (
    DISCREET,
    EFFECTS,
    FEATURES,
    LEAST_SQUARES,
    PLAIN,
    PRICES,
    RegressionResult,
    compute_regression,
)

__all__ = ["draw_regression", "tell_regression"]

SHOWN = {"size": pictures.BLUE, "distance": pictures.RED, "rooms": pictures.PURPLE}
"""The features whose coefficients are drawn."""
PROTECTED = {LEAST_SQUARES: "none"}


def tell_regression(
    sellers: int, privacy: Privacy, folder: Path, *, seed: int | None, console: Console
) -> dict[str, Any]:
    """Let the same sellers come to everybody; print tables, write demo.png and demo.json."""
    page = Page.opened(folder, "demo", console)
    result = compute_regression(sellers, privacy, seed=seed, bar=page.bar)
    said = [_table(result), _coefficients(result), str(result.guarantee)]
    return page.show(result.report(), said, draw_regression(result))


def _table(result: RegressionResult) -> Table:
    title = f"{result.sellers:,} sellers, {asked(result.privacy)}"
    table = table_of(title, "who learns", "prices explained", "protection")
    for name, share in sorted(result.explained.items(), key=lambda pair: pair[1]):
        promise = PROTECTED.get(name, f"epsilon = {result.privacy.epsilon:g}")
        table.add_row(name, percent(max(share, 0.0)), promise)
    return table


def _coefficients(result: RegressionResult) -> Table:
    """What is public in the end: it names no seller."""
    heading = "Published in the end: what a feature adds to a price, in thousands"
    table = table_of(heading, "", DISCREET, "give or take", LEAST_SQUARES, "the truth")
    ours, plain = result.paths[DISCREET], result.paths[LEAST_SQUARES]
    for place, name in enumerate(FEATURES):
        truth = EFFECTS[place] * (PRICES[1] - PRICES[0]) / 2
        numbers = (ours.coefficients[-1, place], plain.coefficients[-1, place], truth)
        found, squares, right = (f"{number:+.0f}" for number in numbers)
        table.add_row(name, found, f"{ours.errors[-1, place]:.0f}", squares, right)
    return table


def draw_regression(result: RegressionResult) -> Any:
    """Left: ours over time with error bands; right: the leader on rows that were not measured."""
    figure, axes = pictures.panels(2, (13, 4.8))
    titles = (f"discreet (ε = {result.privacy.epsilon:g}): rows are measured first", PLAIN)
    for one, name, title in zip(axes, (DISCREET, PLAIN), titles, strict=True):
        _draw_path(one, result, name, title)
    return figure


def _draw_path(axes: Any, result: RegressionResult, name: str, title: str) -> None:
    path, plain = result.paths[name], result.paths[LEAST_SQUARES]
    for feature, colour in SHOWN.items():
        place = FEATURES.index(feature)
        middle, error = path.coefficients[:, place], path.errors[:, place]
        known = np.isfinite(error)
        axes.plot(path.sellers, middle, color=colour, linewidth=2.2, label=f"{feature}, published")
        low, high = (middle + sign * 2 * error for sign in (-1, 1))
        axes.fill_between(path.sellers[known], low[known], high[known], color=colour, alpha=0.15, linewidth=0)
        end = plain.coefficients[-1, place]
        axes.axhline(end, color=colour, linestyle="--", linewidth=1.2, label=f"{feature}, {LEAST_SQUARES}")
    most = 1.6 * max(abs(effect) for effect in EFFECTS) * (PRICES[1] - PRICES[0]) / 2
    axes.set(xlabel="sellers", ylabel="adds to a price, in thousands", title=title, ylim=(-most, most))
    pictures.add_legend(axes, ncols=len(SHOWN), loc="lower center")
    pictures.count_people(axes)
    pictures.open_frame(axes)
