"""Pictures without a display: one look for all of them, saved to files.

matplotlib is imported on first use, and only its figures: no window is opened and no global state is changed.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

from discreet.errors import ConfigError

__all__ = [
    "BLACK",
    "BLUE",
    "GREEN",
    "GREY",
    "LIGHT_BLUE",
    "PURPLE",
    "RED",
    "SAND",
    "count_people",
    "mark_level",
    "open_frame",
    "panels",
    "require_matplotlib",
    "save",
]

BLACK = "black"
BLUE = "#1b6ca8"
GREEN = "#588157"
GREY = "#999999"
LIGHT_BLUE = "#7fb3d8"
PURPLE = "#8e6c8a"
RED = "#c8553d"
SAND = "#e0a458"


def require_matplotlib() -> None:
    """Refuse, with the remedy, if pictures cannot be drawn. To be called before the work that they show."""
    try:
        import_module("matplotlib.figure")
    except ImportError:
        raise ConfigError("pictures need matplotlib: pip install 'discreet[lab]'") from None


def panels(count: int, size: tuple[float, float]) -> tuple[Any, list[Any]]:
    """A figure of so many inches, and the axes of its panels, side by side."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, count, squeeze=False)
    return figure, list(axes[0])


def open_frame(axes: Any) -> None:
    """Leave out the lines at the top and on the right."""
    axes.spines[["top", "right"]].set_visible(False)


def count_people(axes: Any) -> None:
    """Label the horizontal axis with whole numbers such as 20,000."""
    axes.xaxis.set_major_formatter(lambda count, _: f"{count:,.0f}")


def mark_level(axes: Any, height: float, text: str, *, at: float, left: bool = False, above: bool = True) -> None:
    """A dotted line across, with a text that begins (`left`) or ends at a place, above or below the line."""
    axes.axhline(height, color=BLACK, linewidth=0.7, linestyle=":")
    axes.text(
        at,
        height,
        text,
        ha="left" if left else "right",
        va="bottom" if above else "top",
        fontsize=8,
    )


def save(figure: Any, path: Path) -> None:
    """Write the figure, in the format that the name ends with."""
    figure.savefig(path, dpi=130)
