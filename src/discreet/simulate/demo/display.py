"""`discreet demo`: a shop with five slots and a hundred items learns what to show.

No visitor can be identified from what it shows. All contenders meet the same visitors.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from discreet import pictures, warm_up
from discreet.arrays import Floats
from discreet.budget.privacy import Privacy
from discreet.learners.set_maximizer import SetMaximizer
from discreet.progress import Bar, bars_on
from discreet.simulate.demo.page import percent, show, stated, table_of
from discreet.simulate.problems.display import Display, Run, run_display
from discreet.tasks import repeat

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


ITEMS, SLOTS = 100, 5
PLAIN = "whole preferences, no privacy"


class Seen(NamedTuple):
    """What the shop sees of a visitor: the learner's feedback, and the look of its line."""

    feedback: Literal["bandit", "clicks", "full"]
    colour: str
    style: str = "-"


SEEN = {
    "rewards only": Seen("bandit", pictures.RED),
    "clicks": Seen("clicks", pictures.PURPLE),
    "whole preferences": Seen("full", pictures.BLUE),
    PLAIN: Seen("full", pictures.BLACK, "--"),
}
NO_PRIVACY = 1e4
"""An epsilon at which noise is negligible."""
EPSILONS = (0.1, 0.3, 1.0, 3.0)
CURVES = ("whole preferences", "clicks")
WORLDS = (1, 2, 3)
"""Seeds of the worlds whose spread the bands of the picture show."""
MOST_VISITORS = 100_000
"""Largest number of visitors of each of these worlds."""


@dataclass(frozen=True)
class DisplayResult:
    """Value of all contenders with the same visitors, and shares in other worlds against ε."""

    visitors: int
    privacy: Privacy
    random: float
    """Value of random slates."""
    hindsight: float
    """Value of the best fixed slate in hindsight."""
    runs: dict[str, Run]
    curves: dict[str, Floats]
    """Shares by ε (rows) and world (columns), for each curve."""

    @property
    def shares(self) -> dict[str, float]:
        """Each contender's share of the gain of the best slate over random ones."""
        gain = self.hindsight - self.random
        return {name: (run.value - self.random) / gain for name, run in self.runs.items()}


def tell_display(
    visitors: int, privacy: Privacy, folder: Path, *, seed: int | None, console: Console
) -> dict[str, object]:
    """Let all contenders meet the same visitors; print a table, write demo.png and demo.json."""
    pictures.require_matplotlib()
    budgets = dict.fromkeys(SEEN, privacy) | {PLAIN: Privacy(NO_PRIVACY, privacy.delta)}
    problems = {name: _problem(name, visitors, budget) for name, budget in budgets.items()}
    learners = {name: problem.learner(seed=seed) for name, problem in problems.items()}
    warm_up(*learners.values())
    began = time.perf_counter()
    result = _simulate(problems[PLAIN], privacy, learners, seed or 0, bars_on(console))
    numbers = _numbers(result) | {
        "seconds": time.perf_counter() - began,
        "simulated": seed is not None,
    }
    parts = [_table(result), str(learners["clicks"].guarantee)]
    return show(console, folder, parts, _picture(result), numbers)


def _simulate(
    problem: Display, privacy: Privacy, learners: dict[str, SetMaximizer], seed: int, bar: Bar
) -> DisplayResult:
    """Run all learners on the visitors of a problem, and measure shares against ε."""
    visitors = problem.rounds
    world = problem.people(seed)
    with bar("visitors", visitors * len(learners)) as report:
        runs = {
            name: run_display(learner, world, report=report) for name, learner in learners.items()
        }
    hindsight = world.worth(world.best_slate(SLOTS))
    curves = _curves(min(visitors, MOST_VISITORS), privacy.delta, bar)
    return DisplayResult(visitors, privacy, world.random_worth(SLOTS), hindsight, runs, curves)


def _numbers(result: DisplayResult) -> dict[str, object]:
    """The numbers of demo.json."""
    return {
        "visitors": result.visitors,
        "epsilon": result.privacy.epsilon,
        "delta": result.privacy.delta,
        "random": result.random,
        "hindsight": result.hindsight,
        "share": result.shares,
        "clicks": {name: run.value for name, run in result.runs.items()},
        "share_against_epsilon": {
            name: dict(zip(EPSILONS, shares.mean(axis=1).tolist(), strict=True))
            for name, shares in result.curves.items()
        },
    }


