"""The map of a selection among sites: picture.png, drawn from released values and settings only.

East is on the right and north is up, in whatever order the settings name the columns. The shading
is the released histogram, where the method has released one: its price is paid, so drawing it costs
nothing. No function of this module takes records.

Guarantee   docs/guarantees/selector.md, Theorem 1 (post-processing)
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, cos, floor, log10, radians, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import pictures
from discreet.arrays import Floats, Mask
from discreet.functions.places import Nearby
from discreet.learners.labels import Label
from discreet.learners.set_selector import Chosen
from discreet.runs.files import replaced

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

PICTURE = "picture.png"
LATITUDE = frozenset({"lat", "latitude"})
LONGITUDE = frozenset({"lon", "lng", "long", "longitude"})
NORTH = LATITUDE | {"y", "north", "northing"}
EAST = LONGITUDE | {"x", "east", "easting"}
"""Words in the name of a column that state its direction."""
SIDE = 6.8
"""The longer side of the map, in inches."""
CLEAR = 2.5
"""The average number of people per drawn cell, in standard deviations of its noise."""
FEWEST, MOST = 30, 120
"""The number of drawn cells on the longer side: noise reduces it to no less than the first."""
NAMED = 26
"""The largest number of chosen sites in the key."""
LONGEST = 28
"""The largest number of characters of a site's name in the key."""


@dataclass(frozen=True)
class Orientation:
    """The coordinates that point east and north, by number, and their names."""

    east: int
    north: int
    names: tuple[str, str]
    """The names of the columns, east first."""
    is_geographic: bool
    """Whether the columns are a longitude and a latitude in degrees."""

    @classmethod
    def of(cls, columns: Sequence[str] | None) -> "Orientation":
        """Return the orientation that the names of two columns state; else the first is east.

        >>> Orientation.of(["pickup_lat", "pickup_lon"])
        Orientation(east=1, north=0, names=('pickup_lon', 'pickup_lat'), is_geographic=True)
        >>> Orientation.of(["x", "y"])
        Orientation(east=0, north=1, names=('x', 'y'), is_geographic=False)
        """
        if columns is None:
            return cls(0, 1, ("first column", "second column"), False)
        first, second = map(_words, columns)
        as_given = bool(first & EAST) + bool(second & NORTH)
        swapped = bool(second & EAST) + bool(first & NORTH)
        east = int(swapped > as_given)
        north = 1 - east
        words = (first, second)
        is_geographic = bool(words[east] & LONGITUDE and words[north] & LATITUDE)
        return cls(east, north, (columns[east], columns[north]), is_geographic)

    def stretch(self, function: Nearby) -> float:
        """Return the length of one unit north in units east: 1/cos φ for degrees, otherwise 1."""
        low, high = function.box[self.north]
        is_latitude = self.is_geographic and -89 <= low < high <= 89
        return 1 / cos(radians((low + high) / 2)) if is_latitude else 1.0


def _words(name: str) -> set[str]:
    """Return the words of a column's name in lower case.

    >>> sorted(_words("startLat")), sorted(_words("PICKUP_LON"))
    (['lat', 'start'], ['lon', 'pickup'])
    """
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


