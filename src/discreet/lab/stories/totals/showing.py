"""The totals story, told: a table, a guarantee, and a picture of totals and of what mechanisms are worth."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from discreet import pictures
from discreet.budget.privacy import Privacy
from discreet.lab.stories.page import Page, asked, table_of
from discreet.lab.stories.totals.results import AFRESH, TotalsResult, compute_totals
from discreet.lab.streams import CATEGORIES

__all__ = ["draw_totals", "tell_totals"]

COLOURS = (pictures.BLUE, pictures.RED, pictures.GREEN, pictures.PURPLE)
METHODS = {
    "tree": (pictures.GREY, "-", "binary tree"),
    "honaker": (pictures.RED, "-", "Honaker's tree"),
    "toeplitz": (pictures.BLUE, "-", "Toeplitz, 8 buffers"),
    "fresh": (pictures.GREEN, "-", "each shopper noised once"),
    AFRESH: (pictures.BLACK, "--", "each total noised afresh"),
}


def tell_totals(
    people: int, privacy: Privacy, folder: Path, *, seed: int | None, console: Console
) -> dict[str, Any]:
    """Publish private running totals of a made-up month, print a table, and write demo.png and demo.json."""
    page = Page.opened(folder, "demo", console)
    result = compute_totals(people, privacy, seed=seed, bar=page.bar)
    speed = f"{people:,} releases in {result.seconds:.1f} s"
    off = f"the last totals are off by {result.standard_deviation:.1f} shoppers, typically."
    said = [_table(result), f"{speed}; {off}", str(result.guarantee)]
    return page.show(result.report(), said, draw_totals(result))


def _table(result: TotalsResult) -> Table:
    title = f"{result.people:,} shoppers, {asked(result.privacy)}"
    table = table_of(title, "category", "true total", "published", "off by")
    for category, true, private in zip(CATEGORIES, result.truth[-1], result.published[-1], strict=True):
        off = f"{abs(private / true - 1):.2%}" if true else "-"
        table.add_row(category, f"{true:,.0f}", f"{private:,.1f}", off)
    return table


def draw_totals(result: TotalsResult) -> Any:
    """Left: truth and publication; right: what the choice of mechanism is worth."""
    figure, (left, right) = pictures.panels(2, (12, 4.6))
    _draw_months(left, result)
    _draw_mechanisms(right, result)
    return figure


def _draw_months(axes: Any, result: TotalsResult) -> None:
    shown = np.unique(np.linspace(0, result.people - 1, 800).astype(int))
    for column, (category, colour) in enumerate(zip(CATEGORIES, COLOURS, strict=True)):
        truth, published = result.truth[shown, column], result.published[shown, column]
        axes.plot(shown + 1, truth, color=pictures.BLACK, linewidth=0.9, linestyle=":", zorder=3)
        axes.plot(shown + 1, published, color=colour, linewidth=1.8, label=category)
    axes.plot([], [], color=pictures.BLACK, linewidth=0.8, linestyle=":", label="truth")
    axes.set(
        xlabel="shoppers so far",
        ylabel="shoppers who bought",
        title="Published after every shopper",
    )
    pictures.add_legend(axes, loc="upper left")
    pictures.count_people(axes)
    pictures.open_frame(axes)


def _draw_mechanisms(axes: Any, result: TotalsResult) -> None:
    for method, deviation in result.deviations.items():
        colour, style, label = METHODS[method]
        width = 0.8 if method == AFRESH else 1.8
        axes.plot(result.releases, deviation, color=colour, linestyle=style, linewidth=width, label=label)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="releases",
        ylabel="noise in the last total (people)",
        title="What the mechanism is worth",
        ylim=(1, 2000),
    )
    pictures.add_legend(axes, loc="upper left")
    pictures.open_frame(axes)
