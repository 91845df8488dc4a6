"""The bundle story, told: a table, a guarantee, and a picture of what bundles cost and how one forms."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from discreet import pictures
from discreet.budget.privacy import Privacy
from discreet.lab.stories.bundle.results import FOLLOWED, ITEMS, PLAIN, BundleResult, compute_bundle
from discreet.lab.stories.page import Page, a_person, asked, percent, table_of

__all__ = ["draw_bundle", "tell_bundle"]

COLOURS = {
    "discreet, cost of the bundle, drifting": pictures.SAND,
    "discreet, cost of the bundle, i.i.d.": pictures.RED,
    FOLLOWED: pictures.BLUE,
    PLAIN: pictures.BLACK,
}
MOMENTS = 300
"""How many points of the followed bundle are shown."""


def tell_bundle(
    visitors: int, privacy: Privacy, folder: Path, *, seed: int | None, console: Console
) -> dict[str, Any]:
    """Let all contenders meet the same visitors; print a table, write demo.png and demo.json."""
    page = Page.opened(folder, "demo", console)
    result = compute_bundle(visitors, privacy, seed=seed, bar=page.bar)
    return page.show(result.report(), [_table(result), str(result.guarantee)], draw_bundle(result))


def _table(result: BundleResult) -> Table:
    title = f"{result.visitors:,} visitors, {ITEMS} items, {asked(result.privacy)}"
    table = table_of(title, "who chooses", "cost", "share of the gain kept")
    table.add_row("best of nothing, everything, random", f"{result.naive:,.0f}", percent(0.0))
    for name, cost in result.costs.items():
        table.add_row(name, f"{cost:,.0f}", percent(result.shares[name]))
    best = f"best in hindsight ({len(result.best_bundle)} items)"
    table.add_row(best, f"{result.hindsight:,.0f}", percent(1.0))
    return table


def draw_bundle(result: BundleResult) -> Any:
    """Left: cost a visitor over time; right: how the bundle forms, item by item."""
    figure, (left, right) = pictures.panels(2, (13, 4.8))
    _draw_costs(left, result)
    figure.colorbar(_draw_bundle_forming(right, result), ax=right, label="chance to be in the bundle")
    return figure


def _draw_costs(axes: Any, result: BundleResult) -> None:
    for name, run in result.runs.items():
        people, costs = a_person(run.visitors, run.spent, parts=60)
        style = "--" if name == PLAIN else "-"
        axes.plot(people, costs, color=COLOURS[name], linewidth=1.7, label=name, linestyle=style)
    naive, best = result.naive / result.visitors, result.hindsight / result.visitors
    pictures.mark_level(axes, naive, "nothing,\neverything\nor random")
    pictures.mark_level(axes, best, "best in\nhindsight")
    axes.set(
        xlabel="visitors",
        ylabel="cost a visitor",
        title="What bundles cost while the shop learns",
        ylim=(best - 0.15 * (naive - best), None),
    )
    pictures.add_legend(axes, loc="upper right")
    pictures.count_people(axes)
    pictures.open_frame(axes)


def _draw_bundle_forming(axes: Any, result: BundleResult) -> Any:
    """One row an item, those of the best bundle first; the darker, the more likely it is in the bundle."""
    inside = np.isin(np.arange(ITEMS), result.best_bundle)
    order = np.lexsort((-result.points[-1], ~inside))
    ends = result.runs[FOLLOWED].visitors[1:]
    moments = np.linspace(0, result.visitors, MOMENTS, endpoint=False)
    image = result.points[np.searchsorted(ends, moments, side="right")][:, order].T
    drawn = axes.imshow(
        image,
        aspect="auto",
        cmap="Blues",
        interpolation="nearest",
        vmin=0,
        vmax=1,
        extent=(0, result.visitors, ITEMS - 0.5, -0.5),
    )
    border = len(result.best_bundle)
    axes.axhline(border - 0.5, color=pictures.RED, linewidth=1.2)
    axes.text(
        result.visitors * 0.99,
        border - 0.7,
        "best bundle in hindsight: above this line",
        ha="right",
        va="bottom",
        fontsize=8,
        color=pictures.RED,
        bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1.5},
    )
    axes.set(xlabel="visitors", ylabel="item", title="How the private bundle forms (whole costs)")
    axes.set_yticks(range(ITEMS), [str(item) for item in order], fontsize=7)
    pictures.count_people(axes)
    return drawn
