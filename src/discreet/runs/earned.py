"""What a run earned, release by release: the entries in report.json, and a picture of them,
earned.png.

Both are made from released values only, as a whole, whenever a run ends: after a kill the same
command makes the same again.
"""

from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from discreet import pictures
from discreet.engine.readings import Report
from discreet.learners.log_adapter import LogAdapter
from discreet.runs.files import replaced

PICTURE = "earned.png"
UNSURE = 5.0
"""Entries so many times as noisy as the median one do not set the scale of the picture."""


def as_entries(report: Report) -> dict[str, Any]:
    """The entries as plain data."""
    return {
        "visitors": report.rounds.tolist(),
        "value": report.value.tolist(),
        "standard_deviation": report.standard_deviation.tolist(),
    }


def newest(report: Report) -> dict[str, Any] | None:
    """The newest entry as plain data; None before the first release."""
    if not len(report.rounds):
        return None
    return {name: entries[-1] for name, entries in as_entries(report).items()}


def write_picture(report: Report, adapter: LogAdapter, folder: Path) -> None:
    """Draw the curve into the folder of a run."""
    with replaced(folder / PICTURE) as draft:
        pictures.save(draw_earned(report, adapter.meaning), draft)


def draw_earned(report: Report, meaning: str) -> Any:
    """Each block as a stair as long as its visitors are many, in a band of two standard
    deviations.
    """
    figure, (axes,) = pictures.panels(1, (8.4, 4.2))
    edges = np.concatenate([[0], report.rounds])
    value, band = report.value, 2 * report.standard_deviation
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
    axes.set_ylim(*_scale(report))
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


def _scale(report: Report) -> tuple[float, float]:
    """From the lowest to the highest band of the entries that are not too noisy to be seen."""
    deviation = report.standard_deviation
    seen = deviation <= UNSURE * float(np.median(deviation))
    low = float((report.value - 2 * deviation)[seen].min())
    high = float((report.value + 2 * deviation)[seen].max())
    margin = 0.08 * (high - low)
    return low - margin, high + margin
