"""The story of the sites, told: a table, a guarantee, and maps of where people live and what is opened."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from discreet import pictures
from discreet.arrays import Floats
from discreet.budget.privacy import Privacy
from discreet.lab.stories.page import Page, asked, percent, table_of
from discreet.lab.stories.sites.results import OPEN, STRICTER, WITHOUT, SitesResult, compute_sites

__all__ = ["draw_sites", "tell_sites"]

GRID = 120
"""Cells of the map of homes, across and up."""
BLUR = 2.0
"""How far homes are smeared, in cells."""
GROUND = ("#fbfaf6", "#f3e3c3", pictures.SAND, "#a8622a")
"""From where nobody lives to where most do."""


def tell_sites(
    people: int, privacy: Privacy, folder: Path, *, seed: int | None, console: Console
) -> dict[str, Any]:
    """Let everybody open sites for the same people; print a table, write demo.png and demo.json."""
    page = Page.opened(folder, "demo", console)
    result = compute_sites(people, privacy, seed=seed, bar=page.bar)
    said = [_table(result), f"Why this method: {result.why}.", str(result.guarantee)]
    return page.show(result.report(), said, draw_sites(result))


def _table(result: SitesResult) -> Table:
    title = f"{len(result.homes):,} homes, 10 of {len(result.sites)} sites, {asked(result.privacy)}"
    table = table_of(title, "who chooses", "worth to all", "share kept", "protection")
    shares = result.shares
    for name in sorted(shares, key=lambda name: shares[name]):
        opened = result.choices.get(name)
        worth, protection = (
            (result.by_lot, "perfect") if opened is None else (opened.value, opened.protection)
        )
        table.add_row(name, f"{worth:,.0f}", percent(shares[name]), protection)
    return table


def draw_sites(result: SitesResult) -> Any:
    """Three maps: sites without privacy, with it, and with ten times as much of it."""
    figure, axes = pictures.panels(3, (15, 5.9))
    density = _density(result.homes)
    shares = result.shares
    titles = {
        WITHOUT: "without privacy",
        OPEN: f"ε = {result.privacy.epsilon:g}: {percent(shares[OPEN])} of the worth",
        STRICTER: f"ε = {result.privacy.epsilon / 10:g}: {percent(shares[STRICTER])} of the worth",
    }
    for panel, (name, title) in zip(axes, titles.items(), strict=True):
        _draw_map(panel, result, density, name)
        panel.set_title(title, fontsize=12, pad=8)
    _add_key(figure)
    return figure


def _density(homes: Floats) -> Floats:
    """Homes a cell, smeared a little."""
    from scipy.ndimage import gaussian_filter

    counts = np.histogram2d(homes[:, 1], homes[:, 0], bins=GRID, range=((0, 1), (0, 1)))[0]
    return np.asarray(gaussian_filter(counts, BLUR), dtype=np.float64)


def _draw_map(axes: Any, result: SitesResult, density: Floats, name: str) -> None:
    from matplotlib.collections import EllipseCollection
    from matplotlib.colors import LinearSegmentedColormap

    ground = LinearSegmentedColormap.from_list("ground", GROUND)
    axes.imshow(
        np.sqrt(density),  # so that villages are seen beside the centre
        origin="lower",
        extent=(0, 1, 0, 1),
        cmap=ground,
        interpolation="bilinear",
    )
    axes.scatter(*result.sites.T, s=2.5, color=pictures.GREY, alpha=0.45, linewidths=0)
    here = result.sites[result.choices[name].chosen]
    widths = np.full(len(here), 2 * result.reach)
    axes.add_collection(
        EllipseCollection(
            widths,
            widths,
            np.zeros(len(here)),
            units="xy",
            offsets=here,
            offset_transform=axes.transData,
            facecolors="none",
            edgecolors=pictures.GREY if name == WITHOUT else pictures.BLUE,
            linewidths=0.8,
            linestyles="--",
            alpha=0.7,
        )
    )
    if name != WITHOUT:
        plain = result.sites[result.choices[WITHOUT].chosen]
        axes.scatter(*plain.T, s=190, facecolors="none", edgecolors=pictures.BLACK, linewidths=1.1)
    colour = pictures.BLACK if name == WITHOUT else pictures.BLUE
    axes.scatter(*here.T, s=75, color=colour, edgecolors="white", linewidths=1.2, zorder=3)
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_color(pictures.GREY)


def _add_key(figure: Any) -> None:
    """What the signs mean, below all maps."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def dot(label: str, **looks: Any) -> Any:
        return Line2D([], [], linestyle="none", marker="o", label=label, **looks)

    edge = {"markersize": 9, "markeredgecolor": "white"}
    keys = [
        Patch(facecolor=pictures.SAND, label="where people live"),
        dot("a site that could be opened", color=pictures.GREY, markersize=2.5),
        dot("opened without privacy", color=pictures.BLACK, **edge),
        dot("opened with privacy", color=pictures.BLUE, **edge),
        dot("where it would be without", markerfacecolor="none", color=pictures.BLACK, markersize=12),
        Line2D([], [], color=pictures.BLUE, linewidth=0.8, linestyle="--", label="how far it is of use"),
    ]
    figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), frameon=False, fontsize=9)
