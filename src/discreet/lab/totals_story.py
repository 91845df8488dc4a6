"""The story of `discreet demo --story totals`: a shop publishes its running totals, and no shopper can be found in them."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from discreet import warm_up
from discreet.lab.streams import CATEGORIES, shoppers
from discreet.release.arrays import Floats
from discreet.release.privacy import Privacy, zcdp
from discreet.release.running_sum import RunningSum
from discreet.release.sums import METHODS, Stream, calibrate

__all__ = ["tell_totals"]


def tell_totals(people: int, privacy: Privacy, folder: Path, *, seed: int | None, console: Console) -> dict[str, Any]:
    """Publish private running totals of a made-up month, print a table, and write demo.png and demo.json."""
    warm_up()
    bought = shoppers(people)
    truth = bought.cumsum(axis=0)
    totals = RunningSum(len(CATEGORIES), people, privacy, bound=1.0, norm="inf", nonnegative=True, seed=seed)
    published = np.empty_like(truth)
    began = time.perf_counter()
    for person in track(range(people), description="shoppers", console=console):
        published[person] = totals.add(bought[person])
    seconds = time.perf_counter() - began

    table = Table(title=f"{people:,} shoppers, epsilon = {privacy.epsilon:g}, delta = {privacy.delta:g}")
    for heading in ("category", "true total", "published", "off by"):
        table.add_column(heading, justify="left" if heading == "category" else "right")
    for column, category in enumerate(CATEGORIES):
        true, private = truth[-1, column], published[-1, column]
        table.add_row(category, f"{true:,.0f}", f"{private:,.1f}", f"{abs(private / true - 1):.2%}")
    console.print(table)
    console.print(
        f"{people:,} releases in {seconds:.1f} s; the last totals are off by {totals.standard_deviation:.1f} shoppers, typically."
    )
    console.print(str(totals.guarantee), soft_wrap=True)

    folder.mkdir(parents=True, exist_ok=True)
    report = {
        "people": people,
        "epsilon": privacy.epsilon,
        "delta": privacy.delta,
        "standard_deviation": totals.standard_deviation,
        "seconds": seconds,
        "true": dict(zip(CATEGORIES, truth[-1].tolist(), strict=True)),
        "published": dict(zip(CATEGORIES, published[-1].tolist(), strict=True)),
        "simulated": seed is not None,
    }
    (folder / "demo.json").write_text(json.dumps(report, indent=2) + "\n")
    _draw(truth, published, privacy, folder / "demo.png")
    console.print(f"Wrote {folder / 'demo.png'} and {folder / 'demo.json'}")
    return report


def _draw(truth: Floats, published: Floats, privacy: Privacy, path: Path) -> None:
    """Left: truth and publication; right: what the choice of mechanism is worth."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
    shown = np.unique(np.linspace(0, len(truth) - 1, 800).astype(int))
    colours = ["#1b6ca8", "#c8553d", "#588157", "#8e6c8a"]
    for column, (category, colour) in enumerate(zip(CATEGORIES, colours, strict=True)):
        left.plot(shown + 1, truth[shown, column], color="black", linewidth=0.9, linestyle=":", zorder=3)
        left.plot(shown + 1, published[shown, column], color=colour, linewidth=1.8, label=category)
    left.plot([], [], color="black", linewidth=0.8, linestyle=":", label="truth")
    left.set(xlabel="shoppers so far", ylabel="shoppers who bought", title="Published after every shopper")
    left.legend(frameon=False)

    budget = privacy.budget if not privacy.pure else zcdp(0.024356)
    horizons = np.unique(np.geomspace(1, 10**7, 60).astype(int))
    styles = {"tree": ("#999999", "binary tree"), "honaker": ("#c8553d", "Honaker's tree"), "toeplitz": ("#1b6ca8", "Toeplitz, 8 buffers")}
    for method in METHODS:
        sums = [calibrate(method, budget, Stream(int(horizon), 1, 2, nonnegative=True)) for horizon in horizons]
        deviation = [each.variance(int(horizon)) ** 0.5 / each.levels for each, horizon in zip(sums, horizons, strict=True)]
        right.plot(horizons, deviation, color=styles[method][0], label=styles[method][1], linewidth=1.8)
    right.plot(
        horizons, np.sqrt(horizons / (2 * budget.amount)), color="black", linestyle="--", linewidth=0.8, label="fresh noise every time"
    )
    right.set(xscale="log", yscale="log", xlabel="releases", ylabel="noise in the last total (people)", title="What the mechanism is worth")
    right.set_ylim(1, 2000)
    right.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
