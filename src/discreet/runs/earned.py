"""The earned value of a run per release: entries of report.json, and their picture, earned.png.

Both are made from released values only, anew at the end of every run: after a kill the same command
makes the same files again.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet import pictures
from discreet.budget.guarantee import SIMULATED
from discreet.engine.readings import Report
from discreet.learners.log_adapter import LogAdapter
from discreet.runs.files import replaced
from discreet.texts import number_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURE = "earned.png"


def as_entries(report: Report) -> dict[str, list[float]]:
    """Return the entries of a report as plain data."""
    return {
        "visitors": report.rounds.tolist(),
        "value": report.value.tolist(),
        "standard_deviation": report.standard_deviation.tolist(),
    }


def write_picture(report: Report, adapter: LogAdapter, folder: Path) -> None:
    """Draw the curve of a report into the folder of a run."""
    with replaced(folder / PICTURE) as draft:
        pictures.save(draw_earned(report, adapter.meaning), draft)


def draw_earned(report: Report, meaning: str) -> "Figure":
    """Draw one stair per block, in a band of two standard deviations."""
    figure, (axes,) = pictures.panels(1, (8.4, 4.2))
    edges = np.concatenate([[0], report.rounds])
    value = report.value
    band = 2 * report.standard_deviation
    axes.stairs(
        value + band,
        edges,
        baseline=value - band,
        fill=True,
        color=pictures.LIGHT_BLUE,
        alpha=0.35,
        lw=0,
    )
    axes.stairs(value, edges, baseline=None, color=pictures.BLUE, linewidth=1.8)
    axes.set_ylim(*report.shown_range)
    axes.set_ylabel(report.what)
    # A logarithmic axis has no 0, where the first block begins.
    pictures.follow_people(axes, edges[1] / 2, edges[-1], "visitors")
    warning = f"{SIMULATED}; " if report.simulated else ""
    note = f"{warning}{meaning}; band: ± 2 standard deviations"
    pictures.state_point(axes, _point(report), note)
    pictures.mark_level(axes, float(value[-1]), "newest\nblock")
    pictures.open_frame(axes)
    axes.grid(axis="y", color=pictures.GREY, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    return figure


def _point(report: Report) -> str:
    """Return what was earned in the newest block, and before anything was learned."""
    band = 2 * report.standard_deviation
    first, newest = (
        number_text(float(report.value[block]), float(band[block])) for block in (0, -1)
    )
    if len(report.value) == 1:
        return f"The {report.what} is {first} at first"
    return f"The {report.what} is {newest}, and was {first} at first"
