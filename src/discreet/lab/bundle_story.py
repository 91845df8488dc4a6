"""The story of `discreet demo --story bundle`: which accessories to bundle at the checkout, and no visitor can be found in it."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from discreet import warm_up
from discreet.lab.bundle import BundleRun, BundleWorld, run_bundle
from discreet.lab.published_costs import cost_as_published
from discreet.learners.set_minimizer import SetMinimizer
from discreet.release.arrays import Floats
from discreet.release.privacy import Privacy

__all__ = ["tell_bundle"]

ITEMS = 20
CONTENDERS: dict[str, dict[str, Any]] = {
    "discreet, cost of the bundle, any stream": {"feedback": "bandit"},
    "discreet, cost of the bundle, i.i.d.": {"feedback": "bandit", "stream": "iid"},
    "discreet, whole costs, any stream": {},
    "no privacy, whole costs": {},
}
SHOWN = "discreet, whole costs, any stream"


def tell_bundle(visitors: int, privacy: Privacy, folder: Path, *, seed: int | None, console: Console) -> dict[str, Any]:
    """Let all contenders meet the same visitors; print a table, write demo.png and demo.json."""
    warm_up()
    began = time.perf_counter()
    world = BundleWorld.drawn(visitors, items=ITEMS, seed=3 if seed is None else seed)
    runs: dict[str, BundleRun] = {}
    points: list[Floats] = []
    guarantee, naive, best = "", world.naive, world.cost_of(world.best)
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task("visitors", total=visitors * len(CONTENDERS))
        for name, settings in CONTENDERS.items():
            asked = privacy if name.startswith("discreet") else Privacy(1e4, privacy.delta or 1e-6)
            function = None if "feedback" in settings else world.function
            learner = SetMinimizer(ITEMS, visitors, asked, function=function, seed=seed, **settings)

            def report(count: int, name: str = name, learner: SetMinimizer = learner) -> None:
                progress.advance(bar, count)
                if name == SHOWN:
                    points.append(learner.point)

            runs[name] = run_bundle(learner, world, report=report)
            if name == SHOWN:
                guarantee = str(learner.guarantee)
    published = cost_as_published(world, epsilon=privacy.epsilon, bandit=False)
    costs = {"published, whole costs (not private)": published} | {name: run.cost for name, run in runs.items()}
    shares = {name: (naive - cost) / (naive - best) if naive > best else 0.0 for name, cost in costs.items()}

    table = Table(title=f"{visitors:,} visitors, {ITEMS} items, epsilon = {privacy.epsilon:g}, delta = {privacy.delta:g}")
    for heading in ("who chooses", "cost", "share of the gain kept"):
        table.add_column(heading, justify="left" if heading == "who chooses" else "right")
    table.add_row("best of nothing, everything, random", f"{naive:,.0f}", "0.0 %")
    for name, cost in costs.items():
        table.add_row(name, f"{cost:,.0f}", f"{shares[name]:.1%}".replace("%", " %"))
    table.add_row(f"best in hindsight ({len(world.best)} items)", f"{best:,.0f}", "100.0 %")
    console.print(table)
    console.print(guarantee, soft_wrap=True)

    folder.mkdir(parents=True, exist_ok=True)
    report_ = {
        "visitors": visitors,
        "epsilon": privacy.epsilon,
        "delta": privacy.delta,
        "naive": naive,
        "hindsight": best,
        "cost": costs,
        "share": shares,
        "bundle": np.flatnonzero(points[-1] > 0.5).tolist(),
        "best_bundle": world.best.tolist(),
        "seconds": time.perf_counter() - began,
        "simulated": seed is not None,
    }
    (folder / "demo.json").write_text(json.dumps(report_, indent=2) + "\n")
    _draw(runs, naive, best, visitors, points, world, folder / "demo.png")
    console.print(f"Wrote {folder / 'demo.png'} and {folder / 'demo.json'} in {report_['seconds']:.0f} s")
    return report_


def _draw(
    runs: dict[str, BundleRun], naive: float, best: float, visitors: int, points: list[Floats], world: BundleWorld, path: Path
) -> None:
    """Left: cost a visitor over time; right: how the bundle forms, item by item."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(13, 4.8), layout="constrained")
    edges = np.linspace(0, visitors, 61)
    for (name, run), colour in zip(runs.items(), ["#e0a458", "#c8553d", "#1b6ca8", "black"], strict=True):
        spent = np.interp(edges, run.visitors, run.spent)
        style = "--" if name.startswith("no privacy") else "-"
        left.plot(edges[1:], np.diff(spent) / np.diff(edges), color=colour, linewidth=1.7, label=name, linestyle=style)
    for height, text, side in ((naive, "nothing, everything or random", "bottom"), (best, "best in hindsight", "top")):
        left.axhline(height / visitors, color="black", linewidth=0.7, linestyle=":")
        left.text(visitors, height / visitors, text, ha="right", va=side, fontsize=8)
    room = 0.15 * (naive - best) / visitors
    left.set(
        xlabel="visitors", ylabel="cost a visitor", title="What bundles cost while the shop learns", ylim=(best / visitors - room, None)
    )
    left.xaxis.set_major_formatter(lambda count, _: f"{count:,.0f}")
    left.legend(frameon=False, fontsize=8, loc="upper right")

    inside = np.isin(np.arange(world.items), world.best)
    order = np.lexsort((-points[-1], ~inside))
    steps = np.linspace(0, len(points) - 1, min(len(points), 300)).astype(int)
    image = np.array(points)[steps][:, order].T
    drawn = right.imshow(image, aspect="auto", cmap="Blues", vmin=0, vmax=1, extent=(0, visitors, world.items - 0.5, -0.5))
    right.axhline(len(world.best) - 0.5, color="#c8553d", linewidth=1.2)
    right.text(visitors * 0.99, len(world.best) - 0.7, "best bundle in hindsight: above this line", ha="right", va="bottom", fontsize=8,
               color="#c8553d", bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1.5})  # fmt: skip
    right.set(xlabel="visitors", ylabel="item", title="How the private bundle forms (whole costs)")
    right.set_yticks(range(world.items), [str(item) for item in order], fontsize=7)
    right.xaxis.set_major_formatter(lambda count, _: f"{count:,.0f}")
    figure.colorbar(drawn, ax=right, label="chance to be in the bundle")
    left.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
