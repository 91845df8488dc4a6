"""The story of `discreet demo`: a shop with five slots and a hundred items learns what to show, and no visitor can be found in it."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from discreet import warm_up
from discreet.lab.display import Run, World, run_display
from discreet.lab.repeat import repeat
from discreet.learners.set_maximizer import SetMaximizer
from discreet.release.conversion import epsilon_of
from discreet.release.guarantee import Guarantee
from discreet.release.privacy import Privacy

__all__ = ["tell_display"]

ITEMS, SLOTS = 100, 5
EPSILONS = (0.1, 0.3, 1.0, 3.0)
WORLDS = (1, 2, 3)
"""Seeds of the worlds over which the bands of the picture go."""
CURVES: dict[str, dict[str, Any]] = {
    "whole preferences, any stream": {},
    "whole preferences, i.i.d.": {"stream": "iid"},
    "clicks, i.i.d.": {"feedback": "clicks", "stream": "iid"},
}


@dataclass(frozen=True)
class Contender:
    """One row of the table."""

    name: str
    settings: dict[str, Any]
    private: bool = True


CONTENDERS = (
    Contender("published constants", {"calibration": "published"}),
    Contender("discreet, rewards only, any stream", {"feedback": "bandit"}),
    Contender("discreet, rewards only, i.i.d.", {"feedback": "bandit", "stream": "iid"}),
    Contender("discreet, clicks, i.i.d.", {"feedback": "clicks", "stream": "iid"}),
    Contender("discreet, whole preferences, any stream", {}),
    Contender("discreet, whole preferences, i.i.d.", {"stream": "iid"}),
    Contender("no privacy, whole preferences, i.i.d.", {"stream": "iid"}, private=False),
)


def tell_display(visitors: int, privacy: Privacy, folder: Path, *, seed: int | None, console: Console) -> dict[str, Any]:
    """Let all contenders meet the same visitors; print a table, write demo.png and demo.json."""
    warm_up()
    began = time.perf_counter()
    world = World.drawn(visitors, items=ITEMS, seed=0 if seed is None else seed)
    low, high = world.random_worth(SLOTS), world.worth(world.best_slate(SLOTS))
    runs: dict[str, Run] = {}
    guarantees: dict[str, Guarantee] = {}
    spending: dict[str, float] = {}
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task("visitors", total=visitors * len(CONTENDERS))
        for contender in CONTENDERS:
            learner = _learner(contender, visitors, privacy, seed)
            runs[contender.name] = run_display(learner, world, report=lambda count: progress.advance(bar, count))
            guarantees[contender.name] = learner.guarantee
            spending[contender.name] = learner.guarantee.epsilon_spent
            if "calibration" in contender.settings:  # what a draw for every visitor, as printed, would have spent
                spending[contender.name] = epsilon_of(learner._plan.charge(0).rho * visitors, privacy.delta)
    shares = {name: (run.value - low) / (high - low) for name, run in runs.items()}

    title = f"{visitors:,} visitors, {ITEMS} items, {SLOTS} slots, epsilon = {privacy.epsilon:g}, delta = {privacy.delta:g}"
    table = Table(title=title)
    for heading in ("who chooses", "clicks", "share kept", "epsilon spent"):
        table.add_column(heading, justify="left" if heading == "who chooses" else "right")
    table.add_row("random slates", f"{low:,.0f}", "0.0 %", "0")
    for contender in CONTENDERS:
        name = contender.name
        spent = f"{spending[name]:.2f}" if contender.private else "-"
        table.add_row(name, f"{runs[name].value:,.0f}", f"{shares[name]:.1%}".replace("%", " %"), spent)
    table.add_row("best fixed slate, in hindsight", f"{high:,.0f}", "100.0 %", "-")
    console.print(table)
    console.print(str(guarantees["discreet, clicks, i.i.d."]), soft_wrap=True)

    few = min(visitors, 100_000)
    tasks = [(few, epsilon, privacy.delta, settings, world) for settings in CURVES.values() for epsilon in EPSILONS for world in WORLDS]
    shape = (len(CURVES), len(EPSILONS), len(WORLDS))
    kept = np.reshape(repeat(share_at, tasks, label="share against epsilon", console=console), shape)

    folder.mkdir(parents=True, exist_ok=True)
    report = {
        "visitors": visitors,
        "epsilon": privacy.epsilon,
        "delta": privacy.delta,
        "random": low,
        "hindsight": high,
        "share": shares,
        "clicks": {name: run.value for name, run in runs.items()},
        "share_against_epsilon": {
            name: dict(zip(map(str, EPSILONS), row.mean(axis=1).tolist(), strict=True)) for name, row in zip(CURVES, kept, strict=True)
        },
        "seconds": time.perf_counter() - began,
        "simulated": seed is not None,
    }
    (folder / "demo.json").write_text(json.dumps(report, indent=2) + "\n")
    _draw(runs, low, high, visitors, kept, few, folder / "demo.png")
    console.print(f"Wrote {folder / 'demo.png'} and {folder / 'demo.json'} in {report['seconds']:.0f} s")
    return report


def share_at(visitors: int, epsilon: float, delta: float, settings: dict[str, Any], seed: int) -> float:
    """The share kept in a world of its own."""
    world = World.drawn(visitors, items=ITEMS, seed=seed)
    return world.share(run_display(SetMaximizer(ITEMS, SLOTS, visitors, Privacy(epsilon, delta), **settings), world).value, SLOTS)


def _learner(contender: Contender, visitors: int, privacy: Privacy, seed: int | None) -> SetMaximizer:
    settings = dict(contender.settings)
    if settings.get("calibration") == "published":
        settings["block"] = max(1, visitors // 1000)  # drawing as often as printed changes nothing but the time it takes
    asked = privacy if contender.private else Privacy(1e4, privacy.delta or 1e-6)
    return SetMaximizer(ITEMS, SLOTS, visitors, asked, seed=seed, **settings)


def _draw(runs: dict[str, Run], low: float, high: float, visitors: int, kept: Any, few: int, path: Path) -> None:
    """Left: value a visitor over time; right: share kept against ε."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(13, 4.8), layout="constrained")
    colours = dict(zip(runs, ["#999999", "#e0a458", "#c8553d", "#8e6c8a", "#588157", "#1b6ca8", "black"], strict=True))
    edges = np.linspace(0, visitors, 101)
    for name, run in runs.items():
        earned = np.interp(edges, run.visitors, run.earned)
        style = "--" if name.startswith("no privacy") else "-"
        left.plot(edges[1:], np.diff(earned) / np.diff(edges), color=colours[name], linewidth=1.7, label=name, linestyle=style)
    left.axhline(high / visitors, color="black", linewidth=0.7, linestyle=":")
    left.axhline(low / visitors, color="black", linewidth=0.7, linestyle=":")
    left.text(0, low / visitors, "random slates", ha="left", va="top", fontsize=8)
    left.text(visitors, high / visitors, "best in hindsight", ha="right", va="bottom", fontsize=8)
    left.set(xlabel="visitors", ylabel="clicks a visitor", title="What the shop earns while it learns", ylim=(0, high / visitors * 1.1))
    left.xaxis.set_major_formatter(lambda count, _: f"{count:,.0f}")
    left.legend(frameon=False, fontsize=8, loc="lower right")
    for row, (name, colour) in zip(kept, zip(CURVES, ["#588157", "#1b6ca8", "#8e6c8a"], strict=True), strict=True):
        middle, spread = row.mean(axis=1), row.std(axis=1)
        right.plot(EPSILONS, middle, color=colour, marker="o", linewidth=1.7, label=name)
        right.fill_between(EPSILONS, middle - spread, middle + spread, color=colour, alpha=0.15, linewidth=0)
    right.set(
        xscale="log",
        ylim=(0, 1.02),
        xlabel="epsilon",
        ylabel="share of the value kept",
        title=f"What privacy costs ({few:,} visitors, {len(WORLDS)} worlds)",
    )
    right.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
    right.minorticks_off()
    right.legend(frameon=False, fontsize=8)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
