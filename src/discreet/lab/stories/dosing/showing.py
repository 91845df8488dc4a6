"""The dosing story, told: a table, a guarantee, and a picture of what is lost and of who gets which dose."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from discreet import pictures
from discreet.arrays import Integers
from discreet.budget.privacy import Privacy
from discreet.lab.stories.dosing.results import DISCREET, DOSES, MAPPED, DosingResult, compute_dosing
from discreet.lab.stories.page import Page, asked, percent, table_of

__all__ = ["draw_dosing", "tell_dosing"]

LINES = {
    "by lot": (pictures.BLACK, ":"),
    "Algorithm 3, as printed": (pictures.SAND, "-"),
    "private LinUCB, as published": (pictures.RED, "-"),
    "private LinUCB, tight noise": (pictures.PURPLE, "-"),
    DISCREET: (pictures.BLUE, "-"),
    "LinUCB": (pictures.BLACK, "--"),
}
"""Colour and style of each line, from the worst to the best."""
TINTS = ("#dbe9f4", pictures.LIGHT_BLUE, pictures.BLUE)
"""Of the doses on the maps: the higher, the darker."""


def tell_dosing(
    patients: int, privacy: Privacy, folder: Path, *, seed: int | None, console: Console
) -> dict[str, Any]:
    """Let everybody choose doses for the same patients; print a table, write demo.png and demo.json."""
    page = Page.opened(folder, "demo", console)
    result = compute_dosing(patients, privacy, seed=seed, bar=page.bar)
    said = [_table(result), _weights(result), str(result.guarantee)]
    return page.show(result.report(), said, draw_dosing(result))


def _table(result: DosingResult) -> Table:
    title = f"{result.patients:,} patients, {len(DOSES)} doses, {asked(result.privacy)}"
    table = table_of(title, "who chooses", "patients helped", "regret", "protection")
    helped = result.helped
    for name, run in sorted(result.runs.items(), key=lambda pair: -pair[1].regret):
        table.add_row(name, f"{helped[name]:,.0f}", percent(run.regret), result.protection(name))
    table.add_row("the best dose for each", f"{result.best:,.0f}", percent(0.0), "-")
    return table


def _weights(result: DosingResult) -> Table:
    """What is public in the end: it names no patient."""
    table = table_of("Released in the end: what a feature adds to the chance of success", "", *DOSES)
    names = dict.fromkeys(name for row in result.weights.values() for name in row)
    for name in names:
        table.add_row(name, *(f"{result.weights[dose].get(name, 0.0):+.2f}" for dose in DOSES))
    return table


def draw_dosing(result: DosingResult) -> Any:
    """Left: regret over patients; middle and right: which dose goes to whom, ours and the best."""
    figure, (left, middle, right) = pictures.panels(3, (15, 4.8))
    _draw_regret(left, result)
    share = percent(result.agreement)
    _draw_map(middle, result.map, f"discreet's doses in the end ({share} as the best)")
    _draw_map(right, result.best_map, "the best doses")
    return figure


def _draw_regret(axes: Any, result: DosingResult) -> None:
    for name, (colour, style) in LINES.items():
        run = result.runs[name]
        width = 2.4 if name == DISCREET else 1.5
        axes.plot(run.rounds, run.curve, color=colour, linestyle=style, linewidth=width, label=name)
    axes.set(
        xlabel="patients",
        ylabel="regret so far (1: doses by lot)",
        title=f"What is lost while the clinic learns (ε = {result.privacy.epsilon:g})",
        ylim=(0, 1.3 * max(float(run.curve.max()) for run in result.runs.values())),  # the legend is above
    )
    pictures.add_legend(axes, ncols=2, loc="upper center")
    pictures.count_people(axes)
    pictures.open_frame(axes)


def _draw_map(axes: Any, doses: Integers, title: str) -> None:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    axes.imshow(
        doses,
        origin="lower",
        extent=(-1, 1, -1, 1),
        cmap=ListedColormap(TINTS),
        vmin=0,
        vmax=len(DOSES) - 1,
        aspect="auto",
        interpolation="nearest",
    )
    across, up = MAPPED
    axes.set(xlabel=f"{across} (all else average)", ylabel=up, title=title)
    axes.set_xticks([-1, 0, 1], ["light", "average", "heavy"])
    axes.set_yticks([-1, 0, 1], ["weak", "average", "strong"])
    keys = [
        Patch(facecolor=tint, edgecolor=pictures.GREY, label=f"{dose} dose")
        for tint, dose in zip(TINTS, DOSES, strict=True)
    ]
    pictures.add_legend(axes, handles=keys, ncols=len(keys), loc="upper center", bbox_to_anchor=(0.5, -0.12))