@dataclass(frozen=True, eq=False)
class Density:
    """A released histogram of people on a grid, and estimates that follow from it for free."""

    function: Nearby
    chosen: Chosen
    counts: Floats
    """The noisy counts, one axis per coordinate."""
    deviation: float
    """The standard deviation of the noise of each count."""

    @classmethod
    def of(cls, function: Nearby, chosen: Chosen) -> "Density | None":
        """Return the density that a choice has released; None without one."""
        if chosen.counts is None or chosen.counts_deviation is None:
            return None
        return cls(function, chosen, chosen.counts, chosen.counts_deviation)

    @cached_property
    def within_reach(self) -> Mask:
        """The cells whose middle is within reach of a chosen site."""
        middles = self.function.middles(self.counts.shape)
        reached = np.zeros(len(middles), dtype=np.bool_)
        for number in self.chosen.numbers:
            reached |= self.function.worth(middles, number) > 0
        return reached.reshape(self.counts.shape)

    @property
    def people_reached(self) -> str | None:
        """The estimated number of people within reach, in digits above its noise; None if few."""
        people = self.chosen.people
        noise = self.deviation * sqrt(int(self.within_reach.sum()))
        if not 0 < 4 * noise < people:
            return None
        step = 10 ** ceil(log10(noise)) if noise > 1 else 1
        estimate = round(float(self.counts[self.within_reach].sum()) / step) * step
        return f"{min(max(estimate, 0), people):,}"

    @property
    def merged(self) -> int:
        """The number of cells on each side of a drawn cell, such that people outweigh noise."""
        longer: int = max(self.counts.shape)
        people = self.chosen.people / self.counts.size
        wanted = ceil(CLEAR * self.deviation / people)
        return max(ceil(longer / MOST), min(wanted, floor(longer / FEWEST)), 1)

    def drawn(self) -> tuple[Floats, list[Floats]]:
        """Return people per drawn cell, at least 0, and the edges of these cells per coordinate."""
        people = self.counts
        edges = []
        for axis, (low, high) in enumerate(self.function.box):
            cells = self.counts.shape[axis]
            begins = np.arange(0, cells, self.merged)
            people = np.add.reduceat(people, begins, axis=axis)
            edges.append(low + (high - low) * np.append(begins, cells) / cells)
        return np.maximum(people, 0.0), edges


def write_map(
    function: Nearby, columns: Sequence[str] | None, chosen: Chosen, folder: Path
) -> None:
    """Draw the map into the folder of a choice."""
    with replaced(folder / PICTURE) as draft:
        pictures.save(draw_map(function, columns, chosen), draft, trims=True)


def draw_map(function: Nearby, columns: Sequence[str] | None, chosen: Chosen) -> "Figure":
    """Draw all sites, the chosen ones with their reach, and the released density of people."""
    orientation = Orientation.of(columns)
    density = Density.of(function, chosen)
    stretch = orientation.stretch(function)
    sites = np.array(function.sites)[:, [orientation.east, orientation.north]]
    shown = sites[chosen.numbers]  # sites outside the box may be chosen, too
    box = np.array(function.box)[[orientation.east, orientation.north]]
    left, bottom = np.minimum(box[:, 0], shown.min(axis=0))
    right, top = np.maximum(box[:, 1], shown.max(axis=0))
    height = stretch * (top - bottom) / (right - left)
    width = SIDE / max(height, 1.0)
    figure, (axes,) = pictures.panels(
        1, (max(width, 2.5) + 2.8, max(SIDE * min(height, 1.0), 2.5) + 1.6)
    )
    if density is not None:
        _shade(axes, orientation, density)
    axes.scatter(sites[:, 0], sites[:, 1], s=5, color=pictures.GREY, linewidths=0, zorder=2)
    for place, site in enumerate(shown, 1):
        _mark(axes, site, function.reach, place)
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect=stretch)
    _name_axes(axes, orientation)
    _add_key(axes, orientation, function, chosen)
    axes.set_title(_title(function, chosen, density), loc="left", fontsize=12, pad=10)
    return figure


