"""Figures in one common style, saved to files without a display.

matplotlib is imported on first use, and only its figures: no window is opened and no global state
changes.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BLACK = "black"
BLUE = "#1b6ca8"
GREY = "#999999"
LIGHT_BLUE = "#7fb3d8"
PURPLE = "#8e6c8a"
RED = "#c8553d"
SAND = "#e0a458"


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
    """Return a figure of square panels, `size` inches each, in rows of at most `columns`."""
    require_matplotlib()
    from matplotlib.figure import Figure

    columns = min(columns, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(size * columns, size * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).reshape(-1)
    for empty in axes[count:]:
        empty.set_axis_off()
    return figure, list(axes[:count])


def open_frame(axes: "Axes") -> None:
    """Hide the lines at the top and on the right of a panel."""
    axes.spines[["top", "right"]].set_visible(False)


def count_people(axes: "Axes") -> None:
    """Label the horizontal axis with whole numbers such as 20,000."""
    axes.xaxis.set_major_formatter(lambda count, _: f"{count:,.0f}")


def mark_level(axes: "Axes", height: float, text: str) -> None:
    """Draw a dotted horizontal line, with its name in the right margin."""
    axes.axhline(height, color=BLACK, linewidth=0.7, linestyle=":")
    margin = axes.get_yaxis_transform()  # x in fractions of the width, y in units of the data
    axes.text(1.01, height, text, transform=margin, ha="left", va="center", fontsize=8)


def add_legend(axes: "Axes", **place: str | float | tuple[float, float]) -> None:
    """Add the names of the lines, without a frame, on a translucent background."""
    axes.legend(edgecolor="none", framealpha=0.8, fontsize=8, **place)


def save(figure: "Figure", path: Path, *, trims: bool = False) -> None:
    """Write the figure to a file, in the format of its extension; `trims` cuts empty margins."""
    figure.savefig(path, dpi=130, bbox_inches="tight" if trims else None)
