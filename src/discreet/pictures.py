"""Figures in one common style, saved to files without a display.

The title of a figure is a sentence that states its point, with a measured number (`state_point`). A
panel has at most four lines; their names stand at their right ends (`name_lines`). The colours
differ for readers with any kind of colour blindness, too.

matplotlib is imported on first use, and only its figures: no window is opened and no global state
changes.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

from discreet.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BLACK = "#000000"
BLUE = "#1b6ca8"
GOLD = "#be8705"
GREY = "#8a8a8a"
LIGHT_BLUE = "#7fb3d8"
RED = "#b03a12"
NOTES = "#555555"
"""The colour of notes, which no line has."""
TITLE_SIZE, NAME_SIZE, NOTE_SIZE = 12.0, 9.5, 8.5
"""Sizes of letters, in points."""
LETTERS_PER_INCH = 128
"""Number of letters of one point per inch, on average."""
LEFT_OF_PANEL, ABOVE_AND_BELOW = 0.8, 1.3
"""Room for the labels of the axes, in inches, roughly."""
AROUND_PANELS = 0.9
"""Room for the title and the legend of several panels, in inches."""
MANY_TIMES = 30
"""A range of numbers of people from one to this many times as many has a logarithmic axis."""


def require_matplotlib() -> None:
    """Raise if matplotlib is missing; call it before the work that a picture shows."""
    try:
        import_module("matplotlib.figure")
    except ImportError:
        raise ConfigError("pictures need matplotlib: pip install 'discreet[lab]'") from None


def panels(count: int, size: tuple[float, float]) -> "tuple[Figure, list[Axes]]":
    """Return a figure of this size in inches, and the axes of `count` panels side by side."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, count, squeeze=False)
    return figure, list(axes[0])


