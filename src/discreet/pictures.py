"""Pictures without a display: one look for all of them, saved to files.

matplotlib is imported on first use, and only its figures: no window is opened and no global state
is changed.
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
    """Refuse, with the remedy, if pictures cannot be drawn. To be called before the work that
    they show.
    """
    try:
        import_module("matplotlib.figure")
    except ImportError:
        raise ConfigError("pictures need matplotlib: pip install 'discreet[lab]'") from None


def panels(count: int, size: tuple[float, float]) -> "tuple[Figure, list[Axes]]":
    """A figure of so many inches, and the axes of its panels, side by side."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, count, squeeze=False)
    return figure, list(axes[0])


def panel_grid(count: int, *, columns: int, size: float) -> "tuple[Figure, list[Axes]]":
    """A figure of square panels, so many inches each, in rows of at most so many."""
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
    """Leave out the lines at the top and on the right."""
    axes.spines[["top", "right"]].set_visible(False)


def count_people(axes: "Axes") -> None:
    """Label the horizontal axis with whole numbers such as 20,000."""
    axes.xaxis.set_major_formatter(lambda count, _: f"{count:,.0f}")


def mark_level(axes: "Axes", height: float, text: str) -> None:
    """A dotted line across, named in the margin on the right."""
    axes.axhline(height, color=BLACK, linewidth=0.7, linestyle=":")
    margin = axes.get_yaxis_transform()  # across in parts of the width, up in units of the data
    axes.text(1.01, height, text, transform=margin, ha="left", va="center", fontsize=8)


def add_legend(axes: "Axes", **place: str | float | tuple[float, float]) -> None:
    """Names of the lines, without a frame, readable where lines pass below."""
    axes.legend(edgecolor="none", framealpha=0.8, fontsize=8, **place)


def save(figure: "Figure", path: Path) -> None:
    """Write the figure, in the format that the name ends with."""
    figure.savefig(path, dpi=130)
