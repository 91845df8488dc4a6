"""The earned value of a run per release: entries of report.json, and their picture, earned.png.

Both are made from released values only, anew at the end of every run: after a kill the same command
makes the same files again.
"""

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from discreet import pictures
from discreet.engine.readings import Report
from discreet.learners.log_adapter import LogAdapter
from discreet.runs.files import replaced

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
    axes.set_xlim(0, edges[-1])
    axes.set_ylim(*report.shown_range)
    axes.set_xlabel("visitors")
    axes.set_ylabel(report.what)
    axes.set_title(
        f"What was earned: {report.what}, block by block", loc="left", fontsize=12, pad=34
    )
    axes.text(
        0.0,
        1.03,
        "\n".join(wrap(f"{meaning}; band: ± 2 standard deviations", 110)),
        transform=axes.transAxes,
        fontsize=8,
        color="#555555",
        va="bottom",
    )
    pictures.mark_level(axes, float(value[-1]), f"{value[-1]:.4g}\n± {band[-1]:.2g}")
    pictures.count_people(axes)
    pictures.open_frame(axes)
    axes.grid(axis="y", color=pictures.GREY, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    return figure