def panel_grid(count: int, *, columns: int, size: float) -> "tuple[Figure, list[Axes]]":
    """Return a figure of square panels, `size` inches each, in rows of at most `columns`.

    There is room for the point of the figure above them, and for a common legend below.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    columns = min(columns, count)
    rows = -(-count // columns)
    height = size * rows + AROUND_PANELS
    figure = Figure(figsize=(size * columns, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).reshape(-1)
    for empty in axes[count:]:
        empty.set_axis_off()
    return figure, list(axes[:count])


def open_frame(axes: "Axes") -> None:
    """Hide the lines at the top and on the right of a panel."""
    axes.spines[["top", "right"]].set_visible(False)


def state_point(axes: "Axes", title: str, note: str = "", *, size: float = TITLE_SIZE) -> None:
    """Write the point of a panel above it, and in grey what a reader must know to read it.

    One of several panels has the name of what it shows there, in letters of `NAME_SIZE`.
    """
    note = _wrapped(note, _letters(axes, NOTE_SIZE))
    lines = note.count("\n") + 1 if note else 0
    title = _wrapped(title, _letters(axes, size))
    axes.set_title(title, loc="left", fontsize=size, pad=8 + 1.4 * NOTE_SIZE * lines)
    axes.annotate(
        note,
        (0, 1),
        (0, 6),
        xycoords="axes fraction",
        textcoords="offset points",
        va="bottom",
        fontsize=NOTE_SIZE,
        color=NOTES,
        annotation_clip=False,
    )


def state_point_of_all(figure: "Figure", title: str) -> None:
    """Write the point of a figure of several panels above all of them."""
    title = _wrapped(title, round(figure.get_figwidth() * LETTERS_PER_INCH / TITLE_SIZE))
    figure.suptitle(title, x=0.01, ha="left", fontsize=TITLE_SIZE)


def _figure_of(axes: "Axes") -> "Figure":
    from matplotlib.figure import Figure

    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    return figure


def _wrapped(text: str, letters: int) -> str:
    """Return a text in lines of at most this many letters; a number keeps its unit."""
    kept = text.replace(" %", "\N{NO-BREAK SPACE}%").replace(
        " = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
    )
    return fill(kept, letters)


def _letters(axes: "Axes", size: float) -> int:
    """Return how many letters of this size fit above a panel."""
    place = axes.get_subplotspec()
    assert place is not None
    width = _figure_of(axes).get_figwidth() / place.get_gridspec().ncols - LEFT_OF_PANEL
    return round(width * LETTERS_PER_INCH / size)


def count_people(axes: "Axes") -> None:
    """Label the horizontal axis with whole numbers such as 20,000."""
    axes.xaxis.set_major_formatter(lambda count, _: f"{count:,.0f}")


def count_percent(axes: "Axes") -> None:
    """Label the vertical axis of shares with percentages such as 80 %."""
    axes.yaxis.set_major_formatter(lambda share, _: f"{round(100 * share)} %".replace("-", "−"))


def follow_people(axes: "Axes", first: float, last: float, who: str) -> None:
    """Make the horizontal axis that of a number of people so far.

    The axis is logarithmic if the start would be hidden otherwise.
    """
    from matplotlib.ticker import LogLocator

    axes.set_xlabel(f"{who} so far")
    axes.set_xlim(0, last)
    if last >= MANY_TIMES * first:
        axes.set_xscale("log")
        axes.set_xlim(first, last)
        axes.set_xlabel(f"{who} so far (logarithmic axis)")
        digits = (1.0,) if last >= 1000 * first else (1.0, 3.0)
        axes.xaxis.set_major_locator(LogLocator(subs=digits))
    count_people(axes)


class Name(NamedTuple):
    """The name of a line, and the height at which the line ends."""

    height: float
    text: str
    colour: str


def name_lines(axes: "Axes", names: Iterable[Name]) -> None:
    """Write names of lines in the right margin, at their heights or, to be legible, near them.

    The vertical axis does not change afterwards.
    """
    axes.autoscale_view()
    row = 1.4 * NAME_SIZE / 72 / (_figure_of(axes).get_figheight() - ABOVE_AND_BELOW)
    ordered = sorted(names)
    rows = [row * (name.text.count("\n") + 1) for name in ordered]
    to_place = axes.transData + axes.transAxes.inverted()
    wanted = [float(to_place.transform((1.0, name.height))[1]) for name in ordered]
    for name, place in zip(ordered, spread(wanted, rows), strict=True):
        axes.text(
            1.02,
            place,
            name.text,
            transform=axes.transAxes,
            color=name.colour,
            fontsize=NAME_SIZE,
            va="center",
        )


def spread(wanted: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Return places from 0 to 1 near the wanted ones, in their order, that leave room for all.

    >>> [round(place, 2) for place in spread([0.2, 0.98, 1.0], [0.1, 0.1, 0.1])]
    [0.2, 0.85, 0.95]
    """
    ends: list[float] = []
    end = 0.0
    for place, size in zip(wanted, sizes, strict=True):  # upwards: none below the one before
        end = max(place + size / 2, end + size)
        ends.append(end)
    limit = max(1.0, sum(sizes))
    places: list[float] = []
    for end, size in zip(reversed(ends), reversed(sizes), strict=True):  # downwards: none too high
        limit = min(end, limit) - size
        places.append(limit + size / 2)
    return places[::-1]


def mark_level(axes: "Axes", height: float, text: str) -> None:
    """Draw a dotted horizontal line, with its name in the right margin."""
    axes.axhline(height, color=BLACK, linewidth=0.7, linestyle=":")
    margin = axes.get_yaxis_transform()  # x in fractions of the width, y in units of the data
    axes.text(1.01, height, text, transform=margin, ha="left", va="center", fontsize=8)


def add_legend(axes: "Axes", **place: str | float | tuple[float, float]) -> None:
    """Add the names of the lines, without a frame, on a translucent background."""
    axes.legend(edgecolor="none", framealpha=0.8, fontsize=8, **place)


def add_common_legend(figure: "Figure", lines: Mapping[str, "Artist"], *, columns: int) -> None:
    """Add the names of the lines that several panels share, below all panels."""
    figure.legend(
        list(lines.values()),
        list(lines),
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=NAME_SIZE,
    )


def save(figure: "Figure", path: Path, *, trims: bool = False) -> None:
    """Write the figure to a file, in the format of its extension; `trims` cuts empty margins."""
    figure.savefig(path, dpi=130, bbox_inches="tight" if trims else None)