def _problem(name: str, visitors: int, privacy: Privacy) -> Display:
    return Display(visitors, privacy, ITEMS, SLOTS, SEEN[name].feedback, "iid")


def _curves(visitors: int, delta: float, bar: Bar) -> dict[str, Floats]:
    """Return the shares of each curve, by ε (rows) and world (columns)."""
    tasks = [
        (name, visitors, epsilon, delta, seed)
        for name in CURVES
        for epsilon in EPSILONS
        for seed in WORLDS
    ]
    shares = repeat(share_at, tasks, label="share against epsilon", bar=bar)
    return dict(zip(CURVES, np.reshape(shares, (-1, len(EPSILONS), len(WORLDS))), strict=True))


def share_at(name: str, visitors: int, epsilon: float, delta: float, seed: int) -> float:
    """Return the share of one contender in the world of a seed."""
    problem = _problem(name, visitors, Privacy(epsilon, delta))
    people = problem.people(seed)
    return problem.share_of(problem.outcome(problem.learner(), people), people)


def _table(result: DisplayResult) -> Table:
    title = f"{result.visitors:,} visitors, {ITEMS} items, {SLOTS} slots, {stated(result.privacy)}"
    table = table_of(title, "what the shop sees", "clicks", "share of value")
    table.add_row("nothing: random slates", f"{result.random:,.0f}", percent(0.0))
    for name, share in result.shares.items():
        table.add_row(name, f"{result.runs[name].value:,.0f}", percent(share))
    table.add_row("best fixed slate, in hindsight", f"{result.hindsight:,.0f}", percent(1.0))
    return table


def _picture(result: DisplayResult) -> "Figure":
    """Draw the value per visitor over time (left) and the share of value against ε (right)."""
    figure, (left, right) = pictures.panels(2, (13, 4.8))
    _draw_value(left, result)
    _draw_shares(right, result)
    pictures.count_people(left)
    for axes in (left, right):
        pictures.add_legend(axes, loc="lower right", title="what the shop sees")
        pictures.open_frame(axes)
    return figure


def _draw_value(axes: "Axes", result: DisplayResult) -> None:
    """Draw each contender's clicks per visitor over time."""
    edges = np.append(0, np.geomspace(min(100, result.visitors), result.visitors, 50))
    for name, run in result.runs.items():
        look = SEEN[name]
        earned = np.diff(np.interp(edges, run.visitors, run.earned)) / np.diff(edges)
        axes.plot(edges[1:], earned, look.style, color=look.colour, linewidth=1.8, label=name)
    highest = result.hindsight / result.visitors
    pictures.mark_level(axes, result.random / result.visitors, "random\nslates")
    pictures.mark_level(axes, highest, "best in\nhindsight")
    axes.set(
        xscale="log",
        xlabel="visitors so far (log scale)",
        ylabel="clicks per visitor",
        title=f"What the shop earns while it learns (ε = {result.privacy.epsilon:g})",
        ylim=(0, highest * 1.1),
    )


def _draw_shares(axes: "Axes", result: DisplayResult) -> None:
    """Draw shares of value against ε, with bands of one standard deviation over worlds."""
    for name, shares in result.curves.items():
        colour = SEEN[name].colour
        middle = shares.mean(axis=1)
        spread = shares.std(axis=1)
        low = middle - spread
        high = middle + spread
        axes.plot(EPSILONS, middle, color=colour, marker="o", linewidth=1.8, label=name)
        axes.fill_between(EPSILONS, low, high, color=colour, alpha=0.15, linewidth=0)
    visitors = min(result.visitors, MOST_VISITORS)
    axes.set(
        xscale="log",
        ylim=(0, 1.02),
        xlabel="epsilon",
        ylabel="share of the value",
        title=f"What privacy costs ({visitors:,} visitors, {len(WORLDS)} worlds)",
    )
    axes.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
    axes.minorticks_off()