def _shade(axes: "Axes", orientation: Orientation, density: Density) -> None:
    """Draw people per cell, with a colour bar."""
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm

    people, edges = density.drawn()
    mesh = axes.pcolormesh(
        edges[orientation.east],
        edges[orientation.north],
        people.transpose(orientation.north, orientation.east),
        cmap=LinearSegmentedColormap.from_list("people", ["white", "#f0d9ae", "#cf8a3c"]),
        norm=PowerNorm(0.7, vmin=0.0, vmax=max(float(people.max()), 1.0)),
        zorder=0,
    )
    figure = axes.get_figure()
    assert figure is not None
    bar = figure.colorbar(mesh, ax=axes, location="bottom", shrink=0.7, aspect=45, pad=0.02)
    noise = density.deviation * density.merged
    bar.set_label(f"people per cell, released with noise of ± {noise:.2g}", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    bar.ax.xaxis.set_major_formatter(lambda count, _: f"{count:,.0f}")
    bar.outline.set_visible(False)


def _mark(axes: "Axes", site: Floats, reach: float, place: int) -> None:
    """Draw a chosen site with its place in the choice, and its reach.

    Distances are those of the coordinates, so in degrees the reach is an ellipse on the map.
    """
    from matplotlib.patches import Circle

    x, y = map(float, site)
    axes.add_patch(
        Circle((x, y), reach, facecolor="none", edgecolor=pictures.BLUE, linewidth=0.9, zorder=3)
    )
    axes.plot([x], [y], "o", color=pictures.BLUE, markersize=13, markeredgecolor="white", zorder=4)
    axes.text(
        x, y, str(place), color="white", fontsize=8, ha="center", va="center_baseline", zorder=5
    )


def _name_axes(axes: "Axes", orientation: Orientation) -> None:
    """Write the names of the columns at the axes, with their unit if it is known."""
    unit = ", degrees" if orientation.is_geographic else ""
    for axis, name in zip((axes.xaxis, axes.yaxis), orientation.names, strict=True):
        axis.set_label_text(f"{name}{unit}", parse_math=False)
    axes.locator_params(nbins=6)
    axes.ticklabel_format(useOffset=False, style="plain")
    axes.tick_params(labelsize=8)
    pictures.open_frame(axes)


def _add_key(axes: "Axes", orientation: Orientation, function: Nearby, chosen: Chosen) -> None:
    """List the chosen sites by their places, and explain the marks, beside the map."""
    from matplotlib.lines import Line2D

    dot = _mark_of_key(color=pictures.BLUE, markersize=13, markeredgecolor="white")
    handles: list[Line2D | tuple[Line2D, Line2D]] = []
    names = [_shortened(item) for item in chosen.items[:NAMED]]
    for place in range(1, len(names) + 1):
        size = 6 if place < 10 else 8
        number = _mark_of_key(f"${place}$", color="white", markersize=size, markeredgewidth=0.2)
        handles.append((dot, number))  # drawn one over the other
    if len(chosen.items) > NAMED:
        handles.append(Line2D([], [], linestyle=""))
        names.append(f"and {len(chosen.items) - NAMED} more: see report.md")
    degrees = "°" if orientation.is_geographic else ""
    handles.append(_mark_of_key(markerfacecolor="none", color=pictures.BLUE, markersize=11))
    names.append(f"reach: {function.reach:g}{degrees}")
    handles.append(_mark_of_key(color=pictures.GREY, markersize=2.5))
    names.append("not chosen")
    key = axes.legend(
        handles,
        ["name"] * len(names),
        loc="upper left",
        bbox_to_anchor=(1.02, 1.0),
        frameon=False,
        fontsize=9,
        borderaxespad=0.0,
    )
    for text, name in zip(key.get_texts(), names, strict=True):
        text.set_parse_math(False)  # a name may have a $, or begin with _
        text.set_text(name)


def _mark_of_key(marker: str = "o", **style: Any) -> "Line2D":
    """Return a mark without a line, for the key."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="", marker=marker, **style)


def _shortened(item: Label) -> str:
    """Return the name of a site in one line, cut to LONGEST characters."""
    line = f"site {item}" if isinstance(item, int) else " ".join(item.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _title(function: Nearby, chosen: Chosen, density: Density | None) -> str:
    """Return the point of the map in one line, from released values only."""
    sites = f"{len(chosen.items)} of {len(function.sites):,} sites"
    guarantee = chosen.guarantee
    epsilon = "simulated, not private" if guarantee.simulated else f"ε = {guarantee.epsilon:.3g}"
    people = f"{chosen.people:,} people ({epsilon})"
    reached = None if density is None else density.people_reached
    if reached is not None:
        return f"{sites} reach about {reached} of {people}"
    return f"{sites}, chosen for {people}"
